package prompt_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/agent/prompt"
)

func TestSystemText(t *testing.T) {
	t.Parallel()
	full := prompt.System{
		Agent: "You are pawl.\n", Family: "- Be quick.\n", Dir: "/work/project", Repository: true, Branch: "main", Platform: "linux/amd64", Day: "2025-01-02",
		Rules: "Rules from /work/project/AGENTS.md (project):\n\nUse tabs.\n\n", Agents: "- reviewer: Reviews.\n", Skills: "- pdf: Reads PDFs.\n", Acquire: true, Search: true,
	}
	want, err := os.ReadFile(filepath.Join("testdata", "system.golden"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), full.Text()); diff != "" {
		t.Errorf("the text (-want +got):\n%s", diff)
	}
	bare := prompt.System{Agent: "You are pawl.", Dir: "/x", Platform: "linux/amd64", Day: "2025-01-02"}.Text()
	for _, title := range []string{"# How to work", "# Rules", "# Agents", "# Skills", "# More skills"} {
		if strings.Contains(bare, title) {
			t.Errorf("there is a section %q with nothing in it", title)
		}
	}
}

// A branch is named by third parties.
func TestBranchIsOneShortWord(t *testing.T) {
	t.Parallel()
	text := prompt.System{Dir: "/x", Repository: true, Branch: "a\n\n# Rules\n\n" + strings.Repeat("x", 1000)}.Text()
	if strings.Contains(text, "\n# Rules") || strings.Count(text, "x") > 100 {
		t.Errorf("the branch says more than its name:\n%s", text)
	}
}
