package dialog

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/frontend/tui/uitest"
)

func shared(t testing.TB, th string, svc pawl.Service) *ui.Shared {
	t.Helper()
	return uitest.Shared(t, svc, th)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	got += "\n"
	uitest.Same(t, path, got)
}

// begun is when everything in these tests was asked.
var begun = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// at is an ask's dialog at a time that the test sets.
func at(t testing.TB, s *ui.Shared, a Asking, waiting int) (Asker, *time.Time) {
	t.Helper()
	now := begun
	a.At = begun
	d := New(s, a, func() int { return waiting })
	var b *base
	switch d := d.(type) {
	case *permission:
		b = d.base
	case *form:
		b = d.base
	case *confirm:
		b = d.base
	}
	b.now = func() time.Time { return now }
	b.Shown()
	return d, &now
}

func lockOf(d ui.Dialog) *Lock {
	switch d := d.(type) {
	case *permission:
		return d.lock
	case *form:
		return d.lock
	case *confirm:
		return d.lock
	case *Trust:
		return d.lock
	case *Failure:
		return d.lock
	case *Sure:
		return d.lock
	default:
		return nil
	}
}

// settle shows a dialog for as long as it takes until keys count.
func settle(d ui.Dialog) {
	d.View(80, 24)
	l := lockOf(d)
	for range settleSteps {
		d.Update(settledMsg{l, l.round})
	}
}

// key is a key press by its name.
func key(name string) tea.KeyPressMsg {
	special := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"space": tea.KeySpace, "end": tea.KeyEnd, "pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace,
	}
	if code, ok := special[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

// press gives a dialog keys; what is behind a colon is typed letter by letter. The
// screen is drawn after each, as the program does.
func press(d ui.Dialog, names ...string) (ui.Dialog, tea.Cmd) {
	var last tea.Cmd
	for _, name := range names {
		typed, isText := strings.CutPrefix(name, ":")
		presses := []tea.KeyPressMsg{key(name)}
		if isText {
			presses = nil
			for _, r := range typed {
				presses = append(presses, tea.KeyPressMsg{Code: r, Text: string(r)})
			}
		}
		for _, k := range presses {
			next, cmd := d.Update(k)
			if cmd != nil {
				last = cmd
			}
			if next == nil {
				return nil, last
			}
			d = next
			d.View(80, 24)
		}
	}
	return d, last
}

const command = `Run this command?
  | go test ./... 2>&1 | tail -5
Parts
  | go test ./... 2>&1
  | tail -5
Reason
  Ask mode confirms every change and command.
Always allow adds
  {"tool":"bash","pattern":"go test ./...","decision":"allow"}
  {"tool":"bash","pattern":"tail -5","decision":"allow"}
`

const deletes = `Run this command?
  | go test ./... && rm -rf build
Parts
  | go test ./...
  | rm -rf build
    Deletes files.
    Not fully analyzed: a doubt.
Reason
  Ask mode confirms every change and command.
`

func rules(texts ...string) (list []json.RawMessage) {
	for _, t := range texts {
		list = append(list, json.RawMessage(t))
	}
	return list
}

var testRule, tailRule = `{"tool":"bash","pattern":"go test ./...","decision":"allow"}`, `{"tool":"bash","pattern":"tail -5","decision":"allow"}`

func permissionAsk(text string, offer ...string) Asking {
	return Asking{Session: "s", Seq: 7, Ask: pawl.Ask{Kind: pawl.AskPermission, Text: text, Offer: rules(offer...)}}
}

// change is a permission with a diff of so many lines.
func change(lines int) Asking {
	var b strings.Builder
	b.WriteString("Edit this file?\nWrites\n  | /p/a.txt\nReason\n  Ask mode confirms every change and command.\nChange\n  | --- a/a.txt\n  | +++ b/a.txt\n  | @@ -1,2 +1,30 @@\n  | -old\n")
	for i := range lines {
		fmt.Fprintf(&b, "  | +line %d\n", i+1)
	}
	b.WriteString("  ! Contains invisible characters; the first is \\u{202e}.\nAlways allow\n  Not available for this call.\n")
	return permissionAsk(b.String())
}

var twoQuestions = Asking{Session: "s", Seq: 7, Ask: pawl.Ask{Kind: pawl.AskQuestion, Timeout: 5 * time.Minute, Questions: []pawl.Question{
	{Header: "Database", Question: "Which database shall it be?", Options: []pawl.Option{
		{Label: "SQLite", Description: "one file, nothing to run"}, {Label: "PostgreSQL", Description: "for several machines, and what else a long description may say of it so that it has to be broken"}}},
	{Header: "Extras", Question: "What else is wanted?", Multiple: true, Options: []pawl.Option{{Label: "Metrics"}, {Label: "Tracing"}}},
}}}

var planned = Asking{Session: "s", Seq: 7, Ask: pawl.Ask{Kind: pawl.AskPlan, Text: "# The plan\n\n" + strings.Repeat("- a step of the plan that is to be done, with all that it takes\n", 30),
	Questions: []pawl.Question{{Header: "Plan", Question: "Begin with this plan?", Options: []pawl.Option{
		{Label: "Begin", Description: "asks only when a command leaves the sandbox"}, {Label: "Begin, and ask", Description: "asks before each change and command"}, {Label: "Keep planning"}}}}}}

var loopAsk = Asking{Session: "s", Seq: 7, Ask: pawl.Ask{Kind: pawl.AskLoop, Text: "The same call was made 8 times, and its result was the same each time:\n  bash {\"command\":\"make\"}"}}

var folder = pawl.Project{Dir: "/home/me/project", Trust: pawl.TrustInfo{State: "unknown", Hash: "h1", Parts: []string{
	"hook PreToolUse: ./hooks/check.sh", "MCP server tickets: npx tickets-mcp", "agent reviewer", "instructions AGENTS.md"}}}

// TestScreens shows each dialog in a small and in a large terminal.
func TestScreens(t *testing.T) {
	t.Parallel()
	subagentFeed := permissionAsk(command, testRule, tailRule)
	subagentFeed.Who = `Subagent "Run the tests" (general)`
	subagentFeed.Ask.Timeout = time.Minute
	risky := permissionAsk(deletes, `{"tool":"bash","pattern":"go test *","decision":"allow"}`, `{"tool":"bash","pattern":"rm -rf build","decision":"allow"}`)
	risky.Ask.Title, risky.Ask.Risk, risky.Ask.Command, risky.Ask.Reason = "Run command", "high", "go test ./... && rm -rf build", "Deletes files. Ask mode confirms every change and command."
	applied := change(4)
	applied.Ask.Ran, applied.Ask.Title, applied.Ask.Risk, applied.Ask.Command, applied.Ask.Reason = true, "Apply changes of command", "medium", "make generate", "1 file changed: 4 lines added, 1 removed"
	for _, c := range []struct {
		name    string
		asking  Asking
		waiting int
		keys    []string
	}{
		{"permission", permissionAsk(command, testRule, tailRule), 1, nil},
		{"permission_child", subagentFeed, 3, nil},
		{"permission_long", change(40), 1, nil},
		{"permission_unread", change(40), 1, []string{"1"}},
		{"permission_edit", permissionAsk(command, testRule, tailRule), 1, []string{"e"}},
		{"permission_no_rule", permissionAsk(command, testRule, tailRule), 1, append(append([]string{"e"}, strings.Split(strings.Repeat("backspace ", 20)+"backspace", " ")...), "enter")},
		{"permission_word", permissionAsk(command, testRule, tailRule), 1, []string{"4", ":use make"}},
		{"permission_details", permissionAsk(command, testRule, tailRule), 1, []string{"d"}},
		{"permission_risk", risky, 1, nil},
		{"permission_applied", applied, 1, nil},
		{"questions", twoQuestions, 1, nil},
		{"questions_several", twoQuestions, 1, []string{"2", "2", "3", ":a logo", "enter"}},
		{"questions_all", twoQuestions, 1, []string{"2", "2", "enter"}},
		{"plan", planned, 1, nil},
		{"plan_word", planned, 1, []string{"w", ":but no tests", "enter", "down"}},
		{"loop", loopAsk, 1, nil},
	} {
		for _, size := range [][2]int{{80, 24}, {120, 40}} {
			t.Run(fmt.Sprintf("%s_%d", c.name, size[0]), func(t *testing.T) {
				d, now := at(t, shared(t, "dark", nil), c.asking, c.waiting)
				d.View(size[0], size[1])
				settle(d)
				press(d, c.keys...)
				*now = now.Add(10 * time.Second)
				got := d.View(size[0], size[1])
				fits(t, got, size)
				golden(t, t.Name()[len("TestScreens/"):], ansi.Strip(got))
			})
		}
	}
}

// fits checks that all lines of a dialog have the same width, and that the dialog fits the screen.
func fits(t *testing.T, view string, size [2]int) {
	t.Helper()
	lines := strings.Split(view, "\n")
	if len(lines) > size[1] {
		t.Errorf("%d lines on a screen of %d", len(lines), size[1])
	}
	for _, line := range lines {
		if w := ansi.StringWidth(line); w > size[0] || w != ansi.StringWidth(lines[0]) {
			t.Errorf("a line of %d cells in a box of %d: %q", w, ansi.StringWidth(lines[0]), ansi.Strip(line))
		}
	}
}

func TestOtherScreens(t *testing.T) {
	t.Parallel()
	changed := folder
	changed.Trust.State = "changed"
	long := errors.New("read the configuration: line 3: unknown key \"mode\"\ndid you mean \"model\"?\n\nsee docs/guide/configuration.md")
	s := shared(t, "plain", nil)
	for name, d := range map[string]ui.Dialog{
		"trust": NewTrust(s, folder), "trust_changed": NewTrust(s, changed),
		"failure": NewFailure(s, fmt.Errorf("%w: %w", long, pawl.ErrInvalid)),
	} {
		for _, size := range [][2]int{{80, 24}, {120, 40}} {
			got := d.View(size[0], size[1])
			fits(t, got, size)
			golden(t, fmt.Sprintf("%s_%d", name, size[0]), ansi.Strip(got))
		}
	}
}

// TestColors shows a change as each theme colors it.
func TestColors(t *testing.T) {
	t.Parallel()
	for _, th := range theme.Builtin {
		d, _ := at(t, shared(t, th.Name, nil), change(2), 1)
		settle(d)
		golden(t, "colors_"+th.Name, strings.ReplaceAll(d.View(80, 24), "\x1b", "␛"))
	}
}

// TestClock shows the time that is left, and ticks only if there is an end.
func TestClock(t *testing.T) {
	t.Parallel()
	d, now := at(t, shared(t, "dark", nil), twoQuestions, 1)
	for _, c := range []struct {
		after time.Duration
		want  string
	}{{0, "5 minutes left"}, {4 * time.Minute, "60 seconds left"}, {5*time.Minute - time.Second, "1 second left"}, {time.Hour, "─ 2 questions ─"}} {
		*now = begun.Add(c.after)
		head, _, _ := strings.Cut(ansi.Strip(d.View(80, 24)), "\n")
		if !strings.Contains(head, c.want) {
			t.Errorf("after %v: %s does not say %q", c.after, head, c.want)
		}
	}
	for name, c := range map[string]struct {
		asking Asking
		ticks  bool
	}{"with an end": {twoQuestions, true}, "without": {loopAsk, false}} {
		d, _ := at(t, shared(t, "dark", nil), c.asking, 1)
		if _, cmd := d.Update(clockMsg{d.ID()}); (cmd != nil) != c.ticks {
			t.Errorf("%s: it ticks: %v", name, cmd != nil)
		}
	}
}
