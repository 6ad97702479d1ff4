//go:build sectest

package security

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// row is one published attack.
type row struct {
	id    string
	title string

	// attack plays it and reports each breach to the attackEnv.
	attack func(a *attackEnv)
	// defense is the one, or several with commas between, without which the
	// attack gets through; docs say what each name stands for.
	defense string
	// unbreakable says why there is no such defense to take out: a single call of
	// the standard library, say, or the absence of a feature.
	unbreakable string

	// owed is the part that is not built yet: the row is pending.
	owed string
	// elsewhere says why the row is not for this system.
	elsewhere string
}

// rows are all rows of the corpus, in its order.
var rows = slices.Concat(rowsA, rowsB, rowsC, rowsD, rowsE, rowsF, rowsG, rowsH, rowsI, rowsJ, rowsK, rowsL, rowsM, rowsN)

// sizes are how many rows each chapter has.
var sizes = []struct {
	chapter string
	rows    int
}{{"A", 20}, {"B", 24}, {"C", 24}, {"D", 7}, {"E", 17}, {"F", 13}, {"G", 8}, {"H", 15}, {"I", 18}, {"J", 29}, {"K", 55}, {"L", 11}, {"M", 31}, {"N", 11}}

// TestCorpusIsWhole: every row of the corpus is here once, and says what it is.
func TestCorpusIsWhole(t *testing.T) {
	t.Parallel()
	var want, got []string
	for _, c := range sizes {
		for n := 1; n <= c.rows; n++ {
			want = append(want, fmt.Sprint(c.chapter, n))
		}
	}
	for _, r := range rows {
		got = append(got, r.id)
		kinds := 0
		for _, is := range []bool{r.attack != nil, r.owed != "", r.elsewhere != ""} {
			if is {
				kinds++
			}
		}
		if kinds != 1 {
			t.Errorf("%s is to have an attack, or be owed, or be elsewhere", r.id)
		}
		if r.attack != nil && (r.defense == "") == (r.unbreakable == "") {
			t.Errorf("%s names no defense, or both a defense and why there is none", r.id)
		}
	}
	if !slices.Equal(want, got) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestCorpus plays the attacks.
func TestCorpus(t *testing.T) { //nolint:paralleltest // it turns a defense off
	var mu sync.Mutex
	count := map[string]int{}
	var pending, other []string
	note := func(kind string) {
		mu.Lock()
		defer mu.Unlock()
		count[kind]++
	}
	t.Run("rows", func(t *testing.T) {
		for _, r := range rows {
			switch {
			case r.owed != "":
				pending = append(pending, fmt.Sprintf("pending: %s %s: %s", r.id, r.title, r.owed))
			case r.elsewhere != "":
				other = append(other, fmt.Sprintf("not applicable: %s %s: %s", r.id, r.title, r.elsewhere))
			default:
				t.Run(r.id, func(t *testing.T) {
					t.Cleanup(func() {
						if t.Failed() {
							note("failed")
						} else {
							note("passed")
						}
					})
					a := newAttackEnv(t, "")
					r.attack(a)
					for _, b := range a.breaches {
						t.Errorf("%s: it got through: %s", r.title, b)
					}
				})
			}
		}
	})
	lines := slices.Concat(pending, other)
	lines = append(lines, fmt.Sprintf("corpus: %d passed, %d pending, %d not applicable, %d failed", count["passed"], len(pending), len(other), count["failed"]))
	report(t, "corpus.txt", lines)
}

// TestMutations takes the defense of each row out and plays it again.
func TestMutations(t *testing.T) { //nolint:paralleltest // it turns a defense off
	var mu sync.Mutex
	var red []string
	t.Run("rows", func(t *testing.T) {
		for _, r := range rows {
			if r.defense == "" {
				continue
			}
			t.Run(r.id, func(t *testing.T) {
				a := newAttackEnv(t, r.defense)
				r.attack(a)
				if len(a.breaches) == 0 {
					t.Errorf("%s: without %s it fails all the same: the row shows nothing", r.title, r.defense)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				red = append(red, fmt.Sprintf("red without %s: %s: %s", r.defense, r.id, firstLine(a.breaches[0])))
			})
		}
	})
	report(t, "mutations.txt", append(red, fmt.Sprintf("mutations: %d rows turn red", len(red))))
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// report leaves lines for whoever has started the tests, in the directory that
// PAWL_CORPUS_REPORT names.
func report(t *testing.T, name string, lines []string) {
	t.Helper()
	for _, line := range lines {
		t.Log(line)
	}
	dir := os.Getenv("PAWL_CORPUS_REPORT")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Error(err)
	}
}
