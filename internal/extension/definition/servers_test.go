package definition_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/extension/definition"
)

func TestIncludes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		list []string
		name string
		want bool
	}{
		{[]string{"read"}, "read", true},
		{[]string{"mcp__*"}, "read", false},
		{[]string{"mcp__*"}, "mcp__a__x", true},
		{[]string{"mcp__a"}, "mcp__a__x", true},
		{[]string{"mcp__a__*"}, "mcp__a__x", true},
		{[]string{"mcp__a__x"}, "mcp__a__x", true},
		{[]string{"mcp__a__x"}, "mcp__a__xy", false},
		{[]string{"mcp__a"}, "mcp__ab__x", false},
		{[]string{"mcp__a_b"}, "mcp__a_b__x", true},
		{[]string{"mcp__a"}, "mcp__a_b__x", false},
		{[]string{"mcp__a__x*"}, "mcp__a__xy", false}, // no name that means anything
		{[]string{"read", "*"}, "mcp__a__x", false},
		{[]string{"mcp__a__x"}, "mcp__a", true}, // any of its tools
		{[]string{"mcp__b__x"}, "mcp__a", false},
		{[]string{}, "mcp__a", false},
	} {
		if got := definition.Includes(test.list, test.name); got != test.want {
			t.Errorf("%v grants %s: %v", test.list, test.name, got)
		}
	}
}

func TestIntersect(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ a, b, want []string }{
		{nil, nil, []string{"mcp__*"}},
		{nil, []string{"read", "mcp__a"}, []string{"mcp__a"}},
		{[]string{"mcp__a", "mcp__b__x"}, []string{"mcp__a__y", "mcp__b", "bash"}, []string{"mcp__b__x", "mcp__a__y"}},
		{[]string{"read"}, nil, nil},
		{[]string{}, []string{"mcp__*"}, nil},
	} {
		if diff := cmp.Diff(test.want, definition.Intersect(test.a, test.b)); diff != "" {
			t.Errorf("%v and %v:\n%s", test.a, test.b, diff)
		}
	}
}

// The intersection of two lists includes no more than each of them, and no less than
// both.
func TestIntersectNarrows(t *testing.T) {
	t.Parallel()
	entries := rapid.SampledFrom([]string{"mcp__*", "mcp__a", "mcp__a__*", "mcp__a__x", "mcp__a__y", "mcp__b", "mcp__b__x", "read"})
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOf(entries).Draw(t, "a")
		b := rapid.SliceOf(entries).Draw(t, "b")
		both := definition.Intersect(a, b)
		for _, tool := range []string{"mcp__a__x", "mcp__a__y", "mcp__b__x", "mcp__b__z", "mcp__c__x"} {
			if got, want := definition.Includes(both, tool), definition.Includes(a, tool) && definition.Includes(b, tool); got != want {
				t.Fatalf("%v and %v have %s: %v, both (%v): %v", a, b, tool, want, both, got)
			}
		}
	})
}
