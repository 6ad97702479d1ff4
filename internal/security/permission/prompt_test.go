package permission

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

func TestPrompt(t *testing.T) {
	t.Parallel()
	run := func(command string, more ...pawl.Access) Call {
		return Call{Tool: "bash", Risk: toolapi.RiskDangerous, Access: append([]pawl.Access{{Kind: pawl.AccessExec, Target: command}}, more...)}
	}
	touch := func(tool string, kind pawl.AccessKind, targets ...string) Call {
		c := Call{Tool: tool, Risk: toolapi.RiskModerate}
		if kind == pawl.AccessRead {
			c.Risk = toolapi.RiskSafe
		}
		for _, target := range targets {
			c.Access = append(c.Access, pawl.Access{Kind: kind, Target: target})
		}
		return c
	}
	for name, tt := range map[string]struct {
		call          Call
		title, risk   string
		command, says string
	}{
		"a command":            {run("go test ./..."), "Run command", riskMedium, "go test ./...", ""},
		"one that deletes":     {run("make && rm -rf build"), "Run command", riskHigh, "make && rm -rf build", "Deletes files."},
		"not analyzable":       {run(`eval "$X"`), "Run command", riskHigh, `eval "$X"`, ""},
		"outside the sandbox":  {run("ls", pawl.Access{Kind: pawl.AccessEscape, Target: "ls"}), "Run command outside the sandbox", riskHigh, "ls", ""},
		"an edit":              {touch("edit", pawl.AccessWrite, "/w/src/cart.go"), "Edit cart.go", riskMedium, "", ""},
		"of a protected file":  {touch("edit", pawl.AccessWrite, "/w/.git/config"), "Edit config", riskHigh, "", ""},
		"several edits":        {touch("apply_patch", pawl.AccessWrite, "/w/a", "/w/b"), "Edit 2 files", riskMedium, "", ""},
		"a file elsewhere":     {touch("read", pawl.AccessRead, "/etc/hosts"), "Read hosts", riskLow, "", ""},
		"a host":               {touch("fetch", pawl.AccessNet, "example.com:443"), "Connect to example.com:443", riskMedium, "", ""},
		"invisible characters": {touch("edit", pawl.AccessWrite, "/w/a\u202eb"), `Edit a\u{202e}b`, riskMedium, "", ""},
		"a tool of a server":   {touch("db_query", pawl.AccessMCP, "db query 1"), "Use db_query", riskMedium, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := Decide(Policy{Mode: ModeAsk, Sandboxed: true, Dir: "/w", Home: "/home/ada"}, tt.call)
			ask := Prompt(tt.call, v)
			if ask.Title != tt.title || ask.Risk != tt.risk || ask.Command != tt.command {
				t.Errorf("title %q, risk %q, command %q; want %q, %q, %q", ask.Title, ask.Risk, ask.Command, tt.title, tt.risk, tt.command)
			}
			if ask.Reason == "" || !strings.Contains(ask.Reason, tt.says) {
				t.Errorf("reason %q, want one with %q", ask.Reason, tt.says)
			}
			if ask.Text != Show(tt.call, v) {
				t.Error("the text is not that of Show")
			}
		})
	}
}

func TestPromptDiff(t *testing.T) {
	t.Parallel()
	c := Call{Tool: "edit", Risk: toolapi.RiskModerate, Access: []pawl.Access{{Kind: pawl.AccessWrite, Target: "/w/a"}}, Input: json.RawMessage(`{}`), Change: "+x\n"}
	v := Decide(Policy{Mode: ModeAsk, Dir: "/w"}, c)
	if got := Prompt(c, v).Diff; got != "+x\n" {
		t.Errorf("diff %q", got)
	}
	c.Change = strings.Repeat("+x\n", maxPromptDiff)
	if ask := Prompt(c, v); ask.Diff != "" || len(ask.Text) < len(c.Change) {
		t.Errorf("a long diff has %d bytes in the prompt and the text %d", len(ask.Diff), len(ask.Text))
	}
}

func TestPromptChanges(t *testing.T) {
	t.Parallel()
	c := Call{Tool: "bash", Risk: toolapi.RiskDangerous, Access: []pawl.Access{{Kind: pawl.AccessExec, Target: "make"}}}
	v := Decide(Policy{Mode: ModeAsk, Sandboxed: true, Review: true, Dir: "/w"}, c)
	ask := PromptChanges(c, v, toolapi.Changes{Summary: "1 file changed", Diff: "+x\n"})
	if !ask.Ran || ask.Title != "Apply changes of command" || ask.Reason != "1 file changed" || ask.Diff != "+x\n" || ask.Command != "make" {
		t.Errorf("%+v", ask)
	}
	c.Access = []pawl.Access{{Kind: pawl.AccessSkill, Target: "github.com/a/b"}}
	if ask := PromptChanges(c, v, toolapi.Changes{}); ask.Ran || ask.Title != "Install skills" {
		t.Errorf("%+v", ask)
	}
}
