package subagents

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/eventfeed"
	"github.com/pawl-dev/pawl/internal/frontend/tui/uitest"
	"github.com/pawl-dev/pawl/internal/transcript"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// eventsOf returns events that are one second apart.
func eventsOf(bodies ...pawl.Body) []pawl.Event {
	var events []pawl.Event
	for i, b := range bodies {
		events = append(events, pawl.Event{Seq: pawl.Seq(i + 1), At: noon.Add(time.Duration(i) * time.Second), Body: b})
	}
	return events
}

func spawned(n int, background bool) pawl.Spawned {
	return pawl.Spawned{Call: pawl.CallID(fmt.Sprint("c", n)), Subagent: pawl.SessionID(fmt.Sprint("child", n)), Agent: "explore", Title: fmt.Sprint("task ", n), Background: background}
}

// follow returns what applies events to tasks as the app does.
func follow(k *Tasks) func(pawl.Event) tea.Cmd {
	tr := transcript.New()
	return func(e pawl.Event) tea.Cmd { return k.Apply(e, tr.Apply(e).Items) }
}

// TestWorking: a task works until its call ends or, in the background, until the
// model learns of it; none outlives its turn. The clock goes only meanwhile.
func TestWorking(t *testing.T) {
	t.Parallel()
	begin := []pawl.Body{spawned(1, false), spawned(2, true)}
	for name, c := range map[string]struct {
		more []pawl.Body
		want []string
	}{
		"both":         {nil, []string{"task 1", "task 2"}},
		"another call": {[]pawl.Body{pawl.CallFinished{Call: "x"}}, []string{"task 1", "task 2"}},
		"the call":     {[]pawl.Body{pawl.CallFinished{Call: "c1"}, pawl.CallFinished{Call: "c2"}}, []string{"task 2"}},
		"told":         {[]pawl.Body{pawl.Injected{Source: "task", Subagent: "child2"}}, []string{"task 1"}},
		"a word":       {[]pawl.Body{pawl.Injected{Source: "loop", Text: "hm"}}, []string{"task 1", "task 2"}},
		"the turn":     {[]pawl.Body{pawl.TurnFinished{Reason: pawl.ReasonCanceled}}, nil},
	} {
		k := New(uitest.Shared(t, nil, "plain"))
		apply := follow(k)
		for _, e := range eventsOf(append(begin[:2:2], c.more...)...) {
			apply(e)
		}
		var got []string
		for _, w := range k.Working() {
			got = append(got, w.Title)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		cmd, taken := k.Update(Tick{k, noon})
		if !taken || (cmd != nil) != (c.want != nil) {
			t.Errorf("%s: the clock goes: %v", name, cmd != nil)
		}
		if k.Line(80) == "" != (c.want == nil) {
			t.Errorf("%s: the strip is %q", name, k.Line(80))
		}
	}
}

// TestClock: however much comes, one clock goes.
func TestClock(t *testing.T) {
	t.Parallel()
	k := New(uitest.Shared(t, nil, "plain"))
	apply := follow(k)
	e := eventsOf(spawned(1, true), pawl.Status{}, spawned(2, true))
	if apply(e[1]) != nil {
		t.Error("it goes without a task")
	}
	if apply(e[0]) == nil || apply(e[1]) != nil || apply(e[2]) != nil {
		t.Error("not one clock")
	}
	k.known([]pawl.Session{{ID: "child2"}, {ID: "child0", Title: "older", TurnOpen: true}, {ID: "child9", Turns: 1}})
	if k.Background() != 3 {
		t.Errorf("%d in the background", k.Background())
	}
	if got := len(k.Working()); got != 3 || k.list[0].Title != "older" {
		t.Errorf("%d tasks", got)
	}
	k.known([]pawl.Session{{ID: "child1", Turns: 1}}) // the log of the session does not tell yet
	if got := k.Working(); len(got) != 2 || got[1].Title != "task 2" {
		t.Errorf("%d tasks", len(got))
	}
	for i := range 3 * maxTasks {
		apply(pawl.Event{Body: pawl.Spawned{Call: "x", Subagent: pawl.SessionID(fmt.Sprint("many", i))}})
		apply(pawl.Event{Body: pawl.CallFinished{Call: "x"}})
	}
	if n := len(k.list); n > maxTasks+4 || len(k.Working()) != 2 {
		t.Errorf("%d tasks are kept", n)
	}
}

// TestLine: the strip fits its line, whatever the tasks are called.
func TestLine(t *testing.T) {
	t.Parallel()
	k := New(uitest.Shared(t, nil, "plain"))
	for i := range 3 {
		s := spawned(i, true)
		s.Title = fmt.Sprintf("task \x1b[2J%d 漢字", i)
		follow(k)(pawl.Event{At: noon, Body: s})
	}
	k.now = noon.Add(75 * time.Second)
	want := ` 3 subagents working: task \u{1b}[2J0 漢字 (1 min 15 s), task \u{1b}[2J1 漢字 (1 min 15 s), task \u{1b}[2J2 漢字 (1 min 15 s) · ctrl+b`
	if got := ansi.Strip(k.Line(200)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for width := range 120 {
		if line := k.Line(width); ansi.StringWidth(line) > width || strings.Contains(ansi.Strip(line), "\x1b") {
			t.Errorf("%d: %q", width, line)
		}
	}
}

// result is the end of a call that has to do with a job.
func result(call, content string, meta ...string) pawl.CallFinished {
	r := pawl.CallFinished{Call: pawl.CallID(call), Status: pawl.CallDone, Result: pawl.Result{Content: content, Meta: map[string]string{}}}
	for i := 0; i < len(meta); i += 2 {
		r.Result.Meta[meta[i]] = meta[i+1]
	}
	return r
}

// TestJobs: the log tells which commands run in the background and what the model
// saw of them last.
func TestJobs(t *testing.T) {
	t.Parallel()
	bash := pawl.Replied{Parts: pawl.Parts{
		pawl.ToolCall{ID: "c1", Name: "bash", Input: json.RawMessage(`{"command":"serve","background":true}`)},
		pawl.ToolCall{ID: "c2", Name: "bash", Input: json.RawMessage(`{"command":"ls"}`)},
		pawl.ToolCall{ID: "c3", Name: "bash", Input: json.RawMessage(`{"command":"watch"}`)},
		pawl.ToolCall{ID: "c7", Name: "bash", Input: json.RawMessage(`{"command":"later"}`)},
	}}
	k := New(uitest.Shared(t, nil, "plain"))
	apply := follow(k)
	for _, e := range eventsOf(bash,
		result("c1", "up\nlistening\n(running as job_1: see bash_output and bash_kill)", "job", "job_1", "background", "true"),
		result("c2", "a\nb"),
		result("c3", "(still running after 2 m, now as job_2: see bash_output and bash_kill)", "job", "job_2"),
		result("c4", "more\n(job_1: running, 3 s)", "job", "job_1"),
		result("c5", "(no new output; job_2: killed)", "job", "job_2", "killed", "true", "exit_code", "-1"),
		result("c6", "(job_9: exit code 3)", "job", "job_9", "exit_code", "3"),
		result("c7", "(running as job_1)", "job", "job_1"), // of another process, which counts anew
	) {
		apply(e)
	}
	at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
	want := []*Job{
		{ID: "job_1", Command: "serve", Began: at(0), Seen: at(4), Last: "more"},
		{ID: "job_2", Command: "watch", Began: at(0), Seen: at(5), Over: true, State: "killed"},
		{ID: "job_9", Began: at(6), Seen: at(6), Over: true, State: "exit 3"},
		{ID: "job_1", Command: "later", Began: at(0), Seen: at(0)},
	}
	if diff := cmp.Diff(jobs(want), k.jobs, cmpopts.IgnoreUnexported(Job{})); diff != "" {
		t.Error(diff)
	}
}

// TestTail: the last that a subagent said or did, and how it is.
func TestTail(t *testing.T) {
	t.Parallel()
	working := pawl.Session{ID: "c", TurnOpen: true}
	steps := []struct {
		body        pawl.Body
		line, state string
	}{
		{pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}}, "", "working"},
		{pawl.ReplyStarted{}, "", "working"},
		{pawl.Delta{Reply: 2, Channel: pawl.ChannelReasoning, Text: "hm"}, "", "working"},
		{pawl.Delta{Reply: 2, Channel: pawl.ChannelText, Text: "First.\nSec"}, "Sec", "working"},
		{pawl.Delta{Reply: 2, Channel: pawl.ChannelText, Offset: 10, Text: "ond.\n\n"}, "Second.", "working"},
		{pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "First.\nSecond.\n"}}, Usage: pawl.Usage{Cost: 5}}, "Second.", "working"},
		{pawl.CallStarted{Tool: "bash", Access: []pawl.Access{{Target: "go test"}}}, "bash go test", "working"},
		{pawl.Asked{Ask: pawl.Ask{Text: "May it?"}}, "May it?", "waiting"},
		{pawl.Answered{Ask: 8}, "bash go test", "working"},
		{pawl.Progress{Text: "ok\n  \n"}, "ok", "working"},
		{pawl.TurnFinished{Reason: pawl.ReasonMaxSteps, Message: "too many"}, "Step limit reached: too many", "max steps"},
		{pawl.TurnStarted{}, "Step limit reached: too many", "working"},
		{pawl.TurnFinished{Reason: pawl.ReasonEndTurn}, "Step limit reached: too many", "done"},
	}
	var k tail
	for i, s := range steps {
		k.apply(pawl.Event{Seq: pawl.Seq(i + 1), At: noon, Body: s.body}, false)
		word, works := k.state(working)
		if k.line != s.line || word != s.state || works != (s.state == "working" || s.state == "waiting") {
			t.Errorf("%d %T: %q, %s, works %v", i, s.body, k.line, word, works)
		}
	}
	k.apply(pawl.Event{Body: pawl.Replied{Usage: pawl.Usage{Cost: 9}}}, true)
	if k.cost != 5 {
		t.Errorf("the cost is %d", k.cost)
	}
	k.apply(pawl.Event{Seq: 99, Body: pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: strings.Repeat("x", 5*maxLine)}}}}, true)
	if len(k.line) != maxLine {
		t.Errorf("%d bytes are kept", len(k.line))
	}
}

// sample is a window over tasks and jobs that are known already.
func sample(t *testing.T, themeName string) *Dialog {
	k := New(uitest.Shared(t, nil, themeName))
	apply := follow(k)
	for _, e := range eventsOf(
		pawl.Replied{Parts: pawl.Parts{pawl.ToolCall{ID: "b", Name: "bash", Input: json.RawMessage(`{"command":"npm run dev\u001b[2J -- --port 3000"}`)}}},
		pawl.CallStarted{Call: "b", Tool: "bash"}, result("b", "ready on :3000\n(running as job_1)", "job", "job_1"),
		spawned(1, false), spawned(2, true), spawned(3, true), spawned(4, true),
	) {
		apply(e)
	}
	k.list[1].Title = "find \x1b]0;every place where the parser is called, and by whom, and why " + strings.Repeat("so ", 30)
	d := NewDialog(k.shared, k)
	d.now = func() time.Time { return noon.Add(4 * time.Minute) }
	add := func(n int, cost pawl.Money, bodies ...pawl.Body) {
		id := pawl.SessionID(fmt.Sprint("child", n))
		d.rows[id] = &row{session: pawl.Session{ID: id, TurnOpen: true, Created: noon, Usage: pawl.Usage{Cost: cost}}, feed: &eventfeed.Feed{}}
		for i, b := range bodies {
			d.rows[id].tail.apply(pawl.Event{Seq: pawl.Seq(i + 1), At: noon.Add(12 * time.Second), Body: b}, true)
		}
	}
	add(1, 12e8, pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "main.go calls it.\x07"}}}, pawl.TurnFinished{Reason: pawl.ReasonEndTurn})
	add(2, 0, pawl.CallStarted{Tool: "grep", Access: []pawl.Access{{Target: strings.Repeat("long ", 40)}}})
	add(3, 3e6, pawl.Asked{Ask: pawl.Ask{Text: "May it run rm?"}})
	return d
}

func TestGolden(t *testing.T) {
	t.Parallel()
	changes := map[string]func(*Dialog){
		"list":  func(*Dialog) {},
		"asks":  func(d *Dialog) { d.at = 1 },
		"armed": func(d *Dialog) { d.at, d.armed = 2, "child2" },
		"job": func(d *Dialog) {
			d.at = 4
			d.stop("")
		},
		"none": func(d *Dialog) { *d = *NewDialog(d.shared, New(d.shared)) },
		"child": func(d *Dialog) {
			d.conversation = newConversation(d.shared, d.ctx, "child1", "find \x1b[2Jit")
			for _, e := range eventsOf(pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "Where is it?"}}}, pawl.TurnStarted{Prompt: 1},
				pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "In **main.go**."}}}, pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: 1}) {
				d.conversation.view.Log.Apply(e)
			}
		},
	}
	for name, change := range changes {
		for _, c := range []struct {
			themeName     string
			width, height int
		}{{"dark", 80, 24}, {"plain", 80, 24}, {"plain", 120, 40}, {"plain", 34, 10}} {
			d := sample(t, c.themeName)
			change(d)
			uitest.Golden(t, fmt.Sprintf("%s-%s-%d", name, c.themeName, c.width), d.View(c.width, c.height), c.width)
		}
	}
}

// TestMove: the bar stays on what there is.
func TestMove(t *testing.T) {
	t.Parallel()
	d := sample(t, "plain")
	for _, name := range []string{"end", "down", "pgdown", "up", "home", "up", "pgup", "down"} {
		d.Update(uitest.Key(name))
		d.View(40, 10)
	}
	if l, ok := d.chosen(); !ok || l.id != "child3" {
		t.Errorf("%+v", l)
	}
	d.Update(uitest.Key("x"))
	if d.armed != "child3" {
		t.Error("it is not asked again")
	}
	if d.Update(uitest.Key("down")); d.armed != "" {
		t.Error("another key does not take it back")
	}
	if next, _ := d.Update(uitest.Key("esc")); next != nil || d.ctx.Err() == nil {
		t.Error("it does not close")
	}
}
