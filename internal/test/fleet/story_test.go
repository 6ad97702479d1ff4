//go:build fleet

package fleet

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
)

// scenario sends prompts to a service and waits for the result.
type scenario struct {
	*testing.T
	pawl.Service
	dir string
	id  pawl.SessionID
}

func (s *scenario) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *scenario) send(text string, d pawl.Delivery, set pawl.Settings) {
	s.Helper()
	_, err := s.Send(s.Context(), s.id, pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: text}}, Delivery: d, Settings: set})
	s.ok(err)
}

// until reads the session's events from a Seq on to the one that is wanted.
func (s *scenario) until(after pawl.Seq, wanted func(pawl.Event) bool) pawl.Event {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	for e, err := range s.Events(ctx, s.id, after) {
		s.ok(err)
		if wanted(e) {
			return e
		}
	}
	s.Fatal("what was waited for did not come")
	return pawl.Event{}
}

// idle waits until nothing is left to do.
func (s *scenario) idle() {
	s.Helper()
	s.until(0, func(e pawl.Event) bool {
		row, err := s.Get(s.Context(), s.id)
		s.ok(err)
		return row.State() == pawl.StateIdle && e.Seq == row.Head
	})
}

// answer answers what is asked after a Seq, and returns where that was.
func (s *scenario) answer(after pawl.Seq, a pawl.Answer) pawl.Seq {
	s.Helper()
	e := s.until(after, func(e pawl.Event) bool { _, is := e.Body.(pawl.Asked); return is })
	s.ok(s.Answer(s.Context(), s.id, e.Seq, a))
	return e.Seq
}

// story is a conversation with something of everything.
var story = []string{
	`{"reasoning":"I look first.","text":"Looking.","deltas":3,"calls":[
		{"name":"read","input":{"path":"a.txt"}}, {"name":"write","input":{"path":"b.txt","content":"two\n"}},
		{"name":"bash","input":{"command":"until [ -e steered ]; do sleep 0.01; done; cat a.txt b.txt; exit 3"}},
		{"name":"dance"}, {"name":"read","input":{"file":"a.txt"}}],"usage":{"input":10,"output":5}}`,
	`{"expect":"hurry","text":"Faster then.","usage":{"input":20,"output":6}}`,
	`{"expect":"count","calls":[{"name":"bash","input":{"command":"echo x >> count"}}]}`,
	`{"expect":"last step","text":"One.","usage":{"input":7,"output":1}}`,
	`{"expect":"ask me","calls":[{"name":"bash","input":{"command":"touch yes"}},{"name":"bash","input":{"command":"touch other"}}]}`,
	`{"expect":"said: not that one","text":"Then not."}`,
	`{"calls":[{"name":"bash","input":{"command":"touch no"}}]}`,
	`{"expect":"a child","calls":[{"name":"task","input":{"agent":"general","prompt":"x","description":"a task"}}]}`,
	`{"expect":"> Done it.","text":"It is done."}`,
	`{"text":"A summary."}`,
	`{"expect":"fail","fault":"error","text":"no credit"}`,
	`{"agent":"general","calls":[{"name":"write","input":{"path":"child","content":"c"}}]}`,
	`{"agent":"general","text":"Done it."}`,
}

// tell tells the story, and returns what is in the log then.
func report(t *testing.T, h servicetest.Harness) string {
	t.Helper()
	s := &scenario{T: t, Service: h.Service, dir: t.TempDir()}
	s.ok(os.WriteFile(filepath.Join(s.dir, "a.txt"), []byte("one\n"), 0o600))
	lines := make([]string, len(story))
	for i, l := range story {
		lines[i] = strings.Join(strings.Fields(l), " ")
	}
	path := filepath.Join(s.TempDir(), "script.jsonl")
	s.ok(os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	plain := pawl.Settings{Model: "script:" + path, Mode: "guard"}
	limited, guarded := plain, plain
	limited.MaxSteps, guarded.Mode = 2, "ask"
	created, err := s.Create(t.Context(), pawl.NewSession{Dir: s.dir})
	s.ok(err)
	s.id = created.ID

	s.send("go", pawl.DeliverNow, plain)
	s.until(0, func(e pawl.Event) bool { c, is := e.Body.(pawl.CallStarted); return is && c.Call == "call_1_3" })
	s.send("count", pawl.DeliverQueue, limited)
	s.send("hurry", pawl.DeliverSteer, pawl.Settings{})
	s.ok(os.WriteFile(filepath.Join(s.dir, "steered"), nil, 0o600))
	s.idle()
	s.send("ask me", pawl.DeliverNow, guarded)
	seq := s.answer(0, pawl.Answer{Outcome: pawl.OutcomeAnswered})
	s.answer(seq, pawl.Answer{Outcome: pawl.OutcomeDenied, Text: "not that one"})
	s.idle()
	row, err := s.Get(t.Context(), s.id)
	s.ok(err)
	s.send("again", pawl.DeliverNow, guarded)
	s.answer(row.Head, pawl.Answer{Outcome: pawl.OutcomeDenied})
	s.idle()
	s.send("a child", pawl.DeliverNow, plain)
	s.idle()
	asked, err := s.Undo(t.Context(), s.id, pawl.Undo{}) // the last turn
	s.ok(err)
	s.until(asked, func(e pawl.Event) bool { _, is := e.Body.(pawl.Undone); return is })
	asked, err = s.Compact(t.Context(), s.id, "keep the names")
	s.ok(err)
	s.until(asked, func(e pawl.Event) bool { _, is := e.Body.(pawl.Compacted); return is })
	s.send("fail", pawl.DeliverNow, plain)
	s.idle()
	return s.log(path)
}

// What differs from one run to the next: times, and names that are made.
var differs = regexp.MustCompile(`"duration_ms":"?\d+"?|[0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{40,64}|\d+(\.\d+)? ?m?s\b`)

// log is the session's log and its children's, but for what differs from run to run.
func (s *scenario) log(script string) string {
	s.Helper()
	children, err := s.List(s.Context(), pawl.Filter{Parent: s.id})
	s.ok(err)
	var all strings.Builder
	for _, row := range append([]pawl.Session{{ID: s.id}}, children.Sessions...) {
		head, err := s.Get(s.Context(), row.ID)
		s.ok(err)
		for e, err := range s.Events(s.Context(), row.ID, 0) {
			s.ok(err)
			if e.Seq == 0 {
				continue
			}
			text, err := json.Marshal(e.Body)
			s.ok(err)
			all.WriteString(string(pawl.KindOf(e.Body)) + " " + string(text) + "\n")
			if e.Seq == head.Head {
				break
			}
		}
	}
	return differs.ReplaceAllString(strings.NewReplacer(s.dir, "DIR", script, "SCRIPT").Replace(all.String()), "*")
}

// TestSameLogAsLocal: what a fleet writes is what one process writes.
func TestSameLogAsLocal(t *testing.T) { //nolint:paralleltest // it sets environment variables
	want := report(t, servicetest.Local(t))
	for _, kind := range []pawl.Kind{"answered", "spawned", "compacted", "undone", "injected"} {
		if !strings.Contains(want, "\n"+string(kind)+" ") {
			t.Errorf("there is no %s in the story", kind)
		}
	}
	got := report(t, inProcess(t, 0))
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the logs differ (- local, + fleet):\n%s", diff)
	}
}
