package status

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/uitest"
)

var begun = time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)

// service implements the part of pawl.Service that lists models.
type service struct {
	pawl.Service
	asked int
	head  pawl.Seq
	err   error
}

func (d *service) Models(context.Context) ([]pawl.ModelInfo, error) {
	d.asked++
	return []pawl.ModelInfo{{Ref: "anthropic/claude-x", Context: 200_000}}, d.err
}

func newLine(t testing.TB, themeName string, svc pawl.Service) *Line {
	l := New(uitest.Shared(t, svc, themeName))
	l.now = func() time.Time { return begun.Add(83 * time.Second) }
	return l
}

// applyEvents applies events to a line, numbered from its last one on.
func applyEvents(l *Line, bodies ...pawl.Body) {
	for _, b := range bodies {
		l.Apply(pawl.Event{Seq: l.head + 1, At: begun, Body: b})
	}
}

// know tells a line the models.
func know(t *testing.T, l *Line) {
	t.Helper()
	if _, taken := l.Update(l.Know("anthropic/claude-x")()); !taken {
		t.Fatal("the models are not taken")
	}
}

func busy() Now {
	return Now{
		Settings: pawl.Settings{Model: "anthropic/claude-x", Agent: "reviewer", Mode: "guard"}, Next: "guard",
		Folder: pawl.Project{Dir: "/home/me/src/project", Branch: "topic", Sandbox: "bubblewrap", Mode: "ask"},
		Reply:  pawl.Usage{Input: 20_000, CacheRead: 60_000, Output: 2000}, Queued: 2,
	}
}

// TestWidths: what matters most is there at every width, and it is one line.
func TestWidths(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		now  func(*Line) Now
	}{
		{"works", func(l *Line) Now {
			applyEvents(l, pawl.TurnStarted{}, pawl.Replied{Usage: pawl.Usage{Input: 20, CacheRead: 60, Cost: pawl.MoneyOf(1.5)}})
			n := busy()
			n.Tasks = 1
			return n
		}},
		{"mission", func(l *Line) Now {
			applyEvents(l, pawl.TurnStarted{})
			n := busy()
			n.Mission, n.Settings.Agent = "mission 3/6", "commander"
			return n
		}},
		{"idle", func(l *Line) Now {
			l.Open(pawl.Session{Usage: pawl.Usage{Input: 20, CacheRead: 60, Cost: pawl.MoneyOf(0.02)}}, nil)
			n := busy()
			n.Queued, n.Settings.Agent = 0, ""
			return n
		}},
		{"full", func(*Line) Now {
			n := busy()
			n.Reply.Input, n.Away = 120_000, true
			return n
		}},
		{"yolo", func(*Line) Now {
			n := busy()
			n.Settings.Mode, n.Next = "yolo", "ask"
			return n
		}},
		{"unboxed", func(*Line) Now {
			n := busy()
			n.Folder.Sandbox, n.Settings.Mode = "none", ""
			return n
		}},
		{"bare", func(*Line) Now { return Now{} }},
		{"stranger", func(*Line) Now {
			return Now{Settings: pawl.Settings{Model: "x/\x1b[2Jy", Agent: "a\nb", Mode: "\x07"}, Folder: pawl.Project{Dir: "/a\x1b]0;z", Branch: "b\u202ec", Sandbox: "x"}}
		}},
	}
	for _, test := range tests {
		var all strings.Builder
		for _, width := range []int{20, 40, 60, 80, 120} {
			l := newLine(t, "plain", &service{})
			know(t, l)
			line := ansi.Strip(l.View(width, test.now(l)))
			if n := ansi.StringWidth(line); n > width || strings.Contains(line, "\n") {
				t.Errorf("%s at %d: %d cells: %q", test.name, width, n, line)
			}
			fmt.Fprintf(&all, "%d\n%s\n", width, line)
		}
		uitest.Golden(t, test.name, strings.TrimRight(all.String(), "\n"), 120)
	}
}

// TestColors: what is to be noticed is in the color of a warning.
func TestColors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*Now)
		warn   string // "" means that nothing is
	}{
		{"nothing", func(*Now) {}, ""},
		{"just below", func(n *Now) { n.Reply.Input = 97_999 }, ""},
		{"full", func(n *Now) { n.Reply.Input = 98_000 }, "80% of 200k"},
		{"yolo", func(n *Now) { n.Settings.Mode = "yolo"; n.Next = "yolo" }, "yolo"},
		{"no sandbox in yolo", func(n *Now) { n.Settings.Mode = "yolo" }, "no sandbox"},
		{"no sandbox", func(n *Now) { n.Folder.Sandbox = "none" }, "no sandbox"},
		{"scrolled away", func(n *Now) { n.Away = true }, "↓ more"},
	} {
		l := newLine(t, "dark", &service{})
		know(t, l)
		n := busy()
		c.change(&n)
		line := l.View(200, n)
		warn := l.shared.Styles.Warn
		switch {
		case c.warn == "" && strings.Contains(line, strings.Split(warn.Render("x"), "x")[0]):
			t.Errorf("%s: something is a warning: %q", c.name, line)
		case c.warn != "" && !strings.Contains(line, warn.Render(c.warn)):
			t.Errorf("%s: %q is no warning: %q", c.name, c.warn, line)
		}
	}
}

// TestClock: nothing ticks unless something works, and nothing ticks twice.
func TestClock(t *testing.T) {
	t.Parallel()
	l := newLine(t, "plain", nil)
	if l.Clock() != nil {
		t.Error("it ticks before there is work")
	}
	applyEvents(l, pawl.TurnStarted{})
	if l.Clock() == nil || l.Clock() != nil {
		t.Error("it does not tick once")
	}
	before := l.View(80, Now{})
	if cmd, taken := l.Update(tickMsg{l}); cmd == nil || !taken || l.View(80, Now{}) == before {
		t.Error("it does not turn")
	}
	if cmd, _ := l.Update(tickMsg{New(l.shared)}); cmd != nil {
		t.Error("it takes the tick of another")
	}
	for _, end := range []pawl.Body{pawl.TurnFinished{}, pawl.Status{State: "interrupted"}} {
		applyEvents(l, pawl.TurnStarted{}, end)
		if cmd, _ := l.Update(tickMsg{l}); cmd != nil {
			t.Errorf("it ticks after %T", end)
		}
	}
	applyEvents(l, pawl.TurnStarted{}, pawl.Status{State: "notice"})
	if l.Clock() == nil {
		t.Error("a notice ends the work")
	}
}

// TestCost: what the row has is not counted again, and each event once.
func TestCost(t *testing.T) {
	t.Parallel()
	reply := func(seq pawl.Seq) pawl.Event {
		return pawl.Event{Seq: seq, At: begun, Body: pawl.Replied{Usage: pawl.Usage{Cost: pawl.MoneyOf(1)}}}
	}
	l := newLine(t, "plain", nil)
	l.Open(pawl.Session{Head: 5, Usage: pawl.Usage{Cost: pawl.MoneyOf(3)}}, []pawl.Event{reply(4), reply(5)})
	l.Apply(reply(6))
	l.Apply(reply(6))
	l.Apply(pawl.Event{Seq: 7, At: begun, Body: pawl.Compacted{ModelUsage: pawl.ModelUsage{Usage: pawl.Usage{Cost: pawl.MoneyOf(0.5)}}}})
	if diff := cmp.Diff(pawl.MoneyOf(4.5), l.session.Usage.Cost); diff != "" {
		t.Error(diff)
	}
	l.Open(pawl.Session{}, nil)
	if l.session.Usage.Cost != 0 || l.working {
		t.Error("something of the last session is left")
	}
}

// TestTasks: the tasks in the background are counted.
func TestTasks(t *testing.T) {
	t.Parallel()
	l := newLine(t, "plain", nil)
	for n, want := range []string{"", "1 subagent ", "2 subagents "} {
		if got := l.View(80, Now{Tasks: n}); !strings.Contains(got, want) || want == "" && strings.Contains(got, "subagent") {
			t.Errorf("%d: %q", n, got)
		}
	}
}

// TestKnow: the models are asked for once, and not for nothing.
func TestKnow(t *testing.T) {
	t.Parallel()
	d := &service{err: pawl.ErrUnavailable}
	l := newLine(t, "plain", d)
	if l.Know("") != nil {
		t.Error("no model is looked for")
	}
	if msg := l.Know("anthropic/claude-x")(); msg != nil || l.Know("anthropic/claude-x") != nil {
		t.Error("without a desk it is asked again and again")
	}
	d.err = nil
	l.Update(l.Know("another/one")())
	if l.Know("anthropic/claude-x") != nil || d.asked != 2 {
		t.Errorf("asked %d times", d.asked)
	}
}

var styles = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// TestOneLine: whatever there is to say, it is one line that fits, without control.
func TestOneLine(t *testing.T) {
	t.Parallel()
	shared := uitest.Shared(t, nil, "dark")
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return string(rapid.SliceOf(rapid.Byte()).Draw(t, name)) }
		l := New(shared)
		if rapid.Bool().Draw(t, "works") {
			applyEvents(l, pawl.TurnStarted{})
		}
		n := Now{
			Settings: pawl.Settings{Model: text("model"), Agent: text("agent"), Mode: text("mode")}, Next: text("next"),
			Folder: pawl.Project{Dir: text("dir"), Branch: text("branch"), Sandbox: text("sandbox"), Mode: text("usual")},
			Reply:  pawl.Usage{Input: rapid.Int64Range(0, 1<<40).Draw(t, "input")}, Away: rapid.Bool().Draw(t, "away"), Queued: rapid.IntRange(0, 99).Draw(t, "queued"),
		}
		width := rapid.IntRange(0, 150).Draw(t, "width")
		got := styles.ReplaceAllString(l.View(width, n), "")
		if ansi.StringWidth(got) > width || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
			t.Fatalf("%d: %q", width, got)
		}
	})
}

func BenchmarkView(b *testing.B) {
	l := newLine(b, "dark", nil)
	applyEvents(l, pawl.TurnStarted{})
	n := busy()
	for b.Loop() {
		l.View(80, n)
	}
}

// Get returns a row whose usage includes that of a subagent.
func (d *service) Get(_ context.Context, id pawl.SessionID) (pawl.Session, error) {
	return pawl.Session{ID: id, Head: d.head, Usage: pawl.Usage{Cost: 5e9}}, d.err
}

// TestUsageOfSubagents: the cost includes what subagents use, and each reply once.
func TestUsageOfSubagents(t *testing.T) {
	t.Parallel()
	d := &service{head: 12}
	l := newLine(t, "dark", d)
	l.Open(pawl.Session{ID: "a", Head: 10, Usage: pawl.Usage{Cost: 1e9}}, nil)
	costs := func(want pawl.Money) {
		t.Helper()
		if got := l.session.Usage.Cost; got != want {
			t.Errorf("it shows %d, want %d", got, want)
		}
	}
	replied := pawl.Replied{Usage: pawl.Usage{Cost: 1e9}}
	read := l.Refresh()()
	applyEvents(l, replied)
	costs(2e9)
	l.Update(read)
	costs(5e9)
	l.Apply(pawl.Event{Seq: 12, Body: replied}) // the row includes it
	costs(5e9)
	applyEvents(l, replied)
	costs(6e9)
	l.Update(read) // it is older than the line
	costs(6e9)
	l.Open(pawl.Session{ID: "b"}, nil)
	l.Update(read) // of another session
	costs(0)
}
