package transcript

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

func TestWrites(t *testing.T) {
	t.Parallel()
	write := func(path string) pawl.Access { return pawl.Access{Kind: pawl.AccessWrite, Target: path} }
	start := func(id pawl.CallID, access ...pawl.Access) pawl.Body {
		return pawl.CallStarted{Call: id, Access: access}
	}
	finished := func(id pawl.CallID) pawl.Body { return pawl.CallFinished{Call: id} }
	var w writes
	for _, b := range []pawl.Body{
		start("a", write("b.go"), pawl.Access{Kind: pawl.AccessRead, Target: "c.go"}, write("a.go")), finished("a"),
		start("b", write("failed.go")), pawl.CallFinished{Call: "b", Result: pawl.Result{Content: "no", IsError: true}},
		start("c", pawl.Access{Kind: pawl.AccessExec, Target: "touch x"}), finished("c"),
		start("d", write("a.go"), write("d.go")), finished("d"),
		start("e", write("running.go")),
		pawl.TurnFinished{},
	} {
		w.add(b)
	}
	if diff := cmp.Diff([]string{"b.go", "a.go", "d.go"}, w.paths); diff != "" {
		t.Error(diff)
	}
}
