package hook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/hook"
)

// A hook of Pawl itself is a function like this in a file of this package, and a line in Builtins.Hooks.
func noForcePush() hook.Hook {
	return hook.Hook{
		Name:     "no-force-push",
		Priority: hook.PriorityGuard, // lowest first: hooks that rewrite run before hooks that guard
		Points:   []hook.Point{hook.ToolBefore},
		Match:    func(e hook.Event) bool { return e.Tool == "bash" },
		Run: func(_ context.Context, e hook.Event) (hook.Outcome, error) {
			var in struct {
				Command string `json:"command"`
			}
			if err := json.Unmarshal(e.Input, &in); err != nil {
				return hook.Outcome{}, err // denies the call; elsewhere Pawl reports it and runs the next hook
			}
			if strings.Contains(in.Command, "push --force") {
				return hook.Outcome{Block: true, Reason: "no force push: make a new commit instead"}, nil
			}
			return hook.Outcome{}, nil
		},
	}
}

func Example() {
	registry, err := hook.New(append(hook.Builtins{}.Hooks(), noForcePush())...)
	if err != nil {
		panic(err)
	}
	for _, input := range []string{`{"command":"git push"}`, `{"command":"git push --force"}`} {
		outcome, err := registry.Run(context.Background(), hook.Event{Point: hook.ToolBefore, Tool: "bash", Input: json.RawMessage(input)})
		fmt.Println(outcome.Block, outcome.Reason, err)
	}
	// Output:
	// false  <nil>
	// true no force push: make a new commit instead <nil>
}
