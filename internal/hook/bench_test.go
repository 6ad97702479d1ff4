package hook_test

import (
	"fmt"
	"testing"

	"github.com/pawl-dev/pawl/internal/hook"
)

// BenchmarkRun: what 20 hooks in Go, or one command, cost a call.
func BenchmarkRun(b *testing.B) {
	var hooks []hook.Hook
	for i := range 20 {
		hooks = append(hooks, does(fmt.Sprint(i), i, hook.ToolBefore, hook.Outcome{}))
	}
	commands, _ := hook.Outside{Runner: &plainRunner{}}.Hooks([]hook.External{{Point: hook.ToolBefore, Command: "exit 0", Origin: hook.Origin{Layer: hook.LayerUser}}})
	for name, hooks := range map[string][]hook.Hook{"20 in Go": hooks, "one command": commands} {
		b.Run(name, func(b *testing.B) {
			r, err := hook.New(hooks...)
			if err != nil {
				b.Fatal(err)
			}
			e := hook.Event{Point: hook.ToolBefore, Tool: "bash", Dir: b.TempDir(), Input: []byte(`{"command":"ls"}`)}
			for b.Loop() {
				if o, err := r.Run(b.Context(), e); err != nil || o.Block {
					b.Fatal(o, err)
				}
			}
		})
	}
}
