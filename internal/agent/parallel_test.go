package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// hall blocks calls until the test releases them, and counts how many run at once.
type hall struct {
	entered chan pawl.CallID
	mu      sync.Mutex
	leave   map[pawl.CallID]chan struct{}
	inside  int
	most    int
}

func newHall() *hall {
	return &hall{entered: make(chan pawl.CallID, 100), leave: map[pawl.CallID]chan struct{}{}}
}

// release returns the channel that the test closes to let a call finish.
func (h *hall) release(id pawl.CallID) chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.leave[id] == nil {
		h.leave[id] = make(chan struct{})
	}
	return h.leave[id]
}

func (h *hall) count(by int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inside += by
	h.most = max(h.most, h.inside)
}

func (h *hall) tool(name string, kind pawl.AccessKind) toolapi.Tool {
	return newTool(name, kind, func(ctx context.Context, c toolapi.Call) (pawl.Result, error) {
		h.count(1)
		defer h.count(-1)
		h.entered <- c.ID
		select {
		case <-h.release(c.ID):
			return pawl.Result{Content: "done " + string(c.ID)}, nil
		case <-ctx.Done():
			return pawl.Result{Content: "half " + string(c.ID)}, ctx.Err()
		}
	})
}

// entering waits for n calls to enter, and returns them in order of their ids.
func (h *hall) entering(t *testing.T, n int) []pawl.CallID {
	t.Helper()
	var ids []pawl.CallID
	for range n {
		ids = append(ids, receive(t, h.entered, "a call that runs"))
	}
	slices.Sort(ids)
	select {
	case id := <-h.entered:
		t.Errorf("%s runs beside %v", id, ids)
	default:
	}
	return ids
}

// callLine is a reply with these calls: r reads, w writes.
func callLine(kinds string) string {
	var calls []string
	for _, k := range kinds {
		calls = append(calls, fmt.Sprintf(`{"name":"%c"}`, k))
	}
	return `{"calls":[` + strings.Join(calls, ",") + `]}`
}

func TestReadsRunTogetherAndWritesAlone(t *testing.T) {
	t.Parallel()
	tests := []struct {
		calls  string
		groups []int // how many run at once, in order
	}{
		{"r", []int{1}},
		{"rrr", []int{3}},
		{"ww", []int{1, 1}},
		{"rrwrr", []int{2, 1, 2}},
		{"wrrw", []int{1, 2, 1}},
		{"rwrwr", []int{1, 1, 1, 1, 1}},
		{strings.Repeat("r", maxParallel+2), []int{maxParallel, 2}},
	}
	for _, test := range tests {
		t.Run(test.calls, func(t *testing.T) {
			h := newHall()
			w := newEnv(t, setup{
				tools:  []toolapi.Tool{h.tool("r", pawl.AccessRead), h.tool("w", pawl.AccessWrite)},
				script: []string{callLine(test.calls), `{"text":"Ok."}`},
			})
			w.prompt("go")
			ended := make(chan error, 1)
			go func() {
				_, err := w.turn(t.Context())
				ended <- err
			}()
			for i, n := range test.groups {
				ids := h.entering(t, n)
				slices.Reverse(ids) // the last one ends first
				for k, id := range ids {
					close(h.release(id))
					if i+1 < len(test.groups) || k+1 < len(ids) {
						w.waitFor(func(b pawl.Body) bool { f, ok := b.(pawl.CallFinished); return ok && f.Call == id })
					}
				}
			}
			if err := receive(t, ended, "the turn's end"); err != nil {
				t.Fatal(err)
			}
			if most := slices.Max(test.groups); h.most != most {
				t.Errorf("%d ran at once, want %d", h.most, most)
			}
			var want pawl.Parts
			for i := range test.calls {
				id := pawl.CallID(fmt.Sprintf("call_1_%d", i+1))
				want = append(want, pawl.ToolResult{Call: id, Content: "done " + string(id)})
			}
			check(t, result(want...), w.conversation()[2])
			w.checkCalls()
		})
	}
}

// waitFor waits until the log holds such a body.
func (w *testEnv) waitFor(is func(pawl.Body) bool) {
	w.t.Helper()
	for e, err := range w.bus.Events(w.t.Context(), session, 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		if is(e.Body) {
			return
		}
	}
}

// checkCalls holds the invariant: every call has exactly one result, and a call
// that ran was in the log before.
func (w *testEnv) checkCalls() {
	w.t.Helper()
	asked, started, finished := map[pawl.CallID]int{}, map[pawl.CallID]int{}, map[pawl.CallID]int{}
	for _, e := range w.events() {
		switch b := e.Body.(type) {
		case pawl.Replied:
			for _, c := range b.Parts.Calls() {
				asked[c.ID]++
			}
		case pawl.CallStarted:
			started[b.Call]++
			if finished[b.Call] > 0 {
				w.t.Errorf("call %s began after its end", b.Call)
			}
		case pawl.CallFinished:
			finished[b.Call]++
			if b.Status == pawl.CallDone && started[b.Call] == 0 {
				w.t.Errorf("call %s ran and the log does not say when it began", b.Call)
			}
		default:
		}
	}
	for id, n := range asked {
		if n != 1 || finished[id] != 1 || started[id] > 1 {
			w.t.Errorf("call %s: asked %d times, started %d, finished %d", id, n, started[id], finished[id])
		}
	}
	check(w.t, len(asked), len(finished))
}
