package tool

import (
	"encoding/json"
	"testing"

	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// TestSkillCommand: a command that only installs skills stands for a call of the skill tool.
// Any other command is one.
func TestSkillCommand(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]skillInput{
		"npx skills add alice/tools":                                             {Source: "alice/tools"},
		"npx -y skills add alice/tools":                                          {Source: "alice/tools"},
		"npx --yes skills@latest add alice/tools -y\n":                           {Source: "alice/tools"},
		"npx skills@1.7.4 add alice/tools --skill carve --skill polish -g --yes": {Source: "alice/tools", Name: "carve,polish"},
		"npx skills add alice/tools -s carve polish -a universal":                {Source: "alice/tools", Name: "carve,polish"},
		"npx skills add alice/tools@carve -y":                                    {Source: "alice/tools", Name: "carve"},
		"npx skills add 'alice/tools' --skill \"carve\"":                         {Source: "alice/tools", Name: "carve"},
		"npx skills add https://github.com/alice/tools.git":                      {Source: "https://github.com/alice/tools.git"},
		"npx skills add https://git.example.org:8443/alice/tools":                {Source: "https://git.example.org:8443/alice/tools"},
	} {
		if got, ok := skillCommand(command); !ok || got != want {
			t.Errorf("%q: %+v, %v", command, got, ok)
		}
	}
	for _, command := range []string{
		"", "npx", "npx skills", "npx skills add", "npx skills find carve", "npx skills remove alice/tools", "npx other add alice/tools", "npm skills add alice/tools",
		"npx skills add alice/tools; rm -rf .", "npx skills add alice/tools && make", "npx skills add alice/tools | cat", "npx skills add alice/tools > out", "npx skills add alice/tools\nmake",
		"npx skills add alice/tools &", "npx skills add $(cat x)", "npx skills add `cat x`", "npx skills add $OWNER/tools", "npx skills add alice/*", "npx skills add ~/tools", "A=1 npx skills add alice/tools",
		"npx skills add alice/tools --list", "npx skills add alice/tools --all", "npx skills add alice/tools --copy", "npx --package=x skills add alice/tools", "npx skills add alice/tools bob/tools",
		"npx skills add ./tools", "npx skills add /tmp/tools", "npx skills add file:///tmp/tools", "npx skills add git@github.com:alice/tools", "npx skills add http://github.com/alice/tools",
		"npx skills add alice/../mallory/tools", "npx skills add https://github.com/alice/../mallory/tools", "npx skills add https://alice@evil.com/alice/tools", "npx skills add аlice/tools",
		"npx skills add alice/tools\u00a0x", "npx skills add https://github.com/alice/tools/tree/main/skills", "cd x && npx skills add alice/tools", "sudo npx skills add alice/tools", "npx skills add alice/tools # x",
		"npx skills add 'alice/tools x'", "npx skills add alice'/tools'",
	} {
		if got, ok := skillCommand(command); ok {
			t.Errorf("%q: %+v", command, got)
		}
	}
}

// TestSkillCommands: the bash tool hands such a command over, and no other.
func TestSkillCommands(t *testing.T) {
	t.Parallel()
	skills := Skill(nil, nil)
	bash := SkillCommands(Bash(NewJobs(nil, noSandbox{})), skills)
	for input, want := range map[string]string{
		`{"command":"npx skills add alice/tools"}`:                    "skill",
		`{"command":"npx skills add alice/tools","unsandboxed":true}`: "skill",
		`{"command":"npx skills add alice/tools","background":true}`:  "bash",
		`{"command":"make"}`: "bash",
		`{"command":1}`:      "bash",
	} {
		meant, changed, err := bash.Means(t.Context(), json.RawMessage(input))
		if err != nil || meant.Name != want || (want == "bash") != (string(changed) == input) {
			t.Errorf("%s: %s %s, %v", input, meant.Name, changed, err)
		}
		if want == "skill" {
			if _, err := meant.Access(t.Context(), toolapi.Call{Input: changed}); err != nil {
				t.Errorf("%s: %v", changed, err)
			}
		}
	}
}

// TestSkillSources: the target of the permission names the host and owner that are fetched
// from, in one form.
func TestSkillSources(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]skillOrigin{
		"alice/tools":                              {"alice/tools", "github.com/alice/tools"},
		" alice/tools@v1#skills/carve ":            {"alice/tools@v1#skills/carve", "github.com/alice/tools@v1#skills/carve"},
		"https://github.com/alice/tools":           {"alice/tools", "github.com/alice/tools"},
		"https://GitHub.com/alice/tools.git/":      {"alice/tools", "github.com/alice/tools"},
		"https://github.com.evil.com/alice/tools":  {"https://github.com.evil.com/alice/tools", "github.com.evil.com/alice/tools"},
		"https://github.com:444/alice/tools":       {"https://github.com:444/alice/tools", "github.com:444/alice/tools"},
		"mallory/tools@alice/tools":                {"mallory/tools@alice/tools", "github.com/mallory/tools@alice/tools"},
		"https://git.example.org/alice/sub/tools/": {"https://git.example.org/alice/sub/tools", "git.example.org/alice/sub/tools"},
	} {
		if got, err := parseSkillSource(source); err != nil || got != want {
			t.Errorf("%q: %q, %v", source, got, err)
		}
	}
	for _, source := range []string{
		"", "alice", "alice/tools/x", "alice/..", "alice/.", "alice/../mallory/tools", "../alice/tools", "аlice/tools", "alice／tools", "alice/to ols",
		"https://alice@github.com/mallory/tools", "https://github.com@evil.com/alice/tools", "https://github.com/alice@evil.com/x/y/../z:1", "https://github.com/alice", "https://github.com//alice/tools",
		"https://github.com/alice%2f..%2fmallory/tools", "https://github.com/alice/tools?x=1", "https://github.com\\@evil.com/alice/tools", "http://github.com/alice/tools", "git://github.com/alice/tools",
		"ssh://git@github.com/alice/tools", "git@github.com:alice/tools", "file:///alice/tools", "ext::sh -c x", "https://github.com/alice/tools#../x", "-alice/tools", "https://github.com/alice/tools/tree/main",
	} {
		if got, err := parseSkillSource(source); err == nil {
			t.Errorf("%q is accepted: %q", source, got)
		}
	}
}
