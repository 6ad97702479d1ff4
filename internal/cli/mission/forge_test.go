package mission

import (
	"testing"
)

func TestProjectOf(t *testing.T) {
	t.Setenv("GH_HOST", "code.example.org")
	t.Setenv("GITLAB_HOST", "lab.example.org")
	for address, want := range map[string]project{
		"https://github.com/owner/name.git":         {forgeGitHub, "github.com", "owner/name"},
		"git@github.com:owner/name.git":             {forgeGitHub, "github.com", "owner/name"},
		"ssh://git@gitlab.com/group/sub/name":       {forgeGitLab, "gitlab.com", "group/sub/name"},
		"https://gitlab.example.org/group/name.git": {forgeGitLab, "gitlab.example.org", "group/name"},
		"https://www.github.com/owner/name":         {forgeGitHub, "www.github.com", "owner/name"},
		"https://code.example.org/owner/name":       {forgeGitHub, "code.example.org", "owner/name"},
		"https://lab.example.org/owner/name":        {forgeGitLab, "lab.example.org", "owner/name"},
		"https://evil.example.github.com.org/a/b":   {},
		"https://mygithub.com/owner/name":           {},
		"https://github.com/owner":                  {},
		"/srv/git/name.git":                         {},
		"ext::sh -c x":                              {},
	} {
		got, ok := projectOf(address)
		if want == (project{}) && ok || want != (project{}) && (got != want || !ok) {
			t.Errorf("%s: %+v, %v", address, got, ok)
		}
	}
}

func TestShellLine(t *testing.T) {
	t.Parallel()
	if got, want := shellLine("gh", "--title", "it's $(x) `y`", "a-b"), `gh --title "it's \$(x) \`+"`y\\`"+`" a-b`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
