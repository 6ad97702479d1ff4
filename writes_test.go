package pawl

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrites(t *testing.T) {
	t.Parallel()
	start := func(id CallID, access ...Access) Body { return CallStarted{Call: id, Access: access} }
	var w Writes
	for _, b := range []Body{
		start("a", Access{AccessWrite, "b.go"}, Access{AccessRead, "c.go"}, Access{AccessWrite, "a.go"}), finished("a", ""),
		start("b", Access{AccessWrite, "failed.go"}), CallFinished{Call: "b", Result: Result{Content: "no", IsError: true}},
		start("c", Access{AccessExec, "touch x"}), finished("c", ""),
		start("d", Access{AccessWrite, "a.go"}, Access{AccessWrite, "d.go"}), finished("d", ""),
		start("e", Access{AccessWrite, "running.go"}),
		TurnFinished{},
	} {
		w.Add(b)
	}
	if diff := cmp.Diff([]string{"b.go", "a.go", "d.go"}, w.Paths()); diff != "" {
		t.Error(diff)
	}
}
