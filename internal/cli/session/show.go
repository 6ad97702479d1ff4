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
)

// Show prints the conversation of a session.
func Show(ctx context.Context, w io.Writer, svc pawl.Service, s pawl.Session) error {
	fmt.Fprintf(w, "session %s  %s  %s  %s\n", s.ID, s.State(), humanize.Plural(s.Turns, "turn"), sanitize.Line(s.Dir))
	if name := s.Name(); name != "" {
		fmt.Fprintf(w, "%s\n", humanize.FirstLine(name, 100))
	}
	v := printer{w: w, calls: map[pawl.CallID]pawl.ToolCall{}, prompts: map[pawl.Seq]pawl.Parts{}, orders: map[pawl.Seq]pawl.Undo{}, shells: map[pawl.Seq]string{}}
	for e, err := range cli.SessionLog(ctx, svc, s) {
		if err != nil {
			return err
		}
		v.event(e)
	}
	if s.TurnOpen {
		draft, err := svc.Draft(ctx, s.ID)
		switch {
		case err == nil && draft.Reply == v.reply:
			v.block("pawl (unfinished)", draft.Text)
		case err != nil && !errors.Is(err, pawl.ErrNotFound):
			return err
		}
		fmt.Fprintf(w, "\n-- turn %d is not finished; if it was interrupted, run `pawl resume %s`\n", s.Turns, s.ID)
	}
	return nil
}

// printer prints the events of a session.
type printer struct {
	w       io.Writer
	calls   map[pawl.CallID]pawl.ToolCall
	prompts map[pawl.Seq]pawl.Parts
	orders  map[pawl.Seq]pawl.Undo
	shells  map[pawl.Seq]string // commands that the user ran
	reply   pawl.Seq            // the reply in progress; 0 if there is no such reply
}

// undone prints the result of an undo or redo.
func (v *printer) undone(b pawl.Undone) {
	order := v.orders[b.Asked]
	what := map[pawl.Scope]string{pawl.ScopeBoth: "files and conversation", pawl.ScopeFiles: "files", pawl.ScopeConversation: "conversation"}[order.Scope]
	switch {
	case b.Refused != "":
		fmt.Fprintf(v.w, "\n-- not undone: %s\n", humanize.FirstLine(b.Refused, 300))
	case order.Redo != 0:
		fmt.Fprintf(v.w, "\n-- redone: %s\n", what)
	default:
		fmt.Fprintf(v.w, "\n-- undone: %s, back to before event %d\n", what, order.To)
	}
}

func (v *printer) event(e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.Prompted:
		v.prompts[e.Seq] = b.Parts
	case pawl.Reworded:
		v.prompts[b.Prompt] = b.Parts
	case pawl.Withdrawn:
		delete(v.prompts, b.Prompt)
	case pawl.TurnStarted:
		fmt.Fprintf(v.w, "\n-- turn %d\n", e.Turn)
		v.prompt(b.Prompt)
	case pawl.Injected:
		if b.Prompt != 0 {
			v.prompt(b.Prompt)
		} else {
			v.block("system", b.Text)
		}
	case pawl.ReplyStarted:
		v.reply = e.Seq
	case pawl.Replied:
		v.reply = 0
		v.replied(b)
	case pawl.CallFinished:
		v.result(b)
	case pawl.TurnFinished:
		fmt.Fprintf(v.w, "\n-- turn %d: %s, %s, %s in, %s out", e.Turn, cli.ReasonText(b.Reason), humanize.Plural(b.Steps, "step"), humanize.Plural(b.Usage.Input, "token"), humanize.Number(b.Usage.Output))
		if b.Message != "" {
			fmt.Fprintf(v.w, ": %s", b.Message)
		}
		fmt.Fprintln(v.w)
	case pawl.Answered:
		v.answered(b)
	case pawl.Compacted:
		if b.Message != "" {
			fmt.Fprintf(v.w, "\n-- compaction: %s\n", humanize.FirstLine(b.Message, 300))
		}
		if b.Keep != 0 {
			fmt.Fprintf(v.w, "\n-- compacted about %s to %s\n", humanize.Plural(b.Before, "token"), humanize.Number(b.After))
			v.block("summary", b.Text)
		}
	case pawl.UndoAsked:
		v.orders[e.Seq] = b.Undo
	case pawl.Undone:
		v.undone(b)
	case pawl.ShellAsked:
		v.shells[e.Seq] = b.Command
	case pawl.ShellRan:
		v.finished("you ran: "+humanize.FirstLine(v.shells[b.Asked], 200), b.Status, b.Result)
	case pawl.SessionShared:
		fmt.Fprintf(v.w, "\n-- %s\n", sanitize.Line(sharedText(b)))
	case pawl.MissionStarted, pawl.Planned, pawl.CriteriaSet, pawl.Delegated, pawl.TaskStarted, pawl.TaskMerged, pawl.TaskReturned, pawl.CheckRan,
		pawl.ReviewStarted, pawl.Reviewed, pawl.GateResult, pawl.Sealed, pawl.Blocked:
		v.mission(b)
	case pawl.SessionSummarized, pawl.CompactionAsked, pawl.SessionCreated, pawl.SessionTitled, pawl.CallStarted, pawl.ShellStarted, pawl.Retried, pawl.Asked, pawl.TodosSet, pawl.ModeChanged, pawl.Spawned,
		pawl.Delta, pawl.Progress, pawl.Status: // not shown
	}
}

// mission prints an event of a mission with its evidence.
func (v *printer) mission(b pawl.Body) {
	line, _ := humanize.Mission(b)
	fmt.Fprintf(v.w, "\n-- %s\n", line)
	v.indented(humanize.MissionDetail(b))
}

// sharedText describes with whom a session is shared.
func sharedText(b pawl.SessionShared) string {
	if len(b.With) == 0 {
		return "no longer shared"
	}
	var names []string
	for _, u := range b.With {
		names = append(names, string(u))
	}
	return "shared with " + strings.Join(names, ", ")
}

func (v *printer) prompt(seq pawl.Seq) {
	parts := v.prompts[seq]
	delete(v.prompts, seq)
	v.block("you", parts.Text())
	for _, p := range parts {
		if f, ok := p.(pawl.File); ok {
			fmt.Fprintf(v.w, "  [%s, %s, %s]\n", sanitize.Line(f.Name), sanitize.Line(f.MediaType), humanize.Bytes(len(f.Data)))
		}
	}
}

func (v *printer) replied(b pawl.Replied) {
	for _, p := range b.Parts {
		switch p := p.(type) {
		case pawl.Text:
			v.block("pawl", p.Text)
		case pawl.Reasoning:
			v.block("pawl (reasoning)", p.Text)
		case pawl.ToolCall:
			v.calls[p.ID] = p
		case pawl.ToolResult, pawl.File, pawl.Patch:
		}
	}
}

// answered prints the user's answer. If nobody answered it prints nothing, because the result of the call says so.
func (v *printer) answered(b pawl.Answered) {
	if b.Outcome != pawl.OutcomeAnswered {
		return
	}
	var lines []string
	for _, chosen := range b.Answers {
		lines = append(lines, strings.Join(chosen, "; "))
	}
	if b.Text != "" {
		lines = append(lines, b.Text)
	}
	v.block("you", strings.Join(lines, "\n"))
}

// maxLines is how many lines of a result are printed.
const maxLines = 12

func (v *printer) result(b pawl.CallFinished) {
	call := v.calls[b.Call]
	delete(v.calls, b.Call)
	v.finished(sanitize.Line(call.Name)+" "+humanize.FirstLine(string(call.Input), 100), b.Status, b.Result)
}

// finished prints the result of a tool call, or of a command that the user ran.
func (v *printer) finished(what string, status pawl.CallStatus, r pawl.Result) {
	mark := "ok"
	if status != pawl.CallDone {
		mark = string(status)
	} else if r.IsError {
		mark = "failed"
	}
	fmt.Fprintf(v.w, "\n%s [%s]\n", what, mark)
	v.indented(r.Content)
}

// indented prints the first lines of a text, indented.
func (v *printer) indented(text string) {
	if text == "" {
		return
	}
	lines := strings.Split(strings.TrimRight(sanitized(text), "\n"), "\n")
	for i, line := range lines {
		if i == maxLines {
			fmt.Fprintf(v.w, "  … %s\n", humanize.Plural(len(lines)-i, "more line"))
			break
		}
		fmt.Fprintf(v.w, "  %s\n", line)
	}
}

func (v *printer) block(who, text string) {
	fmt.Fprintf(v.w, "\n%s\n", who)
	for line := range strings.Lines(strings.TrimRight(sanitized(text), "\n")) {
		fmt.Fprintf(v.w, "  %s\n", strings.TrimRight(line, "\n"))
	}
}

// sanitized escapes control characters. It must be called before lines are indented: a carriage return could otherwise
// start a line at the margin that looks like Pawl's own output.
func sanitized(s string) string {
	return sanitize.Text(s)
}
