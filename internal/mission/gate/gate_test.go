//go:build cheats

package gate

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each story is a change to a real small project, and the gate's word on it. A
// cheat must be refused for its own reasons, an honest change must not be.
func TestStories(t *testing.T) {
	t.Parallel()
	var cheats, honest, sealed, rejected atomic.Int32
	t.Run("all", func(t *testing.T) {
		paths, err := filepath.Glob("testdata/[ch]*/*.txtar")
		if err != nil || len(paths) == 0 {
			t.Fatal("there are no stories", err)
		}
		kinds := map[string]int{}
		for _, path := range paths {
			s := readStory(t, path)
			kind := filepath.Base(filepath.Dir(path))
			kinds[kind]++
			t.Run(kind+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				o := newTestRepo(t).play(s)
				switch {
				case kind == "cheats" && o.Passed():
					sealed.Add(1)
				case kind == "honest" && !o.Passed():
					rejected.Add(1)
				}
				if kind == "cheats" {
					cheats.Add(1)
				} else {
					honest.Add(1)
				}
				compareRules(t, s, o)
			})
		}
		if kinds["cheats"] < 40 || kinds["honest"] < 20 {
			t.Errorf("there are fewer stories than there should be: %v", kinds)
		}
	})
	fmt.Printf("gate: %d of %d cheats sealed, %d of %d honest rejected\n", sealed.Load(), cheats.Load(), rejected.Load(), honest.Load())
}

func compareRules(t *testing.T, s story, o Outcome) {
	t.Helper()
	want := slices.Sorted(slices.Values(s.keys["reject"]))
	if diff := cmp.Diff(want, rules(o)); diff != "" {
		t.Errorf("refused for other reasons than it should be:\n%s", diff)
		for _, f := range o.Faults {
			t.Log(f.Rule, f.Item, f.Text)
		}
	}
}
