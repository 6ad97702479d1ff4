//go:build e2e

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/harness"
)

// TestTutorial runs the shell blocks of the tutorials that need no API key, in their order and in one shell.
func TestTutorial(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		page     string
		sections []string // the headings whose blocks are run
		want     []string // lines of the output, in this order
	}{
		"without a key": {"getting-started.md", []string{"## 3. ", "## Without an API key"}, []string{"7", "10", "7", "one", "two", "three"}},
		"mission":       {"first-mission.md", []string{"## "}, []string{"done"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "tutorial", tt.page))
			if err != nil {
				t.Fatal(err)
			}
			base := t.TempDir()
			home := filepath.Join(base, "home")
			if err := os.Mkdir(home, 0o700); err != nil {
				t.Fatal(err)
			}
			script := strings.ReplaceAll(sectionBlocks(string(text), tt.sections), "/tmp/", base+"/")
			script = strings.Replace(script, "sleep 3\n", "until grep -qs two steps.txt $HOME/data/transactions/*/upper/steps.txt; do sleep 0.1; done\n", 1) // 3 s may be too short here
			cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
			cmd.Dir = base
			cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", "XDG_DATA_HOME=", "PAWL_DATA="+filepath.Join(home, "data"), "CI=",
				"PATH="+filepath.Dir(harness.Binary(t, ""))+":"+os.Getenv("PATH"), "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@localhost", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@localhost")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Logf("the script ended with %v", err)
			}
			rest := tt.want
			for line := range strings.Lines(string(out)) {
				if len(rest) > 0 && strings.TrimSpace(line) == rest[0] {
					rest = rest[1:]
				}
			}
			if len(rest) > 0 || strings.HasSuffix(string(out), "late\n") {
				t.Errorf("the lines %q are missing in:\n%s", rest, out)
			}
			if strings.Contains(string(out), "--help` for usage") || strings.Contains(string(out), "command not found") {
				t.Errorf("a command is wrong:\n%s", out)
			}
		})
	}
}

// sectionBlocks returns the shell blocks below the headings that begin with one of the prefixes.
func sectionBlocks(page string, headings []string) string {
	var out strings.Builder
	on, block := false, false
	for line := range strings.Lines(page) {
		switch {
		case block && strings.HasPrefix(line, "```"):
			block = false
		case block:
			out.WriteString(line)
		case strings.HasPrefix(line, "## "):
			on = false
			for _, h := range headings {
				on = on || strings.HasPrefix(line, h)
			}
		case on && strings.HasPrefix(line, "```sh"):
			block = true
		}
	}
	return out.String()
}
