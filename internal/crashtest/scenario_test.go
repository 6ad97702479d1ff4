//go:build crashtest

package crashtest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/pawltest"
)

// scenario is a story that the program is killed in, at every append of every
// command of it. To add one, add it to scenarios.
type scenario struct {
	name      string
	script    []string   // the model's lines
	meanwhile string     // what others say; see cmd/pawl/meanwhile_crashtest.go
	commands  [][]string // what a person does, in order
	reasons   []pawl.Reason
	out       string // what out.txt holds in the end
	kills     int    // at least so many, before and after an append
	unordered bool   // things happen beside each other: their order does not count, nor what the model says to it
}

// says is a line of a script with a shell command that appends to out.txt.
func says(line string) string {
	return fmt.Sprintf(`{"calls":[{"name":"bash","input":{"command":"echo %s >> out.txt"}}],"usage":{"input":1}}`, line)
}

const done = `{"text":"done"}`

func asAgent(line string) string { return strings.Replace(line, "{", `{"agent":"general",`, 1) }

func task(more string) string {
	return `{"calls":[{"name":"task","input":{"agent":"general","description":"errand","prompt":"do it"` + more + `}}]}`
}

var once = [][]string{runArgs()}

var scenarios = []scenario{
	{
		name:      "steered",
		script:    []string{says("1"), says("2"), done},
		meanwhile: `[{"after":"call.started","count":1,"steer":"this way"},{"after":"call.started","count":2,"steer":"and that"}]`,
		commands:  once, reasons: []pawl.Reason{pawl.ReasonEndTurn}, out: "1\n2\n", kills: 15,
	},
	{
		name:   "queued, reworded, withdrawn",
		script: []string{says("1"), says("2"), done, `{"text":"that too","expect":"in other words"}`},
		meanwhile: `[{"after":"call.started","count":1,"queue":"later"},{"after":"call.started","count":1,"queue":"never"},` +
			`{"after":"call.finished","count":1,"prompt":2,"reword":"in other words"},{"after":"call.started","count":2,"prompt":3}]`,
		commands: [][]string{runArgs(), {"resume"}}, reasons: []pawl.Reason{pawl.ReasonEndTurn, pawl.ReasonEndTurn}, out: "1\n2\n", kills: 17,
	},
	{
		name:     "a task",
		script:   []string{says("1"), task(""), says("3"), done, asAgent(says("2")), asAgent(done)},
		commands: once, reasons: []pawl.Reason{pawl.ReasonEndTurn}, out: "1\n2\n3\n", kills: 22,
	},
	{
		name:     "a task in the background",
		script:   []string{task(`,"background":true`), says("1"), `{"text":"I wait"}`, done, asAgent(says("2")), asAgent(done)},
		commands: once, reasons: []pawl.Reason{pawl.ReasonEndTurn}, out: "1\n2\n", kills: 20, unordered: true,
	},
	{
		name:     "a loop",
		script:   slices.Repeat([]string{`{"calls":[{"name":"list"}]}`}, 7),
		commands: once, reasons: []pawl.Reason{pawl.ReasonLoop}, kills: 20,
	},
}

// TestCrashInScenarios kills the program before and after each append of each
// scenario. What is left when it was resumed is what an uncrashed run leaves.
func TestCrashInScenarios(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			store := pawltest.Stores["sqlite"](t)
			b := s.box(t, store)
			for _, args := range s.commands {
				b.Run(t, args...)
			}
			want := s.leaves(t, b)
			if want.Out != s.out || !slices.Equal(want.Reasons, s.reasons) {
				t.Fatalf("the uncrashed run is not as scripted: %+v", want)
			}
			for _, when := range []string{"before", "after"} {
				killed := 0
				for i := range s.commands {
					killed += each(t, 1000, func(n int) bool {
						ok := s.crash(t, store, want, i, fmt.Sprintf("PAWL_CRASH=%s:%d", when, n+1))
						if t.Failed() {
							t.Logf("^ killed %s append %d of %s", when, n+1, strings.Join(s.commands[i], " "))
						}
						return ok
					})
				}
				if killed < s.kills {
					t.Errorf("only %d kills %s an append: the matrix is not what it should be", killed, when)
				}
				t.Logf("%d kills %s an append, each resumed to the same end", killed, when)
			}
		})
	}
}

func (s scenario) box(t *testing.T, store string) *pawltest.Box {
	t.Helper()
	b := pawltest.NewBox(t, pawltest.Binary(t, "crashtest"), store)
	b.Write(t, "script.jsonl", strings.Join(s.script, "\n")+"\n")
	if s.meanwhile != "" {
		b.Env = append(b.Env, "PAWL_MEANWHILE="+s.meanwhile)
	}
	return b
}

// crash plays the scenario, but the i-th command is killed. It reports whether
// it was. A command whose order was not accepted is given once more.
func (s scenario) crash(t *testing.T, store string, want leavings, i int, knife string) bool {
	t.Helper()
	b := s.box(t, store)
	for _, args := range s.commands[:i] {
		b.Run(t, args...)
	}
	before := s.orders(t, b)
	cmd := b.Command(s.commands[i]...)
	cmd.Env = append(slices.Clone(b.Env), knife)
	if pawltest.Wait(t, cmd).Code != -1 {
		return false
	}
	running := s.leaves(t, b).Running
	if s.orders(t, b) == before {
		b.Run(t, s.commands[i]...)
	} else {
		b.Run(t, "resume")
	}
	for _, args := range s.commands[i+1:] {
		b.Run(t, args...)
	}
	got := s.leaves(t, b)
	if diff := cmp.Diff(want.without(running), got.without(running)); diff != "" {
		t.Errorf("running at the kill: %v (-uncrashed, +crashed and resumed):\n%s", running, diff)
	}
	return true
}

// orders counts what people have said to the sessions of the box.
func (s scenario) orders(t *testing.T, b *pawltest.Box) (n int) {
	t.Helper()
	for _, row := range b.Sessions(t) {
		for _, e := range b.Export(t, string(row.ID)) {
			switch body := e.Body.(type) {
			case pawl.SessionCreated:
				if body.Forked != nil {
					n++
				}
			case pawl.Prompted, pawl.Reworded, pawl.Withdrawn, pawl.CompactionAsked, pawl.RevertAsked:
				n++
			default: // pawl's own
			}
		}
	}
	return n
}

// leavings are what a story leaves: the file, how the turns ended, and what was
// said in each session, the children's after their parent's.
type leavings struct {
	Out     string
	Reasons []pawl.Reason // of the sessions that have no parent
	Said    [][]string

	Running []string // commands that nobody knows the outcome of
}

var ids = regexp.MustCompile(`[0-9A-HJKMNP-TV-Z]{26}`)

func (s scenario) leaves(t *testing.T, b *pawltest.Box) leavings {
	t.Helper()
	l := leavings{Out: b.Read(t, "out.txt")}
	if s.unordered {
		l.Out = strings.Join(slices.Sorted(strings.Lines(l.Out)), "")
	}
	rows := b.Sessions(t)
	slices.SortFunc(rows, func(a, b pawl.Session) int { return a.Created.Compare(b.Created) })
	for _, row := range rows {
		if row.Turns+row.Queued == 0 {
			continue // it was made, and the prompt did not come
		}
		events := b.Export(t, string(row.ID))
		s.hear(t, &l, events)
		for _, e := range events {
			switch body := e.Body.(type) {
			case pawl.TurnFinished:
				l.Reasons = append(l.Reasons, body.Reason)
			case pawl.Spawned:
				if out := b.Run(t, "session", "export", string(body.Child)); out.Code == 0 { // it may not be made yet
					s.hear(t, &l, b.Export(t, string(body.Child)))
				}
			default: // told in the conversation
			}
		}
	}
	return l
}

// hear adds what was said in a session, and which commands run in it.
func (s scenario) hear(t *testing.T, l *leavings, events []pawl.Event) {
	t.Helper()
	open, command := map[pawl.CallID]bool{}, map[pawl.CallID]string{}
	for _, e := range events {
		switch body := e.Body.(type) {
		case pawl.Replied:
			for _, c := range body.Parts.Calls() {
				command[c.ID] = string(c.Input)
			}
		case pawl.CallStarted:
			open[body.Call] = !body.ReadOnly
		case pawl.CallFinished:
			delete(open, body.Call)
		default: // no call
		}
	}
	for id, runs := range open {
		if runs {
			l.Running = append(l.Running, command[id])
		}
	}
	var said []string
	for _, m := range pawltest.Conversation(t, events) {
		said = append(said, string(m.Role)+": "+ids.ReplaceAllString(shown(m, command), "ID"))
	}
	if s.unordered {
		slices.Sort(said)
		said = slices.DeleteFunc(said, func(m string) bool { return strings.HasPrefix(m, "assistant: ") && !strings.Contains(m, " calls ") })
	}
	l.Said = append(l.Said, said)
}

// shown is a message with its calls, and its results by the command that they are of.
func shown(m pawl.Message, command map[pawl.CallID]string) string {
	text := m.Text()
	for _, part := range m.Parts {
		switch p := part.(type) {
		case pawl.ToolCall:
			text += " calls " + string(p.Input)
		case pawl.ToolResult:
			text += fmt.Sprintf(" of %s: %s", command[p.Call], p.Content)
		default: // its text says it
		}
	}
	return text
}

// without leaves out what commands of unknown outcome may have done or not.
func (l leavings) without(running []string) leavings {
	l.Running = nil
	l.Said = slices.Clone(l.Said)
	for _, command := range running {
		for i := range l.Said {
			l.Said[i] = slices.DeleteFunc(slices.Clone(l.Said[i]), func(said string) bool {
				return strings.Contains(said, " of "+command)
			})
		}
		for line := range strings.Lines(l.Out) {
			if strings.Contains(command, "echo "+strings.TrimSpace(line)+" >>") {
				l.Out = strings.Replace(l.Out, line, "", 1)
			}
		}
	}
	return l
}
