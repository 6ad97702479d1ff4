package sandbox

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestSeatbeltProfile: the policy is only read here, not run: there is no
// macOS to run it on.
func TestSeatbeltProfile(t *testing.T) {
	t.Parallel()
	g, err := newGuard(Profile{Protected: []string{"keep"}, Hidden: []string{".env*"}})
	if err != nil {
		t.Fatal(err)
	}
	pl := &plan{
		dir: "/Users/me/my \"project\"", temp: "/private/var/folders/x/pawl-box-1", extra: []string{"/Users/me/Library/Caches/go-build"}, guard: g,
		masks: []mask{{"/Users/me/.ssh", true}, {"/Users/me/.netrc", false}},
		parts: parts{
			readonly: []string{"/Users/me/my \"project\"/.git/config"}, pinned: []string{"/Users/me/my \"project\"/.git"},
			missing: []string{"/Users/me/my \"project\"/.mcp.json"}, absent: []string{"/Users/me/my \"project\"/.git/commondir"},
		},
	}
	readOnly := *pl
	readOnly.readOnly = true
	apart := *pl // with the workspace in it, and beside what can be written
	apart.apart, apart.readable = []mask{{"/Users/me", true}, {"/Users/you", true}}, []string{"/Users/you/repo/.git/objects", "/opt/objects"}
	for name, pl := range map[string]*plan{"seatbelt.sb": pl, "seatbelt-readonly.sb": &readOnly, "seatbelt-apart.sb": &apart} {
		got := seatbeltProfile(pl)
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		if strings.Count(got, "(") != strings.Count(got, ")")+strings.Count(got, `\(`)-strings.Count(got, `\)`) {
			t.Errorf("%s: the parentheses do not match", name)
		}
	}
}

// TestNameFilter: the expressions mean what they should.
func TestNameFilter(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, path string
		want       bool
	}{
		{".vscode", "/ws/.vscode", true},
		{".vscode", "/ws/.VSCode/settings.json", true},
		{".vscode", "/ws/a/b/.vscode/x", true},
		{".vscode", "/ws/.vscode2", false},
		{".vscode", "/ws/xvscode", false},
		{".vscode", "/other/.vscode", false},
		{".git/hooks", "/ws/sub/.git/hooks/pre-commit", true},
		{".git/hooks", "/ws/.git/hooksx", false},
		{".env*", "/ws/.env.local", true},
		{".env*", "/ws/.en", false},
	} {
		filter := nameFilter("/ws", test.name)
		text := strings.TrimSuffix(strings.TrimPrefix(filter, `(regex #"`), `")`)
		if got := regexp.MustCompile(text).MatchString(test.path); got != test.want {
			t.Errorf("%s on %s: %v", filter, test.path, got)
		}
	}
}
