package sessions

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/frontend/tui/uitest"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
)

// today is when these tests look at the list.
var today = time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)

func idOf(n int) pawl.SessionID { return pawl.SessionID(fmt.Sprintf("%026d", n)) }

// env is a dialog over a real service.
type env struct {
	*Dialog
	t *testing.T
	h servicetest.Harness
}

func newEnv(t *testing.T) *env {
	t.Helper()
	h := servicetest.Local(t)
	d := NewDialog(uitest.Shared(t, h.Service, "plain"), "")
	d.shared.Dir = "/work/here"
	d.now = func() time.Time { return today }
	return &env{d, t, h}
}

// keep keeps a session that was used so long ago.
func (w *env) keep(n int, dir, prompt string, ago time.Duration, more ...pawl.Body) {
	w.t.Helper()
	bodies := append([]pawl.Body{
		pawl.SessionCreated{Dir: dir},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: prompt}}, Settings: pawl.Settings{Model: "a/model"}},
	}, more...)
	var events []pawl.Event
	for i, b := range bodies {
		events = append(events, pawl.Event{Session: idOf(n), Seq: pawl.Seq(i + 1), At: today.Add(-ago), Body: b})
	}
	if _, err := w.h.Store.Append(w.t.Context(), idOf(n), 0, events...); err != nil {
		w.t.Fatal(err)
	}
}

func said(text string, cost float64) []pawl.Body {
	return []pawl.Body{
		pawl.TurnStarted{Prompt: 2}, pawl.ReplyStarted{Step: 1, Model: "a/model"},
		pawl.Replied{Step: 1, Model: "a/model", Parts: pawl.Parts{pawl.Text{Text: text}}, Finish: pawl.FinishEndTurn, Usage: pawl.Usage{Input: 10, Cost: pawl.MoneyOf(cost)}},
		pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: 1},
	}
}

// four keeps sessions of all states.
func (w *env) four() {
	w.keep(1, "/work/here", "fix the parser", time.Minute, said("The parser is *fixed*.", 0.25)...)
	w.keep(2, "/work/here", "write the documentation of everything there is in this program and more", 3*time.Hour, pawl.TurnStarted{Prompt: 2})
	w.keep(3, "/work/here", "delete it all\x1b]0;owned\x07", 50*time.Hour, pawl.TurnStarted{Prompt: 2}, pawl.Asked{Ask: pawl.Ask{Kind: pawl.AskLoop, Text: "go on?"}})
	w.keep(4, "/work/there", "look elsewhere", 24*time.Hour, said("There.", 0)...)
}

// begin opens the list as the program does: it is drawn before the answers come.
func (w *env) begin(width int) *env {
	w.View(width, 24)
	uitest.Run(w.Dialog, w.Shown())
	return w
}

func (w *env) ids() []pawl.SessionID {
	var ids []pawl.SessionID
	for _, s := range w.rows {
		ids = append(ids, s.ID)
	}
	return ids
}

func TestView(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for _, c := range []struct {
		name          string
		width, height int
		keys          []string
	}{
		{"here-80", 80, 24, nil},
		{"here-120", 120, 40, nil},
		{"here-40", 40, 14, nil},
		{"here-24", 24, 12, nil},
		{"all-80", 80, 24, []string{"tab"}},
		{"search-80", 80, 24, []string{"p", "a", "r"}},
		{"nothing-80", 80, 24, []string{"z", "z"}},
		{"rename-80", 80, 24, []string{"ctrl+r", " ", "w", "e", "l", "l"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newEnv(t)
			w.four()
			w.shown = idOf(2)
			d, _ := uitest.Press(w.begin(c.width).Dialog, c.keys...)
			view := ansi.Strip(d.View(c.width, c.height))
			uitest.Golden(t, c.name, view, c.width)
			if n := strings.Count(view, "\n") + 1; n > c.height {
				t.Errorf("it has %d lines of %d", n, c.height)
			}
		})
	}
	t.Run("empty", func(t *testing.T) {
		uitest.Golden(t, "empty-80", ansi.Strip(newEnv(t).begin(80).View(80, 24)), 80)
	})
}

// TestKeys: what the keys order.
func TestKeys(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for _, c := range []struct {
		name string
		keys []string
		want []tea.Msg
		open bool
	}{
		{"open the first", []string{"enter"}, []tea.Msg{Open{idOf(1)}}, false},
		{"open another", []string{"down", "enter"}, []tea.Msg{Open{idOf(2)}}, false},
		{"open what was found", []string{"d", "o", "c", "u", "enter"}, []tea.Msg{Open{idOf(2)}}, false},
		{"of another folder", []string{"tab", "e", "l", "s", "enter"}, []tea.Msg{Open{idOf(4)}}, false},
		{"not of another folder", []string{"e", "l", "s", "enter"}, nil, true},
		{"a new one", []string{"ctrl+n"}, []tea.Msg{New{}}, false},
		{"closed", []string{"esc"}, nil, false},
		{"a title that is left", []string{"ctrl+r", "x", "esc"}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newEnv(t)
			w.four()
			d, sent := uitest.Press(w.begin(80).Dialog, c.keys...)
			sent = slices.DeleteFunc(sent, func(m tea.Msg) bool {
				switch m.(type) {
				case Open, New:
					return false
				}
				return true
			})
			if diff := cmp.Diff(c.want, sent, cmp.Transformer("nil", func(m []tea.Msg) []tea.Msg { return append([]tea.Msg{}, m...) })); diff != "" {
				t.Error(diff)
			}
			if (d != nil) != c.open {
				t.Errorf("open: %v", d != nil)
			}
		})
	}
}

// TestAll: what is searched for is found in sessions that are not listed, and more
// are listed as the bar gets there.
func TestAll(t *testing.T) { //nolint:paralleltest // it sets environment variables
	const many = pageRows + 20
	w := newEnv(t)
	for i := range many {
		w.keep(i+1, "/work/here", fmt.Sprintf("work no%d", i), time.Duration(i)*time.Minute)
	}
	w.begin(80)
	if len(w.rows) != pageRows || w.cursor == "" {
		t.Fatalf("%d rows at first", len(w.rows))
	}
	d, _ := uitest.Press(w.Dialog, "end", "end")
	if len(w.rows) != many || w.cursor != "" {
		t.Errorf("%d rows in the end, more: %v", len(w.rows), w.cursor != "")
	}
	if last := w.rows[len(w.rows)-1].ID; last != idOf(many) {
		t.Errorf("the last is %s", last)
	}
	uitest.Run(d, w.Shown())
	_, sent := uitest.Press(d, append(strings.Split(fmt.Sprintf("no%d", many-1), ""), "enter")...)
	if !slices.Contains(sent, tea.Msg(Open{idOf(many)})) {
		t.Errorf("the oldest is not found: %v", w.ids())
	}
}

// TestConversations: without a title or first prompt that matches, the list has the sessions whose conversation does.
func TestConversations(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t)
	for i := range pageRows + 5 {
		w.keep(i+1, "/work/here", "work", time.Duration(i)*time.Minute, pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "Found the needle."}}})
	}
	w.begin(80)
	d, _ := uitest.Press(w.Dialog, strings.Split("needle", "")...)
	uitest.Press(d, "end", "end")
	if len(w.rows) != pageRows+5 {
		t.Errorf("%d rows", len(w.rows))
	}
	if uitest.Press(d, strings.Split(" nowhere", "")...); len(w.rows) != 0 || w.fault != nil {
		t.Errorf("%d rows, %v", len(w.rows), w.fault)
	}
}

// TestSameAge: sessions of the same age are all listed, wherever a page ends.
func TestSameAge(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t)
	for i := range pageRows + 5 {
		w.keep(i+1, "/work/here", "work", time.Duration(min(i, pageRows-3))*time.Minute)
	}
	uitest.Press(w.begin(80).Dialog, "end", "end")
	ids := w.ids()
	if slices.Sort(ids); len(slices.Compact(ids)) != pageRows+5 || w.cursor != "" {
		t.Errorf("%d are listed, more: %v", len(w.rows), w.cursor != "")
	}
}

// TestMouse: a click moves the bar, a second one opens; elsewhere it does nothing.
func TestMouse(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for _, width := range []int{80, 120} {
		w := newEnv(t)
		w.four()
		lines := strings.Split(ansi.Strip(w.begin(width).View(width, 24)), "\n")
		top := (24 - len(lines)) / 2
		y := top + slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "documentation") })
		click := tea.MouseClickMsg{X: 20, Y: y, Button: tea.MouseLeft}
		for _, other := range []tea.MouseClickMsg{{X: 0, Y: y, Button: tea.MouseLeft}, {X: width - 12, Y: top + 8, Button: tea.MouseLeft}, {X: 20, Y: y, Button: tea.MouseRight}} {
			if d, _ := w.Update(other); d == nil || w.at != 0 {
				t.Fatalf("a click on nothing does something: %v", other)
			}
		}
		if d, _ := w.Update(click); d == nil || w.at != 1 {
			t.Fatalf("the bar is on %d", w.at)
		}
		d, cmd := w.Update(click)
		if d != nil || cmd == nil || cmd() != tea.Msg(Open{idOf(2)}) {
			t.Error("the second click does not open")
		}
	}
}

// TestTyping: one question is under way at a time, and the last one counts.
func TestTyping(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t)
	w.four()
	w.begin(80)
	_, first := w.Update(uitest.Key("p"))
	for _, k := range []string{"a", "r"} {
		if _, cmd := w.Update(uitest.Key(k)); cmd != nil {
			t.Error("another question is asked before the first has its answer")
		}
	}
	uitest.Run(w.Dialog, first)
	if diff := cmp.Diff([]pawl.SessionID{idOf(1)}, w.ids()); diff != "" {
		t.Error(diff)
	}
}

// TestRename: the title is kept, and the list shows it.
func TestRename(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t)
	w.four()
	uitest.Press(w.begin(80).Dialog, "down", "ctrl+r", "ctrl+u", "D", "o", "c", "s", "enter")
	s, err := w.h.Service.Get(t.Context(), idOf(2))
	if err != nil || s.Title != "Docs" {
		t.Errorf("the title is %q, %v", s.Title, err)
	}
	if !strings.Contains(w.View(80, 24), "Docs") {
		t.Error("the list does not show it")
	}
}

// TestFork: a fork is made, and shown.
func TestFork(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t)
	w.four()
	d, sent := uitest.Press(w.begin(80).Dialog, "ctrl+f")
	if d != nil {
		t.Error("the list stays")
	}
	open, ok := sent[len(sent)-1].(Open)
	if !ok {
		t.Fatalf("%v", sent)
	}
	s, err := w.h.Service.Get(t.Context(), open.ID)
	if err != nil || s.ID == idOf(1) || s.Prompt != "fix the parser" {
		t.Errorf("%+v, %v", s, err)
	}
}

// question is the one that a deletion is asked with.
func question(t *testing.T, d ui.Dialog) *dialog.Sure {
	t.Helper()
	_, cmd := d.Update(uitest.Key("ctrl+x"))
	if cmd == nil {
		t.Fatal("it is not asked")
	}
	open, ok := cmd().(ui.Open)
	if !ok {
		t.Fatal("it is not asked")
	}
	return open.Dialog.(*dialog.Sure)
}

// TestDelete: nothing goes before a yes, what goes is said, and others learn of it.
func TestDelete(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t)
	w.four()
	w.shown = idOf(1)
	w.begin(80)
	sure := question(t, w.Dialog)
	uitest.Golden(t, "delete-80", ansi.Strip(sure.View(80, 24)), 80)
	if _, err := w.h.Service.Get(t.Context(), idOf(1)); err != nil {
		t.Fatalf("it is gone before a yes: %v", err)
	}
	_, sent := uitest.Run(w.Dialog, sure.Do)
	if !slices.Contains(sent, tea.Msg(Deleted{idOf(1)})) {
		t.Errorf("nobody is told: %v", sent)
	}
	if diff := cmp.Diff([]pawl.SessionID{idOf(2), idOf(3)}, w.ids()); diff != "" {
		t.Error(diff)
	}
	if _, err := w.h.Service.Get(t.Context(), idOf(1)); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Errorf("it is there: %v", err)
	}
}

// TestRefused: a session that another process works on stays, and it is said who
// does.
func TestRefused(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t)
	w.four()
	if _, err := w.h.Store.Acquire(t.Context(), idOf(2), "another-pawl", time.Hour, ""); err != nil {
		t.Fatal(err)
	}
	uitest.Press(w.begin(80).Dialog, "down")
	_, sent := uitest.Run(w.Dialog, question(t, w.Dialog).Do)
	for _, m := range sent {
		if _, ok := m.(Deleted); ok {
			t.Error("it is said to be deleted")
		}
	}
	if view := ansi.Strip(w.View(80, 24)); !strings.Contains(view, "busy: another-pawl is working on it") {
		t.Errorf("the refusal is not shown:\n%s", view)
	}
	uitest.Press(w.Dialog, "up", "down")
	if view := ansi.Strip(w.View(80, 24)); !strings.Contains(view, "in use by another-pawl") {
		t.Errorf("it is forgotten who works on it:\n%s", view)
	}
}

// TestUncovered: an answer that was lost under another dialog is asked for again.
func TestUncovered(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t)
	w.four()
	w.View(80, 24)
	w.Shown() // its answer goes to the dialog above
	uitest.Run(w.Dialog, w.Shown())
	if len(w.rows) != 3 {
		t.Errorf("%d rows", len(w.rows))
	}
}

// TestSafe: no control gets through but our own styles.
func TestSafe(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t)
	w.four()
	d, _ := uitest.Press(w.begin(120).Dialog, "down", "down")
	d.Update(tea.PasteMsg{Content: "\x1b[31mx\u202e"})
	got := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(d.View(120, 30), "")
	if strings.ContainsFunc(got, func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == '\u202e' }) {
		t.Errorf("%q", got)
	}
}
