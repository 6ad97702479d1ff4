package lineui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// hostile are the pieces that untrusted texts are made of.
var hostile = []string{
	"\x1b[2J", "\x1b]0;title\x07", "\x1b]52;c;cm0=\x1b\\", "\x1b]8;;https://evil.test/\x07click\x1b]8;;\x07", "\x1bP1$r\x1b\\", "\x9b31m", "\u009b31m", "\u009d0;x\u009c",
	"\r", "\b\b\b", "\x7f", "\x00", "\u202e", "\u2066", "\U000e0041", "\u2028", "\xff\xfe", "\x1b", "\x1b[", "\n", "\t", "日本語", "👩‍💻", "a", " ", ". ", "! ",
	"\n1: allow once\n", "\nask: Edit this file?\n", "\r> ", "\nnumber: ", "\ntool: bash done\n", strings.Repeat("x", 77) + "ask: allow this tool call?", "\\ ",
}

func untrusted(r *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(hostile), 0, 12).Draw(r, label), "")
}

// ours is how a line at the margin begins: by a word of pawl, or the mark of a line
// that goes on.
var ours = regexp.MustCompile(`^(pawl|thinking|you|read|tool|subagent|mission|todo|ask|done|canceled|next|note|warning|stopped|failed|conversation|from|files|file|session|output|question \d+ of \d+|\d+): |^\d+:$|^(\\ |  |> |number)|^$|^(It enables:|The configuration of this project )`)

// wrong says what in the lines could act on a terminal, hide, or pass for what pawl says.
func wrong(text string) string {
	if !utf8.ValidString(text) {
		return "bytes that are not UTF-8"
	}
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r >= 0xe0000 && r < 0xf0000 {
			return fmt.Sprintf("the character %U", r)
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if !ours.MatchString(line) {
			return fmt.Sprintf("the line %q at the margin", line)
		}
	}
	return ""
}

// forged are lines that only pawl says, and in this test it says none of them.
func forged(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if line == "1: allow once" || line == "ask: Edit this file?" || line == "tool: bash done" || strings.HasPrefix(line, "> ") {
			return line
		}
	}
	return ""
}

// untrustedEvents returns events whose free text is all untrusted.
func untrustedEvents(r *rapid.T) []pawl.Body {
	s := func(label string) string { return untrusted(r, label) }
	return []pawl.Body{
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: s("prompt")}}},
		pawl.TurnStarted{Prompt: 1},
		pawl.ReplyStarted{Step: 1, Model: s("model")},
		pawl.Delta{Reply: 3, Channel: pawl.ChannelReasoning, Text: s("thought")},
		pawl.Delta{Reply: 3, Channel: pawl.ChannelText, Text: s("delta")},
		pawl.Retried{Retry: pawl.Retry{Message: s("retry"), Model: s("model")}},
		pawl.Delta{Reply: 3, Channel: pawl.ChannelText, Text: s("delta")},
		pawl.Status{State: "notice", Message: s("notice")},
		pawl.Replied{Parts: pawl.Parts{pawl.Reasoning{Text: s("thought")}, pawl.Text{Text: s("text")}, pawl.ToolCall{ID: "b", Name: s("tool")}}},
		pawl.CallStarted{Call: "a", Tool: s("tool"), Access: []pawl.Access{{Target: s("target")}, {Target: s("target")}}},
		pawl.Spawned{Call: "a", Subagent: "c", Agent: s("agent"), Title: s("title")},
		pawl.TodosSet{Todos: []pawl.Todo{{Content: s("todo"), Status: pawl.TodoInProgress}}},
		pawl.CallFinished{Call: "a", Status: pawl.CallDone, Result: pawl.Result{Content: s("content"), IsError: true, Meta: map[string]string{"exit_code": s("code")}}},
		pawl.CallFinished{Call: "b", Status: pawl.CallRefused, Result: pawl.Result{Content: s("content")}},
		pawl.MissionStarted{Order: pawl.MissionOrder{Goal: s("goal")}},
		pawl.TaskReturned{Task: s("task"), Why: pawl.ReturnReason(s("why")), Text: s("text")},
		pawl.GateResult{Faults: []pawl.GateFault{{Rule: s("rule"), Item: s("item"), Text: s("text")}}},
		pawl.Blocked{Reason: s("reason")},
		pawl.ModeChanged{Mode: s("mode")},
		pawl.Injected{Source: s("source"), Text: s("text")},
		pawl.Compacted{Keep: 1, Message: s("message")},
		pawl.Undone{Changed: []string{"x"}, Aside: map[string]string{s("path"): s("kept")}, Left: []string{s("left")}},
		pawl.Undone{Refused: s("refused")},
		pawl.TurnFinished{Reason: pawl.ReasonError, Message: s("message")},
		pawl.Status{State: "interrupted", Message: s("message")},
	}
}

// Whatever a model, a tool, a provider or a file's name says: nothing steers the
// terminal, nothing hides, and no line of theirs stands where pawl's own do.
func TestNothingIsForged(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var out bytes.Buffer
		u := newUI(Config{Out: &out})
		u.reasoning = true
		for i, body := range untrustedEvents(r) {
			u.renderer.Apply(pawl.Event{Seq: pawl.Seq(i + 1), At: time.Unix(int64(i), 0), Body: body})
			if rapid.Bool().Draw(r, "typed") { // the person has pressed Enter in between
				out.WriteByte('\n')
				u.out.lineEntered()
			}
		}
		if err := u.printOutput(t.Context(), "2"); err != nil {
			r.Fatal(err)
		}
		u.out.printError(errors.New("x" + untrusted(r, "error")))
		if why := wrong(out.String()) + forged(out.String()); why != "" {
			r.Fatalf("%s in\n%s", why, out.String())
		}
	})
}

// The same of what a person is asked; of that nothing is left out either.
func TestAsksAreWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := func(label string) string { return untrusted(r, label) }
		var out bytes.Buffer
		columns := rapid.IntRange(0, 200).Draw(r, "columns")
		u := newUI(Config{Out: &out, Columns: func() int { return columns }})
		text := "x" + s("text")
		for _, ask := range []pawl.Ask{
			{Kind: pawl.AskPermission, Text: text, Offer: []json.RawMessage{json.RawMessage(`{}`)}},
			{Kind: pawl.AskLoop, Text: text},
			{Kind: pawl.AskPlan, Text: text, Questions: []pawl.Question{{Header: s("header"), Question: s("question"), Options: []pawl.Option{{Label: s("label"), Description: s("description")}}}}},
		} {
			out.Reset()
			u.presentAsk(pendingAsk{asker: sanitizeLine(s("who")), ask: ask})
			if why := wrong(out.String()); why != "" {
				r.Fatalf("%s in\n%s", why, out.String())
			}
			shown := strings.ReplaceAll(strings.ReplaceAll(out.String(), "\n"+continuation, ""), "\n"+indent, "\n")
			for _, part := range strings.Split(strings.TrimRight(sanitize.Marked(text), "\n"), "\n") {
				if !strings.Contains(shown, part) {
					r.Fatalf("%q is not all of\n%s", part, out.String())
				}
			}
			if n := strings.Count(out.String(), "\nask: ") + strings.Count(out.String(), "\n1: allow once\n"); n > 1 {
				r.Fatalf("it seems to be asked more than once:\n%s", out.String())
			}
		}
		u.present(u.trust(pawl.Project{Dir: s("dir"), Trust: pawl.TrustInfo{Parts: []string{s("part"), s("part")}}}, ""))
		u.printPlan(pawl.UndoPlan{Prompt: pawl.Parts{pawl.Text{Text: s("prompt")}}, Diff: s("diff"), Files: []pawl.FileChange{{Path: s("path"), Kind: "modify", Conflict: s("conflict")}}})
		if why := wrong(out.String()); why != "" {
			r.Fatalf("%s in\n%s", why, out.String())
		}
	})
}

// What a person is asked never fills a line of the terminal, so that it is the one
// who says where lines begin.
func TestBroken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var out bytes.Buffer
		columns := rapid.IntRange(minColumns, 120).Draw(r, "columns")
		v := &printer{w: &out, columns: func() int { return columns }}
		v.full(strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "日本", "word ", "\n", "é", strings.Repeat("x", 90)})).Draw(r, "text"), ""))
		for line := range strings.SplitSeq(out.String(), "\n") {
			if wide := ansi.StringWidth(line); wide >= columns {
				r.Fatalf("%d columns of %d: %q", wide, columns, line)
			}
		}
	})
}
