package dialog

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// notes is a service that notes the answers that it is given.
type notes struct {
	pawl.Service
	answers []pawl.Answer
	trusted []string
	now     pawl.Project
	err     error
}

func (n *notes) Answer(_ context.Context, _ pawl.SessionID, _ pawl.Seq, a pawl.Answer) error {
	n.answers = append(n.answers, a)
	return n.err
}

func (n *notes) Trust(_ context.Context, dir, hash string) error {
	n.trusted = append(n.trusted, dir+" "+hash)
	return n.err
}

func (n *notes) Look(context.Context, string) (pawl.Project, error) { return n.now, nil }

// perform does what a command says, and gives the dialog the result.
func perform(d ui.Dialog, cmd tea.Cmd) (sent []tea.Msg) {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			sent = append(sent, perform(d, c)...)
		}
	case answeredMsg, trustedMsg:
		_, next := d.Update(msg)
		return perform(d, next)
	default:
		return []tea.Msg{msg}
	}
	return sent
}

// TestAnswers says which keys give which answer.
func TestAnswers(t *testing.T) {
	t.Parallel()
	yes, no := pawl.OutcomeAnswered, pawl.OutcomeDenied
	both := permissionAsk(command, testRule, tailRule)
	own := twoQuestions
	own.Ask.Questions = []pawl.Question{{Header: "Name", Question: "What is it called?"}}
	for _, c := range []struct {
		name   string
		asking Asking
		keys   []string
		want   *pawl.Answer
	}{
		{"once, by enter", both, []string{"enter"}, &pawl.Answer{Outcome: yes}},
		{"once, by its number", both, []string{"1"}, &pawl.Answer{Outcome: yes}},
		{"no letter answers", both, []string{"y", "a", "n", "w", "space", "right", "5", "0", "d"}, nil},
		{"for the session", both, []string{"2"}, &pawl.Answer{Outcome: yes, Always: rules(testRule, tailRule), Session: true}},
		{"always", both, []string{"down", "down", "enter"}, &pawl.Answer{Outcome: yes, Always: rules(testRule, tailRule)}},
		{"always is not offered", change(3), []string{"e", "3", "4"}, nil},
		{"esc", both, []string{"esc"}, &pawl.Answer{Outcome: no}},
		{"esc leaves the details first", both, []string{"d", "esc"}, nil},
		{"no, with a message", both, []string{"4", ":yes, use make", "enter"}, &pawl.Answer{Outcome: no, Text: "yes, use make"}},
		{"no, without a message", both, []string{"4", "enter"}, &pawl.Answer{Outcome: no}},
		{"back from the message", both, []string{"4", ":y", "esc"}, nil},
		{"a pattern removed", both, append([]string{"e"}, append(strings.Split(strings.Repeat("backspace ", len("tail -5"))+"backspace", " "), "enter", "3")...),
			&pawl.Answer{Outcome: yes, Always: rules(testRule)}},
		{"a pattern changed", both, []string{"e", "backspace", ":9", "enter", "enter"},
			&pawl.Answer{Outcome: yes, Always: rules(testRule, `{"decision":"allow","pattern":"tail -9","tool":"bash"}`)}},
		{"what is not seen is not permitted", change(60), []string{"1", "enter"}, nil},
		{"what is seen is", change(60), []string{"1", "end", "1"}, &pawl.Answer{Outcome: yes}},
		{"what is seen by pages is", change(30), []string{"pgdown", "space", "space", "space", "1"}, &pawl.Answer{Outcome: yes}},
		{"unseen can be denied", change(60), []string{"esc"}, &pawl.Answer{Outcome: no}},

		{"questions", twoQuestions, []string{"enter", "1", "2", "enter", "enter"}, &pawl.Answer{Outcome: yes, Answers: [][]string{{"SQLite"}, {"Metrics", "Tracing"}}}},
		{"one of several by enter", twoQuestions, []string{"2", "down", "enter", "enter"}, &pawl.Answer{Outcome: yes, Answers: [][]string{{"PostgreSQL"}, {"Tracing"}}}},
		{"another thought", twoQuestions, []string{"1", "1", "enter", "left", "left", "2", "right", "enter"}, &pawl.Answer{Outcome: yes, Answers: [][]string{{"PostgreSQL"}, {"Metrics"}}}},
		{"own words beside", twoQuestions, []string{"3", ":DuckDB", "enter", "1", "3", ":logs", "enter", "enter", "enter"}, &pawl.Answer{Outcome: yes, Answers: [][]string{{"DuckDB"}, {"Metrics", "logs"}}}},
		{"a word beside", twoQuestions, []string{"w", ":soon", "enter", "1", "1", "enter", "enter"}, &pawl.Answer{Outcome: yes, Answers: [][]string{{"SQLite"}, {"Metrics"}}, Text: "soon"}},
		{"no answer", twoQuestions, []string{"esc"}, &pawl.Answer{Outcome: no}},
		{"not before all are answered", twoQuestions, []string{"right", "right", "enter"}, nil},
		{"no options", own, []string{"enter", ":pawl", "enter"}, &pawl.Answer{Outcome: yes, Answers: [][]string{{"pawl"}}}},

		{"a plan", planned, []string{"1"}, &pawl.Answer{Outcome: yes, Answers: [][]string{{"Begin"}}}},
		{"enter begins nothing", planned, []string{"enter", "space"}, nil},
		{"a plan, by arrows", planned, []string{"down", "down", "enter"}, &pawl.Answer{Outcome: yes, Answers: [][]string{{"Begin, and ask"}}}},
		{"a plan, with a word", planned, []string{"w", ":no tests", "enter", "3"}, &pawl.Answer{Outcome: yes, Answers: [][]string{{"Keep planning"}}, Text: "no tests"}},

		{"go on", loopAsk, []string{"1"}, &pawl.Answer{Outcome: yes}},
		{"go on, with a word", loopAsk, []string{"2", ":read it first", "enter"}, &pawl.Answer{Outcome: yes, Text: "read it first"}},
		{"stop", loopAsk, []string{"y", "n", "3"}, &pawl.Answer{Outcome: no}},
	} {
		t.Run(c.name, func(t *testing.T) {
			svc := &notes{}
			d, _ := at(t, shared(t, "dark", svc), c.asking, 1)
			settle(d)
			_, cmd := press(d, c.keys...)
			sent := perform(d, cmd)
			if c.want == nil {
				if len(svc.answers) > 0 {
					t.Fatalf("answered %+v", svc.answers)
				}
				return
			}
			if diff := cmp.Diff([]pawl.Answer{*c.want}, svc.answers); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff([]tea.Msg{Resolved{ID{"s", 7}}}, sent); diff != "" {
				t.Errorf("it does not close (-want +got)\n%s", diff)
			}
			if err := c.asking.Ask.Check(*c.want); err != nil {
				t.Errorf("the service would refuse that: %v", err)
			}
		})
	}
}

// TestEarlyKeys: what is pressed before a dialog was on the screen for a while
// answers nothing, and makes it wait anew.
func TestEarlyKeys(t *testing.T) {
	t.Parallel()
	all := []string{"y", "a", "enter", "n", "esc", "w", "1", "2", "space", "end"}
	trust := func(svc pawl.Service) ui.Dialog {
		d := NewTrust(shared(t, "dark", svc), folder)
		d.Shown()
		return d
	}
	ask := func(a Asking) func(pawl.Service) ui.Dialog {
		return func(svc pawl.Service) ui.Dialog {
			d, _ := at(t, shared(t, "dark", svc), a, 1)
			return d
		}
	}
	for name, open := range map[string]func(pawl.Service) ui.Dialog{
		"permission": ask(permissionAsk(command, testRule)), "question": ask(twoQuestions), "plan": ask(planned), "loop": ask(loopAsk), "trust": trust,
	} {
		t.Run(name, func(t *testing.T) {
			svc := &notes{}
			d := open(svc)
			l := lockOf(d)
			early := func(when string) {
				t.Helper()
				for _, name := range all {
					next, cmd := d.Update(key(name))
					if next == nil || cmd != nil {
						t.Fatalf("%s: %s did something", when, name)
					}
				}
				if a, ok := d.(Asker); ok && a.Typing() {
					t.Fatalf("%s: the keys are letters", when)
				}
			}
			early("before it was drawn")
			for range 2 * settleSteps {
				d.Update(settledMsg{l, l.round})
			}
			early("it was ordered long ago, and never drawn")
			d.View(80, 24)
			early("just drawn")
			for i := range settleSteps - 1 {
				d.Update(settledMsg{l, l.round})
				if i == 1 {
					early("in between")
				}
			}
			early("a key in between begins the wait anew")
			for range settleSteps - 1 {
				d.Update(settledMsg{l, l.round})
			}
			early("one step is missing")
			d.Update(settledMsg{l, l.round - 1})
			d.Update(settledMsg{&Lock{}, l.round})
			early("steps of another wait")
			for range settleSteps {
				d.Update(settledMsg{l, l.round})
			}
			if !l.Open() || !l.Takes() {
				t.Error("it never settles")
			}
			if len(svc.answers)+len(svc.trusted) > 0 {
				t.Errorf("answered %v %v", svc.answers, svc.trusted)
			}
		})
	}
}

// TestStuck: after the program stood still the wait begins anew, for what was typed
// meanwhile comes now.
func TestStuck(t *testing.T) {
	t.Parallel()
	svc := &notes{}
	d, now := at(t, shared(t, "dark", svc), permissionAsk(command), 1)
	l := lockOf(d)
	d.View(80, 24)
	for range settleSteps - 1 {
		d.Update(settledMsg{l, l.round})
	}
	*now = now.Add(time.Hour)
	d.Update(settledMsg{l, l.round})
	if _, cmd := d.Update(key("1")); cmd != nil || l.Open() {
		t.Error("a key that was pressed while nothing was drawn is an answer")
	}
}

// TestCovered: a dialog that was covered settles again.
func TestCovered(t *testing.T) {
	t.Parallel()
	d, _ := at(t, shared(t, "dark", &notes{}), permissionAsk(command), 1)
	settle(d)
	d.Shown()
	if _, cmd := d.Update(key("esc")); cmd != nil {
		t.Error("the key that closed the dialog above, pressed twice, is an answer")
	}
}

// TestNotTaken: an answer that is not accepted leaves the dialog, with the reason.
func TestNotTaken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		closed bool
	}{
		{fmt.Errorf("allow bash \"*\" cannot be granted: it is about all commands: %w", pawl.ErrInvalid), false},
		{fmt.Errorf("dial: %w", pawl.ErrUnavailable), false},
		{fmt.Errorf("answered: %w", pawl.ErrConflict), true},
		{fmt.Errorf("no ask: %w", pawl.ErrNotFound), true},
	} {
		svc := &notes{err: c.err}
		d, _ := at(t, shared(t, "dark", svc), permissionAsk(command, testRule), 1)
		settle(d)
		_, cmd := press(d, "3")
		sent := perform(d, cmd)
		if closed := len(sent) > 0; closed != c.closed {
			t.Errorf("%v: sent %v", c.err, sent)
		}
		if shows := strings.Contains(d.View(120, 24), c.err.Error()); shows == c.closed {
			t.Errorf("%v: shown: %v", c.err, shows)
		}
		svc.err = nil
		if _, cmd := press(d, "esc"); !c.closed && len(perform(d, cmd)) != 1 {
			t.Errorf("%v: it cannot be answered again", c.err)
		}
	}
}

// TestTrust: a yes trusts what was shown. What has changed meanwhile is shown first.
func TestTrust(t *testing.T) {
	t.Parallel()
	later := folder
	later.Trust.Hash, later.Trust.Parts = "h2", []string{"hook PreToolUse: ./evil.sh"}
	svc := &notes{err: fmt.Errorf("changed: %w", pawl.ErrConflict), now: later}
	d := NewTrust(shared(t, "dark", svc), folder)
	d.Shown()
	settle(d)
	_, cmd := press(d, "y", "1")
	perform(d, cmd)
	view := d.View(80, 24)
	if !strings.Contains(view, "evil.sh") || !strings.Contains(view, "has changed: review it again") {
		t.Errorf("what has changed is not shown:\n%s", view)
	}
	if _, cmd := press(d, "1"); cmd != nil {
		t.Error("what has changed is trusted at once")
	}
	svc.err = nil
	settle(d)
	next, cmd := d.Update(key("1"))
	msg := cmd().(trustedMsg)
	next, cmd = next.Update(msg)
	if next != nil {
		t.Error("it stays open")
	}
	if diff := cmp.Diff([]string{"/home/me/project h1", "/home/me/project h2"}, svc.trusted); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if sent := perform(d, cmd); len(sent) != 2 || sent[0] != (Trusted{folder.Dir}) {
		t.Errorf("sent %v", sent)
	}
	d = NewTrust(shared(t, "dark", svc), folder)
	settle(d)
	if next, _ := d.Update(key("enter")); next != nil || len(svc.trusted) != 2 {
		t.Error("not now does not close it, or trusts")
	}
}
