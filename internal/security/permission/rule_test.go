package permission

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

func TestParseRules(t *testing.T) {
	t.Parallel()
	text := `[
	  {"tool":"bash","pattern":"git push *","decision":"ask","match":["git push origin x","cd a; sudo git push"],"not_match":["git pull"]},
	  {"kind":"write","pattern":"docs/**","decision":"allow","match":["docs/a/b.md"],"not_match":["docs.md","/docs/a"]},
	  {"kind":"net","pattern":"*.golang.org","decision":"allow","match":["https://pkg.golang.org/x"],"not_match":["golang.org","golang.org.evil.test"]},
	  {"kind":"read","pattern":"~/.aws/","decision":"deny","match":["~/.aws","~/.AWS/credentials"]},
	  {"tool":"webfetch","decision":"deny"}
	]`
	got, err := ParseRules(json.RawMessage(text), OriginUser)
	if err != nil {
		t.Fatal(err)
	}
	want := user(
		Rule{Tool: "bash", Pattern: "git push *", Decision: Ask, Match: []string{"git push origin x", "cd a; sudo git push"}, NotMatch: []string{"git pull"}},
		Rule{Kind: "write", Pattern: "docs/**", Decision: Allow, Match: []string{"docs/a/b.md"}, NotMatch: []string{"docs.md", "/docs/a"}},
		Rule{Kind: "net", Pattern: "*.golang.org", Decision: Allow, Match: []string{"https://pkg.golang.org/x"}, NotMatch: []string{"golang.org", "golang.org.evil.test"}},
		Rule{Kind: "read", Pattern: "~/.aws/", Decision: Deny, Match: []string{"~/.aws", "~/.AWS/credentials"}},
		Rule{Tool: "webfetch", Decision: Deny},
	)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if rules, err := ParseRules(nil, OriginUser); rules != nil || err != nil {
		t.Errorf("no rules: %v, %v", rules, err)
	}
}

func TestWrongRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{`{}`, "cannot unmarshal"},
		{`[{"tool":"bash","patern":"x","decision":"ask"}]`, `unknown key "patern"`},
		{`[{"tool":"bash","Pattern":"x","decision":"ask"}]`, `unknown key "Pattern"`},
		{`[{"tool":"bash","pattern":"x","decision":"ask","decision":"allow"}]`, `duplicate key "decision"`},
		{`[{"tool":"bash","pattern":"x","decision":"ask","origin":"user"}]`, `unknown key "origin"`},
		{`[{"tool":"bash","pattern":"x"}]`, `unknown decision ""`},
		{`[{"tool":"bash","pattern":"x","decision":"Allow"}]`, `unknown decision "Allow"`},
		{`[{"pattern":"x","decision":"ask"}]`, "kind is missing"},
		{`[{"decision":"deny"}]`, "tool or kind is missing"},
		{`[{"tool":"mcp_x","pattern":"x","decision":"allow"}]`, "kind is missing"},
		{`[{"kind":"edit","pattern":"x","decision":"ask"}]`, `unknown kind "edit"`},
		{`[{"kind":"net","decision":"allow"}]`, "say what it allows"},
		{`[{"tool":"x","decision":"deny","match":["a"]}]`, "examples need a pattern"},
		{`[{"kind":"read","pattern":"[","decision":"deny"}]`, "it is not a valid glob pattern"},
		{`[{"kind":"read","pattern":"~/../etc","decision":"deny"}]`, `it contains ".."`},
		{`[{"kind":"read","pattern":"../x","decision":"deny"}]`, `it contains ".."`},
		{`[{"kind":"read","pattern":"~bob/x","decision":"deny"}]`, "only your own home directory"},
		{`[{"kind":"read","pattern":"` + strings.Repeat("{a,a}", 40) + `b","decision":"deny"}]`, "more than 4 braces"},
		{`[{"kind":"read","pattern":"{a,b}{a,b}{a,b}{a,b}{a,b}","decision":"deny"}]`, "more than 4 braces"},
		{`[{"kind":"read","pattern":"{` + strings.Repeat("a,", 40) + `b}","decision":"deny"}]`, "or 32 commas"},
		{`[{"kind":"read","pattern":"` + strings.Repeat("a", 5000) + `","decision":"deny"}]`, "longer than 4096 bytes"},
		{`[{"kind":"net","pattern":"https://go.dev","decision":"deny"}]`, "use a host"},
		{`[{"kind":"net","pattern":"go*.dev","decision":"deny"}]`, "use a host"},
		{`[{"kind":"net","pattern":"*.10.0.0.1","decision":"deny"}]`, "an IP address has no subdomains"},
		{`[{"kind":"net","pattern":"a..b","decision":"deny"}]`, "it is not a host name"},
		{`[{"tool":"bash","pattern":"git * push","decision":"deny"}]`, "a * is only allowed at the end"},
		{`[{"tool":"bash","pattern":"git pu*","decision":"deny"}]`, "a * can only stand for all further words"},
		{`[{"tool":"bash","pattern":"git $x","decision":"deny"}]`, "a variable"},
		{`[{"tool":"bash","pattern":"git; rm","decision":"deny"}]`, "it is not a list of words"},
		{`[{"tool":"bash","pattern":"git # push","decision":"deny"}]`, "is not a word"},
		{`[{"tool":"bash","pattern":"git\npush","decision":"deny"}]`, "more than one line"},
		{`[{"tool":"bash","pattern":"git 'push","decision":"deny"}]`, "it is not a list of words"},
		// A wrong example names the rule and itself.
		{`[{"tool":"bash","pattern":"ls","decision":"allow"},{"tool":"bash","pattern":"git push *","decision":"allow","match":["git pull"]}]`,
			`rule 2, allow bash "git push *": the pattern does not match its example "git pull"`},
		{`[{"tool":"bash","pattern":"ls *","decision":"allow","match":["ls; rm x"]}]`, `does not match its example "ls; rm x"`},
		{`[{"tool":"bash","pattern":"rm *","decision":"deny","not_match":["ls; sudo rm x"]}]`, `the pattern matches "ls; sudo rm x", which`},
		{`[{"kind":"net","pattern":"x.org","decision":"allow","match":["x.org.evil.test"]}]`, `does not match its example`},
		{`[{"kind":"read","pattern":"a","decision":"allow","match":[""]}]`, `does not match its example ""`},
	} {
		_, err := ParseRules(json.RawMessage(tt.text), OriginUser)
		if !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.text, err, tt.want)
		}
	}
	many := "[" + strings.Repeat(`{"kind":"net","decision":"deny"},`, maxRules) + `{"kind":"net","decision":"deny"}]`
	if _, err := ParseRules(json.RawMessage(many), OriginUser); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("too many rules: %v", err)
	}
}

// TestOfferable: what a click may not grant, though a person edited it.
func TestOfferable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rule Rule
		want string // "" means that it may
	}{
		{Rule{Tool: "bash", Pattern: "go test *", Decision: Allow}, ""},
		{Rule{Tool: "bash", Pattern: "sed -n 1p x", Decision: Allow}, ""},
		{Rule{Kind: "write", Pattern: "docs/**", Decision: Allow}, ""},
		{Rule{Kind: "read", Pattern: "~/notes/", Decision: Allow}, ""},
		{Rule{Kind: "net", Pattern: "*.golang.org", Decision: Allow}, ""},
		{Rule{Tool: "mcp_x", Decision: Allow}, ""},
		{Rule{Tool: "bash", Pattern: "go test *", Decision: Deny}, "does not allow"},
		{Rule{Tool: "bash", Pattern: "*", Decision: Allow}, "all commands"},
		{Rule{Tool: "bash", Pattern: "python3 -m pytest", Decision: Allow}, "runs any command"},
		{Rule{Tool: "bash", Pattern: "/bin/bash -c ls", Decision: Allow}, "runs any command"},
		{Rule{Tool: "bash", Pattern: "Sudo ls", Decision: Allow}, "runs any command"},
		{Rule{Tool: "bash", Pattern: "make *", Decision: Allow}, "runs any command"},
		{Rule{Tool: "bash", Pattern: "sed *", Decision: Allow}, ""}, // its * covers printing only
		{Rule{Tool: "bash", Pattern: "export *", Decision: Allow}, "changes what later"},
		{Rule{Tool: "bash", Pattern: "./x *", Decision: Allow}, "may change"},
		{Rule{Tool: "bash", Pattern: "git push --force", Decision: Allow}, "may run a program"},
		{Rule{Tool: "bash", Kind: "escape", Pattern: "node x", Decision: Allow}, "runs any command"},
		{Rule{Tool: "bash", Decision: Allow}, "does not say what"},
		{Rule{Kind: "write", Pattern: "**", Decision: Allow}, "the whole workspace"},
		{Rule{Kind: "write", Pattern: "*.md", Decision: Allow}, "the whole workspace"},
		{Rule{Kind: "write", Pattern: "~/**", Decision: Allow}, "the whole workspace"},
		{Rule{Kind: "write", Pattern: "~/", Decision: Allow}, "the whole workspace"},
		{Rule{Kind: "write", Pattern: "docs/*.md", Decision: Allow}, ""},
		{Rule{Kind: "write", Pattern: "/**", Decision: Allow}, "the whole workspace"},
		{Rule{Kind: "write", Pattern: ".", Decision: Allow}, "the whole workspace"},
		{Rule{Kind: "write", Pattern: "**/x", Decision: Allow}, "the whole workspace"},
		{Rule{Kind: "read", Pattern: "/", Decision: Allow}, "the whole workspace"},
		{Rule{Kind: "write", Pattern: "a/.Vscode/*", Decision: Allow}, "protected"},
		{Rule{Kind: "net", Pattern: "*", Decision: Allow}, "all hosts"},
		{Rule{Kind: "net", Pattern: "*.org", Decision: Allow}, "all hosts"},
		{Rule{Kind: "net", Pattern: "x.org", Decision: Allow, Match: []string{"x.org"}}, "examples"},
		{Rule{Kind: "write", Pattern: "a\u202e", Decision: Allow}, "invisible characters"},
		{Rule{Pattern: "x", Decision: Allow}, "kind is missing"},
	} {
		err := Offerable(tt.rule)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.rule, err, tt.want)
		}
	}
}
