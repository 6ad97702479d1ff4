package permission

import (
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// TestOfferVaried checks which commands a prompt offers to allow with any further words: those that
// build, test or check the project, in the sandbox, without risky options.
func TestOfferVaried(t *testing.T) {
	t.Parallel()
	escape := Call{Tool: "bash", Risk: toolapi.RiskDangerous, Access: []pawl.Access{{Kind: pawl.AccessEscape, Target: "go test ./..."}}}
	for name, tt := range map[string]struct {
		call    Call
		unboxed bool
		want    string
	}{
		"test":                {call: bash("go test ./... -run X"), want: "go test *"},
		"without words":       {call: bash("pytest"), want: "pytest *"},
		"another subcommand":  {call: bash("go generate ./..."), want: "go generate ./..."},
		"deletes":             {call: bash("rm -rf build"), want: "rm -rf build"},
		"a risky option":      {call: bash("go test -exec ./x"), want: ""},
		"outside the sandbox": {call: escape, want: "go test ./..."},
		"without a sandbox":   {call: bash("go test ./..."), unboxed: true, want: "go test ./..."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Policy{Mode: ModeAsk, Sandboxed: !tt.unboxed, Dir: "/work/project", Home: "/home/me"}
			got := ""
			for _, r := range Decide(p, tt.call).Offer {
				got += r.Pattern
			}
			if got != tt.want {
				t.Errorf("offers %q, want %q", got, tt.want)
			}
		})
	}
}
