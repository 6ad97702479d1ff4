package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// Show prints the conversation of a session, without what was undone.
func Show(ctx context.Context, w io.Writer, svc pawl.Service, s pawl.Session) error {
	t := transcript.New()
	for e, err := range cli.SessionLog(ctx, svc, s) {
		if err != nil {
			return err
		}
		t.Apply(e)
	}
	if s.TurnOpen {
		draft, err := svc.Draft(ctx, s.ID)
		if err != nil && !errors.Is(err, pawl.ErrNotFound) {
			return err
		}
		t.Join(draft)
	}
	fmt.Fprintf(w, "session %s  %s  %s  %s\n", s.ID, s.State(), humanize.Plural(s.Turns, "turn"), sanitize.Line(s.Dir))
	if name := s.Name(); name != "" {
		fmt.Fprintf(w, "%s\n", humanize.FirstLine(name, 100))
	}
	v := printer{w: w}
	for _, it := range t.Items() {
		v.item(it)
	}
	if s.TurnOpen {
		fmt.Fprintf(w, "\n-- turn %d is not finished; if it was interrupted, run `pawl resume %s`\n", s.Turns, s.ID)
	}
	return nil
}

// printer prints the items of a session. It does not print todo lists and permission requests: the result of a call
// says whether it was denied.
type printer struct {
	w    io.Writer
	turn int // of the last item
}

func (v *printer) item(it transcript.Item) {
	if it.Turn > v.turn {
		v.turn = it.Turn
		fmt.Fprintf(v.w, "\n-- turn %d\n", v.turn)
	}
	switch it.Kind {
	case transcript.KindUser:
		v.prompt(it)
	case transcript.KindText:
		v.block("pawl"+unfinished(it), it.Text)
	case transcript.KindReasoning:
		v.block("pawl (reasoning)", it.Text)
	case transcript.KindCall:
		v.call(it)
	case transcript.KindAsk:
		v.answer(it.Ask.Answer)
	case transcript.KindSubagent:
		v.line("subagent %s: %s: %s", it.Subagent.Subagent, it.Subagent.Agent, it.Text)
	case transcript.KindNote:
		v.line("%s", it.Text)
		v.text(it.More)
	case transcript.KindMission:
		v.line("%s", it.Text)
		v.indented(it.More)
	case transcript.KindTurnEnd:
		u := it.End.Usage
		fmt.Fprintf(v.w, "\n-- turn %d: %s (%s, %s in, %s out)\n", it.Turn, humanize.FirstLine(it.Text, 300),
			humanize.Plural(it.End.Steps, "step"), humanize.Plural(u.Input, "token"), humanize.Number(u.Output))
	case transcript.KindTodos:
	}
}

func unfinished(it transcript.Item) string {
	if it.State == transcript.StateStreaming {
		return " (unfinished)"
	}
	return ""
}

func (v *printer) prompt(it transcript.Item) {
	who := "you"
	if it.State == transcript.StateWaiting {
		who = "you (waiting)"
	}
	v.block(who, it.Text)
	for _, f := range it.Files {
		fmt.Fprintf(v.w, "  [%s, %s, %s]\n", sanitize.Line(f.Name), sanitize.Line(f.MediaType), humanize.Bytes(len(f.Data)))
	}
}

// answer prints the user's answer. If nobody answered it prints nothing, because the result of the call says so.
func (v *printer) answer(a *pawl.Answer) {
	if a == nil || a.Outcome != pawl.OutcomeAnswered {
		return
	}
	var lines []string
	for _, chosen := range a.Answers {
		lines = append(lines, strings.Join(chosen, "; "))
	}
	if a.Text != "" {
		lines = append(lines, a.Text)
	}
	v.block("you", strings.Join(lines, "\n"))
}

// call prints a tool call, or a command that the user ran, with its result.
func (v *printer) call(it transcript.Item) {
	what := sanitize.Line(it.Call.Tool) + " " + humanize.FirstLine(string(it.Call.Input), 100)
	if it.Call.User {
		what = "you ran: " + humanize.FirstLine(strings.Join(it.Call.Targets, " "), 200)
	}
	mark := string(it.Call.Status)
	switch {
	case mark == "":
		mark = string(it.State)
	case it.State == transcript.StateDone:
		mark = "ok"
	case it.Call.Status == pawl.CallDone:
		mark = "failed"
	}
	fmt.Fprintf(v.w, "\n%s [%s]\n", what, mark)
	v.indented(it.Call.Result.Content)
}

// maxLines is how many lines of a result are printed.
const maxLines = 12

// indented prints the first lines of a text, indented.
func (v *printer) indented(text string) {
	lines := strings.SplitAfter(strings.TrimRight(text, "\n"), "\n")
	if left := len(lines) - maxLines; left > 0 {
		v.text(strings.Join(lines[:maxLines], ""))
		fmt.Fprintf(v.w, "  … %s\n", humanize.Plural(left, "more line"))
		return
	}
	v.text(text)
}

// text prints a text, indented.
func (v *printer) text(text string) {
	for line := range strings.Lines(strings.TrimRight(sanitized(text), "\n")) {
		fmt.Fprintf(v.w, "  %s\n", strings.TrimRight(line, "\n"))
	}
}

func (v *printer) block(who, text string) {
	fmt.Fprintf(v.w, "\n%s\n", who)
	v.text(text)
}

// line prints a line about something that happened.
func (v *printer) line(format string, arguments ...any) {
	fmt.Fprintf(v.w, "\n-- %s\n", humanize.FirstLine(fmt.Sprintf(format, arguments...), 300))
}

// sanitized escapes control characters. It must be called before lines are indented: a carriage return could otherwise
// start a line at the margin that looks like Pawl's own output.
func sanitized(s string) string {
	return sanitize.Text(s)
}
