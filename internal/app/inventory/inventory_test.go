package inventory

import (
	"os/exec"
	"testing"

	"pgregory.net/rapid"
)

// TestShellQuote checks that a shell reads a quoted path as the path itself.
func TestShellQuote(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"/a/b-c_1.x": "/a/b-c_1.x", "/a b": "'/a b'", "/it's": `'/it'\''s'`, "/$(x)": "'/$(x)'", "/ü": "'/ü'"} {
		if got := shellQuote(path); got != want {
			t.Errorf("%s is %s", path, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		path := "/" + rapid.StringMatching(`[ -~]{0,20}`).Draw(t, "path")
		out, err := exec.Command("sh", "-c", "printf %s "+shellQuote(path)).Output() //nolint:gosec // that is the point
		if err != nil || string(out) != path {
			t.Errorf("%q is read as %q: %v", path, out, err)
		}
	})
}

// TestSummary checks the counts and that each reason is named once.
func TestSummary(t *testing.T) {
	t.Parallel()
	v := &Inventory{Items: []Item{{Kind: Agents, Active: true}}}
	for _, step := range []struct {
		add  Item
		want string
	}{
		{Item{Kind: Hooks, Source: BuiltIn, Active: true}, "1 active"},
		{Item{Kind: Skills, Reason: notTrusted}, "1 active, 1 inactive (project not trusted)"},
		{Item{Kind: Rules, Reason: notTrusted}, "1 active, 2 inactive (project not trusted)"},
		{Item{Kind: MCP, Reason: "disabled"}, "1 active, 3 inactive (project not trusted; disabled)"},
	} {
		v.Items = append(v.Items, step.add)
		if got := v.WithoutInternal().Summary(); got != step.want {
			t.Errorf("the summary is %q, want %q", got, step.want)
		}
	}
}
