//go:build sectest

package hook_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// TestWeakened: each attack of these gets through once its defense is taken out,
// and only then.
func TestWeakened(t *testing.T) { //nolint:paralleltest // it turns a defense off
	project := hook.Origin{File: "/w/.claude/settings.json", Layer: hook.LayerProject}
	for _, test := range []struct {
		defense string
		through func(w *env) bool
	}{
		{"hook.trust", func(w *env) bool {
			hooks, _ := w.load(config("SessionStart", "", "touch canary", ""), project, false)
			w.run(w.sample("SessionStart"), hooks...)
			_, err := os.Stat(filepath.Join(w.dir, "canary"))
			return err == nil
		}},
		{"hook.failclosed", func(w *env) bool {
			hooks, _ := w.load(config("PreToolUse", "", "kill -9 $$", ""), project, true)
			return !w.run(w.sample("PreToolUse"), hooks...).Block
		}},
		{"hook.access", func(w *env) bool {
			e := w.sample("PreToolUse")
			e.Agent, e.Tool, e.Touches, e.Access = "planner", "write", pathOf, []pawl.Access{{Kind: pawl.AccessWrite, Target: "docs/a"}}
			guard := hook.StrictRoleGuard(map[string]hook.Role{"planner": {Tools: []string{"write"}, Writes: []string{"docs/**"}}})
			return !w.run(e, does("changes", 1, hook.ToolBefore, hook.Outcome{Input: json.RawMessage(`{"path":"main.go"}`)}), guard).Block
		}},
		{"hook.allow", func(w *env) bool {
			x := hook.External{Point: hook.ToolBefore, Command: allow("PreToolUse"), CanAllow: true, Origin: project}
			hooks, _ := hook.Outside{Runner: w.runner, Trusted: true}.Hooks([]hook.External{x})
			o := w.run(w.sample("PreToolUse"), hooks...)
			return hook.Ruling{Decision: hook.Ask}.With(o.Decision) == hook.Allow
		}},
	} {
		t.Run(test.defense, func(t *testing.T) {
			if test.through(newEnv(t)) {
				t.Error("it gets through in any case")
			}
			defer defense.Disable(test.defense)()
			if !test.through(newEnv(t)) {
				t.Error("it does not get through without the defense: the test shows nothing")
			}
		})
	}
}
