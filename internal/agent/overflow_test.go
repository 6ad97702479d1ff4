package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent/prompt"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// narrow is a model that takes fewer tokens than anybody knows.
type narrow struct {
	model.Model
	takes int
	late  bool // it fails in mid-reply
}

func (m narrow) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	if req.Agent == model.AgentCompaction || prompt.Estimate(req.Messages) <= m.takes {
		return m.Model.Stream(ctx, req)
	}
	return func(yield func(model.Chunk, error) bool) {
		if m.late && !yield(model.Chunk{Kind: model.ChunkText, Text: "I beg"}, nil) {
			return
		}
		yield(model.Chunk{}, fmt.Errorf("ask: %w", &model.ProviderError{Kind: pawl.ErrorOverflow, Status: 400, Message: "too long"}))
	}
}

func TestOverflow(t *testing.T) {
	t.Parallel()
	summary := `{"agent":"compaction","text":"Sum."}`
	for _, test := range []struct {
		name    string
		script  []string
		takes   int
		late    bool
		window  model.Window
		reason  pawl.Reason
		done    int // compactions
		summed  int // that replaced something
		retried int
	}{
		{"it helps", talks(8, `{"text":"Done."}`, summary), 6000, false, model.Window{}, pawl.ReasonEndTurn, 1, 1, 0},
		{"it comes late", talks(8, `{"text":"Done."}`, summary), 6000, true, model.Window{}, pawl.ReasonEndTurn, 1, 1, 1},
		{"without a summary the middle goes", talks(12, `{"text":"Done."}`), 6000, false, model.Window{}, pawl.ReasonEndTurn, 8, 0, 0},
		{"a window that is smaller than it says", talks(8, `{"text":"Done."}`, summary), 6000, false, model.Window{Context: 20_000, Output: 2000}, pawl.ReasonEndTurn, 2, 2, 0},
		{"it does not help", talks(8, `{"text":"Done."}`, summary), 100, false, model.Window{}, pawl.ReasonError, 1, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := roomy(t, setup{model: narrow{openScript(t, test.script...), test.takes, test.late}})
			w.Window = func(string) (model.Window, error) { return test.window, nil }
			w.prompt("Look. " + strings.Repeat("Please. ", 100))
			stop := w.mustTurn(test.reason)
			if test.reason == pawl.ReasonError && !strings.Contains(stop.Message, "choose a model with a larger context window") {
				t.Error(stop.Message)
			}
			summed := 0
			for _, c := range w.compactions() {
				if c.Keep != 0 {
					summed++
				}
				if c.Before == 0 {
					t.Errorf("nobody knows how large it was: %+v", c)
				}
			}
			check(t, []int{test.done, test.summed, test.retried}, []int{len(w.compactions()), summed, len(w.bodies(pawl.Retried{}))})
			events := w.events()
			for i, e := range events {
				if _, ok := e.Body.(pawl.Compacted); ok && pawl.KindOf(events[i-1].Body) != "reply.started" && pawl.KindOf(events[i-1].Body) != "retried" {
					t.Errorf("compacted after %s", pawl.KindOf(events[i-1].Body))
				}
			}
		})
	}
}

// goOn goes on with a copy of the session's first events in another process. What
// a person did after them they do again.
func (w *testEnv) goOn(id pawl.SessionID, head pawl.Seq) *recorder {
	w.t.Helper()
	all := w.events()
	if _, err := w.Store.Append(w.t.Context(), id, 0, all[:head]...); err != nil {
		w.t.Fatal(err)
	}
	rec := &recorder{Model: w.model.Model}
	c := w.Config
	c.Bus, c.Model = bus.New(w.Store, bus.Config{}), func(string) (model.Model, error) { return rec, nil }
	s := NewStepper(c)
	for {
		turn, ok, err := s.Begin(w.t.Context(), id)
		if err != nil {
			w.t.Fatal(err)
		}
		if !ok {
			if !w.personGoesOn(id, all) {
				return rec
			}
			continue
		}
		reason, err := Run(w.t.Context(), s, turn)
		stop, err := StopOf(reason, err)
		if err != nil {
			w.t.Fatal(err)
		}
		if err := s.Finish(w.t.Context(), turn, stop); err != nil {
			w.t.Fatal(err)
		}
	}
}

// personGoesOn appends to the copy what a person did next in the original, if it was a person.
func (w *testEnv) personGoesOn(id pawl.SessionID, all []pawl.Event) bool {
	w.t.Helper()
	row, err := w.Store.Session(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	var did []pawl.Event
	for _, e := range all[min(int(row.Head), len(all)):] {
		if k := pawl.KindOf(e.Body); k != "prompted" && k != "compaction.asked" {
			break
		}
		did = append(did, e)
	}
	if len(did) == 0 {
		return false
	}
	if _, err := w.Store.Append(w.t.Context(), id, row.Head, did...); err != nil {
		w.t.Fatal(err)
	}
	return true
}

// Whatever is left after a crash, the process that goes on writes the same log
// and sends the same requests: what is cleared, left out and summarized is a
// function of the log.
func TestCompactionResumesFromEveryPoint(t *testing.T) {
	t.Parallel()
	text, _ := json.Marshal(pages[:len(pages)/5])
	lines := []string{`{"window":{"context":4000,"output":400}}`}
	for i := range 26 {
		if i%3 == 0 {
			lines = append(lines, fmt.Sprintf(`{"calls":[{"name":"look","input":{"n":%d}}]}`, i))
		} else {
			lines = append(lines, fmt.Sprintf(`{"text":%s,"calls":[{"name":"peek","input":{"n":%d}}]}`, text, i))
		}
	}
	lines = append(lines, `{"text":"Done."}`, `{"text":"Done too."}`)
	summaries := []string{`{"agent":"compaction","text":"Sum.","usage":{"input":100,"output":10}}`, `{"agent":"compaction","text":"Second.","usage":{"input":100,"output":10}}`}
	some := []toolapi.Tool{toolText("look", pawl.AccessRead, pages[:len(pages)/5]), toolText("peek", pawl.AccessRead, "a little")}
	window := func(string) (model.Window, error) { return model.Window{Context: 4000, Output: 400}, nil }
	for i, test := range []struct {
		name      string
		takes     int // tokens
		summaries []string
	}{
		{"in time", 1 << 30, summaries},
		{"it overflows before it is full", 1800, summaries},
		{"it overflows, and there is no summary", 1800, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			model := narrow{openScript(t, join(lines, test.summaries)...), test.takes, false}
			w := roomy(t, setup{model: model, tools: some, store: func(st store.Store) store.Store { return &heads{Store: st} }})
			w.Window = window
			begins := w.prompt("Look.")
			w.mustTurn(pawl.ReasonEndTurn)
			w.append(pawl.CompactionAsked{Instructions: "Mind the gap."}, pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "And now?"}}, Settings: pawl.Settings{Model: modelRef}})
			w.mustTurn(pawl.ReasonEndTurn)
			if n := len(w.compactions()); n < 3 {
				t.Fatalf("%d compactions", n)
			}
			want := w.events()
			for k, head := range sampled(w.Store.(*heads).after) {
				if head < begins || int(head) == len(want) || !compactsAround(want, head) || test.summaries == nil && k%3 > 0 {
					continue
				}
				id := pawl.SessionID(fmt.Sprintf("01JD000000000000000%03d%04d", i, k))
				model := w.goOn(id, head)
				var got []pawl.Event
				for e, err := range w.Store.Events(t.Context(), id, 0) {
					if err != nil {
						t.Fatal(err)
					}
					e.Session = session
					got = append(got, e)
				}
				if !reflect.DeepEqual(want, got) { // much faster than the other
					t.Fatalf("killed after %d: %s", head, cmp.Diff(want, got))
				}
				sent := w.model.requests[len(w.model.requests)-len(model.requests):]
				for k := range sent {
					if !reflect.DeepEqual(sent[k].Messages, model.requests[k].Messages) {
						t.Fatalf("killed after %d: request %d is another", head, k)
					}
				}
			}
		})
	}
}

// compactsAround reports whether a compaction is within two events of head.
func compactsAround(events []pawl.Event, head pawl.Seq) bool {
	around := events[max(head-2, 0):min(int(head)+2, len(events))]
	return slices.ContainsFunc(around, func(e pawl.Event) bool { return pawl.KindOf(e.Body) == "compacted" })
}

// However long a session gets, each of its requests fits, and begins mostly as
// the one before did.
func TestALongTurnFits(t *testing.T) {
	t.Parallel()
	const steps = 120
	var lines []string
	for i := range steps {
		text := ""
		if i%10 == 0 {
			text = strings.ReplaceAll(shuffled("I think about it.", 60), "\n", " ")
		}
		lines = append(lines, fmt.Sprintf(`{"text":"So. %s","calls":[{"name":"look","input":{"n":%d}}]}`, text, i))
	}
	w := roomy(t, setup{script: join([]string{`{"window":{"context":16000,"output":2000}}`}, lines, []string{`{"text":"Done."}`, `{"agent":"compaction","text":"Sum."}`})})
	w.prompt("Look at it all.")
	w.mustTurn(pawl.ReasonEndTurn)
	if n := len(w.conversation()); n < 5 {
		t.Fatal(n)
	}
	budget := prompt.BudgetOf(model.Window{Context: 16_000, Output: 2000})
	var before []pawl.Message
	moves, requests := 0, 0
	for i, r := range w.model.requests {
		if got := prompt.Estimate(r.Messages) + fixedOf(r); got > budget.Input {
			t.Fatalf("request %d takes %d tokens of %d", i, got, budget.Input)
		}
		if r.Agent == model.AgentCompaction {
			continue
		}
		requests++
		if len(before) > len(r.Messages) || !reflect.DeepEqual(before, r.Messages[:len(before)]) {
			moves++
		}
		before = r.Messages
	}
	// Each move clears at least half of what is protected, 4,000 tokens.
	results := requests * prompt.EstimateText(pages)
	if most := results/(4000/2) + len(w.compactions()); moves > most || moves < 10 {
		t.Errorf("%d of %d requests begin anew, want %d at most; %d compactions", moves, requests, most, len(w.compactions()))
	}
	t.Logf("%d requests, %d moves, %d compactions", requests, moves, len(w.compactions()))
}

// sampled returns all points or, in a short run, every fifth and the last. The race detector makes each ten times slower;
// runs without it take all.
func sampled[T any](points []T) []T {
	if !testing.Short() {
		return slices.Clone(points)
	}
	var some []T
	for i, p := range points {
		if i%5 == 0 || i == len(points)-1 {
			some = append(some, p)
		}
	}
	return some
}
