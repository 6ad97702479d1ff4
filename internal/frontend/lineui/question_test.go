package lineui

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

const (
	asksColor = `{"calls":[{"name":"question","input":{"questions":[` +
		`{"header":"Color","question":"Which?","options":[{"label":"red"},{"label":"blue"}]},` +
		`{"header":"Sizes","question":"Which ones?","multiple":true,"options":[{"label":"small"},{"label":"large"}]}]}}]}`
	bye = `{"text":"Bye."}`
)

func TestLock(t *testing.T) {
	t.Parallel()
	start := time.Now()
	for _, c := range []struct {
		name  string
		steps []time.Duration // how long each took
		early int             // the step before which a line comes; 0 is none
		want  bool
	}{
		{"enough steps", []time.Duration{1, 1, 1, 1}, 0, true},
		{"too few", []time.Duration{1, 1, 1}, 0, false},
		{"a line makes it begin anew", []time.Duration{1, 1, 1, 1}, 3, false},
		{"and then it takes as long", []time.Duration{1, 1, 1, 1, 1, 1}, 3, true},
		{"a stopped program's steps do not count", []time.Duration{1, 1, 1, 2 * maxSettleStep}, 0, false},
		{"it begins anew after that", []time.Duration{1, 2 * maxSettleStep, 1, 1, 1, 1}, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var l inputLock
			now := start
			l.arm(now)
			for i, took := range c.steps {
				if c.early == i+1 && l.accepts(now) {
					t.Error("a line counts too early")
				}
				now = now.Add(took)
				l.elapsed(now)
			}
			if got := l.left == 0; got != c.want {
				t.Errorf("open: %v", got)
			}
		})
	}
	l := inputLock{from: start}
	if l.accepts(start.Add(-1)) || !l.accepts(start) {
		t.Error("what was read before the question was there counts, or what was read after it does not")
	}
}

// typedEarly is a person who types an answer before the question takes any.
func typedEarly(t *testing.T) *harness {
	t.Helper()
	s := newHarness(t, asksColor, bye)
	s.write("go").until("0: skip\n")
	s.handleInput(s.ctx, userInput{lines: []string{"1"}, at: time.Now()})
	return s
}

// What is typed before a question takes answers does not answer it, and the person
// is reported.
func TestTypedBeforeTheQuestion(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := typedEarly(t)
	s.until("ignored, because it was typed before the question: 1\n")
	if s.question == nil || s.lock.left == 0 {
		t.Fatal("it has answered the question")
	}
	before := time.Now()
	s.settles().until("answer: ")
	s.handleInput(s.ctx, userInput{lines: []string{"2"}, at: before}) // read before, and late to come
	s.until("ignored")
	s.write("2").until("question 2 of 2: Sizes\n")
}

// answers returns what was answered in a session.
func (s *harness) answers() []pawl.Answer {
	s.t.Helper()
	var list []pawl.Answer
	row, err := s.Service.Get(s.ctx, s.session.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	for e, err := range s.Service.Events(s.ctx, s.session.ID, 0) {
		if err != nil {
			s.t.Fatal(err)
		}
		if a, ok := e.Body.(pawl.Answered); ok {
			list = append(list, a.Answer)
		}
		if e.Seq >= row.Head {
			break
		}
	}
	return list
}

func TestForm(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for _, c := range []struct {
		name  string
		typed []string
		want  pawl.Answer
	}{
		{"by numbers", []string{"2", "1, 2"}, pawl.Answer{Outcome: pawl.OutcomeAnswered, Answers: [][]string{{"blue"}, {"small", "large"}}}},
		{"in words", []string{"green, rather", "2"}, pawl.Answer{Outcome: pawl.OutcomeAnswered, Answers: [][]string{{"green, rather"}, {"large"}}}},
		{"Enter alone and slips decide nothing", []string{"", "7", "/again", "1", "1,9", "1"}, pawl.Answer{Outcome: pawl.OutcomeAnswered, Answers: [][]string{{"red"}, {"small"}}}},
		{"no answer", []string{"1", "0"}, pawl.Answer{Outcome: pawl.OutcomeDenied}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newHarness(t, asksColor, bye)
			s.write("go").until("0: skip\n")
			for _, line := range c.typed {
				s.settles().write(line)
			}
			s.until("done: 1 tool")
			if diff := cmp.Diff([]pawl.Answer{c.want}, s.answers()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// answered is a service that takes note of answers, and asks a person nothing itself.
type answered struct {
	pawl.Service
	err  error
	list []pawl.Answer
}

func (a *answered) Answer(_ context.Context, _ pawl.SessionID, _ pawl.Seq, answer pawl.Answer) error {
	a.list = append(a.list, answer)
	return a.err
}

func TestMenus(t *testing.T) { //nolint:paralleltest // it sets environment variables
	rule := `{"tool":"bash"}`
	yes, no := pawl.Answer{Outcome: pawl.OutcomeAnswered}, pawl.Answer{Outcome: pawl.OutcomeDenied}
	always, but, goOn := yes, no, yes
	always.Always = append(always.Always, []byte(rule))
	session := always
	session.Session = true
	but.Text, goOn.Text = "use b", "use b"
	permission := pawl.Ask{Kind: pawl.AskPermission, Text: "x", Offer: always.Always, Names: "what is shown"}
	apply := pawl.Ask{Kind: pawl.AskPermission, Text: "x", Ran: true, Names: "what is shown"}
	once := pawl.Ask{Kind: pawl.AskPermission, Text: "x"}
	loop := pawl.Ask{Kind: pawl.AskLoop, Text: "x"}
	for _, c := range []struct {
		ask   pawl.Ask
		typed []string
		want  []pawl.Answer
	}{
		{permission, []string{"1"}, []pawl.Answer{yes}},
		{permission, []string{" Yes "}, []pawl.Answer{yes}},
		{permission, []string{"2"}, []pawl.Answer{session}},
		{permission, []string{"s"}, []pawl.Answer{session}},
		{permission, []string{"3"}, []pawl.Answer{always}},
		{permission, []string{"a"}, []pawl.Answer{always}},
		{permission, []string{"4"}, []pawl.Answer{no}},
		{permission, []string{"n"}, []pawl.Answer{no}},
		{permission, []string{"5 use b"}, []pawl.Answer{but}},
		{permission, []string{"but", "use b"}, []pawl.Answer{but}},
		{permission, []string{"5", "", "use b"}, []pawl.Answer{but}},
		{permission, []string{"", "6", "yes please", "1 2", "11", "1\n2"}, nil},
		{once, []string{"2", "3", "always", "session"}, nil},
		{apply, []string{"apply"}, []pawl.Answer{yes}},
		{apply, []string{"discard"}, []pawl.Answer{no}},
		{loop, []string{"1"}, []pawl.Answer{yes}},
		{loop, []string{"2", "use b"}, []pawl.Answer{goOn}},
		{loop, []string{"no"}, []pawl.Answer{no}},
	} {
		t.Run(strings.Join(c.typed, ";"), func(t *testing.T) {
			s := newHarness(t)
			svc := &answered{Service: s.Service}
			s.Service = svc
			s.pendingAsks = []pendingAsk{{id: askID{"s", 1}, ask: c.ask}}
			s.idle(s.ctx)
			s.settles()
			for _, line := range c.typed {
				s.write(strings.Split(line, "\n")...)
			}
			for i, answer := range svc.list {
				if answer.Names != c.ask.Names {
					t.Errorf("the answer is for %q", answer.Names)
				}
				svc.list[i].Names = ""
			}
			if diff := cmp.Diff(c.want, svc.list); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if asked := s.question != nil; asked != (c.want == nil) {
				t.Errorf("it is still asked: %v", asked)
			}
		})
	}
}

// An answer that is not accepted is asked for again; one that came too late is not.
func TestAnswerNotTaken(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for _, c := range []struct {
		err  error
		want bool
	}{{pawl.ErrInvalid, true}, {pawl.ErrUnavailable, true}, {pawl.ErrConflict, false}, {pawl.ErrNotFound, false}} {
		s := newHarness(t)
		s.Service = &answered{Service: s.Service, err: c.err}
		s.pendingAsks = []pendingAsk{{id: askID{"s", 1}, ask: pawl.Ask{Kind: pawl.AskLoop}}}
		s.idle(s.ctx)
		s.settles().write("1")
		if got := s.question != nil; got != c.want {
			t.Errorf("%v: asked again: %v", c.err, got)
		}
		if got := s.lock.left > 0; got != c.want {
			t.Errorf("%v: what is typed before it is asked again counts: %v", c.err, got)
		}
	}
}

// What somebody else answers is not asked any more.
func TestAnsweredElsewhere(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := newHarness(t, asksColor, bye)
	s.write("go").until("0: skip\n")
	answer := pawl.Answer{Outcome: pawl.OutcomeAnswered, Answers: [][]string{{"red"}, {"small"}}}
	if err := s.Service.Answer(s.ctx, s.session.ID, s.pendingAsks[0].id.seq, answer); err != nil {
		t.Fatal(err)
	}
	s.until("answered: already answered elsewhere\n")
	s.until("done: 1 tool")
	s.until("> ")
}

// A directory is trusted as it was shown, and not as it is by then.
func TestTrustOfAChangedFolder(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := newHarness(t)
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(s.Dir, ".mcp.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"mcpServers":{}}`)
	s.start(s.ctx)
	if messages := s.until("3: not now\n"); !strings.Contains(messages, ".mcp.json") {
		t.Fatalf("what it brings is not said:\n%s", messages)
	}
	write(`{"mcpServers":{"x":{"command":"x"}}}`)
	s.settles().write("1").until("note: the configuration has changed")
	s.settles().write("1").until("trust: the project configuration applies from the next prompt\n")
	if f, err := s.Service.Look(s.ctx, s.Dir); err != nil || f.Trust.State != "trusted" {
		t.Errorf("%q, %v", f.Trust.State, err)
	}
}
