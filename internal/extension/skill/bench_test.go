package skill_test

import (
	"fmt"
	"testing"

	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/extension/skill"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// BenchmarkDiscover finds a hundred skills, each with three files.
func BenchmarkDiscover(b *testing.B) {
	dir := b.TempDir()
	for i := range 100 {
		name := fmt.Sprintf("skill-%03d", i)
		put(b, dir, map[string]string{".agents/skills/" + name + "/SKILL.md": md(name, "Does it.", "Body."), ".agents/skills/" + name + "/a.md": "x", ".agents/skills/" + name + "/run.sh": "x"})
	}
	w, err := workspace.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	for b.Loop() {
		if set := skill.Discover(frontmatter.Sources{Project: frontmatter.Directory{Tree: w, Path: dir}, Trusted: trusted}); len(set.Skills) != 100 {
			b.Fatal(set.Show())
		}
	}
}
