package skill_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/extension/skill"
)

// hundred is a set as large as people have.
func hundred() *skill.Set {
	s := &skill.Set{}
	for i := range 100 {
		s.Skills = append(s.Skills, skill.Skill{Name: fmt.Sprintf("skill-%03d", i), Description: strings.TrimSpace(strings.Repeat("Use this when something is to be done. ", 8))})
	}
	return s
}

func TestCatalog(t *testing.T) {
	t.Parallel()
	two := &skill.Set{Skills: []skill.Skill{{Name: "a", Description: "does a"}, {Name: "b", Description: strings.Repeat("long ", 100)}}}
	for _, tt := range []struct {
		set    *skill.Set
		budget int
		want   string
	}{
		{&skill.Set{}, 1000, ""},
		{two, 5000, "- a: does a\n- b: " + strings.Repeat("long ", 100) + "\n"},
		{two, 120, "- a: does a\n- b: " + strings.TrimSpace(strings.Repeat("long ", 16)) + "…\n"},
		{two, 20, "a, b\n"},
		{two, 3, ""},
		{hundred(), 130, "skill-000, skill-001, skill-002, skill-003, skill-004, skill-005 and 94 more: to search them, call skill with a word as the name\n"},
		{hundred(), 65, "100 skills: to search them, call skill with a word as the name\n"},
	} {
		if got := tt.set.Catalog(tt.budget); got != tt.want {
			t.Errorf("%d: %q", tt.budget, got)
		}
	}
	if got := hundred().Catalog(4000); len(got) < 3000 || len(got) > 4000 || strings.Count(got, "\n") != 100 {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

// TestCatalogFits: never over the budget, always text, the same each time, and
// with more space no less is said.
func TestCatalogFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		set := &skill.Set{}
		for i, d := range rapid.SliceOfN(rapid.StringMatching(`[a-zé漢 ]{0,300}`), 0, 40).Draw(t, "descriptions") {
			set.Skills = append(set.Skills, skill.Skill{Name: fmt.Sprintf("s%02d", i), Description: d})
		}
		budget := rapid.IntRange(-5, 4000).Draw(t, "budget")
		got := set.Catalog(budget)
		if len(got) > max(budget, 0) || !utf8.ValidString(got) || got != set.Catalog(budget) {
			t.Fatalf("%d of %d: %q", len(got), budget, got)
		}
		more := rapid.IntRange(0, 1000).Draw(t, "more")
		if longer := set.Catalog(budget + more); named(longer) < named(got) {
			t.Fatalf("with more bytes: %q, then %q", got, longer)
		}
	})
}

var name = regexp.MustCompile(`s\d\d`)

func named(text string) int { return len(name.FindAllString(text, -1)) }
