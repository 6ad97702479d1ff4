package agent

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// ids is a shop that remembers who comes.
type ids struct {
	shop
	came []pawl.SessionID
}

func (s *ids) Tools(id pawl.SessionID, dir string, keep func(string) bool) []toolapi.Tool {
	s.came = append(s.came, id)
	return s.shop.Tools(id, dir, keep)
}

func (s *ids) Tool(ctx context.Context, id pawl.SessionID, dir, name string, keep func(string) bool) (toolapi.Tool, bool) {
	s.came = append(s.came, id)
	return s.shop.Tool(ctx, id, dir, name, keep)
}

func (s *ids) Notes(id pawl.SessionID, dir string) []string {
	s.came = append(s.came, id)
	return s.shop.Notes(id, dir)
}

// page has nothing that is not saved.
type page struct{}

func (page) Unsaved(context.Context, toolapi.OnDisk) (string, bool, error) { return "", false, nil }

// TestFront: what a person has open, and the servers that they have lent, are those
// of the session before them: a subagent has its parent's.
func TestFront(t *testing.T) {
	t.Parallel()
	for parent, want := range map[pawl.SessionID]pawl.SessionID{"": session, "01JD0000000000000000000009": "01JD0000000000000000000009"} {
		var got toolapi.Buffers
		spy := newTool("spy", pawl.AccessRead, func(_ context.Context, c toolapi.Call) (pawl.Result, error) {
			got = c.Buffers
			return pawl.Result{}, nil
		})
		servers := &ids{shop: shop{hidden: true}}
		w := newEnv(t, setup{parent: parent, tools: []toolapi.Tool{spy}, script: []string{`{"calls":[{"name":"spy"},{"name":"mcp__a__x","input":{}}]}`, isDone}})
		var asked []pawl.SessionID
		w.Servers = servers
		w.Buffers = func(id pawl.SessionID) toolapi.Buffers {
			asked = append(asked, id)
			return page{}
		}
		w.prompt("go")
		w.mustTurn(pawl.ReasonEndTurn)
		slices.Sort(servers.came)
		slices.Sort(asked)
		came := [][]pawl.SessionID{slices.Compact(servers.came), slices.Compact(asked)}
		if diff := cmp.Diff([][]pawl.SessionID{{want}, {want}}, came); diff != "" || got != (page{}) {
			t.Errorf("of %q (-want):\n%s\nbuffers: %v", parent, diff, got)
		}
	}
}
