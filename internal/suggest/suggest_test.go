package suggest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/suggest"
)

// TestName: a typo is matched, another word is not.
func TestName(t *testing.T) {
	t.Parallel()
	names := []string{"model", "small_model", "fallback", "sandbox"}
	for word, want := range map[string]string{
		"modell": "model", "models": "model", "MODEL": "model", "smallmodel": "small_model", "fallbacks": "fallback",
		"theme": "", "x": "", "": "", strings.Repeat("m", 999): "",
	} {
		if got := suggest.Name(word, names); got != want {
			t.Errorf("%.20s: %q, want %q", word, got, want)
		}
	}
	if got := suggest.Name("model", nil); got != "" {
		t.Errorf("of no names it is %q", got)
	}
}

// TestNames: sorted by distance, then by the order of the names, and limited in number.
func TestNames(t *testing.T) {
	t.Parallel()
	for word, want := range map[string][]string{
		"Build": {"build"}, "biuld": {"build"}, "review": {"review", "Reviews"}, "reviewx": {"Reviews", "review"}, "nothing": nil,
		"aaaaaa": {"aaaaab", "aaaaac", "aaaaad"},
	} {
		got := suggest.Names(word, []string{"build", "Reviews", "review", "aaaaab", "aaaaac", "aaaaad", "aaaaae"})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", word, diff)
		}
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"comit": ": did you mean /commit?", "fex": ": did you mean /fix or /fez?", "other": ""} {
		if got := suggest.Ask("/", word, []string{"commit", "fix", "fez"}); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}

func TestQuoted(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{"comit": `"/commit"`, "fex": `"/fix" or "/fez"`, "other": ""} {
		if got := suggest.Quoted("/", word, []string{"commit", "fix", "fez"}); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}

// TestOneSlip: any name is found after a single typo.
func TestOneSlip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z]{4,20}`).Draw(t, "name")
		at := rapid.IntRange(0, len(name)-1).Draw(t, "at")
		letter := rapid.StringMatching(`[a-z]`).Draw(t, "letter")
		slips := []string{name[:at] + name[at+1:], name[:at] + letter + name[at:], name[:at] + letter + name[at+1:]}
		if at > 0 {
			slips = append(slips, name[:at-1]+name[at:at+1]+name[at-1:at]+name[at+1:])
		}
		for _, word := range slips {
			if got := suggest.Name(word, []string{"0123456789", name}); got != name {
				t.Errorf("%q is taken for %q, not for %q", word, got, name)
			}
		}
	})
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"sonet", "sonnet", 1}, {"ab", "ba", 1}, {"cba", "abc", 2}, {"grün", "grun", 1}, {strings.Repeat("a", 257), "a", 258}} {
		if got := suggest.Distance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
