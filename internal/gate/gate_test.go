package gate

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each story is a change to a real small project, and the gate's word on it.
func TestStories(t *testing.T) {
	paths, err := filepath.Glob("testdata/[ch]*/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("there are no stories", err)
	}
	for _, path := range paths {
		s := readStory(t, path)
		t.Run(filepath.Base(filepath.Dir(path))+"/"+s.name, func(t *testing.T) {
			t.Parallel()
			o := newWorld(t).play(s)
			want := slices.Sorted(slices.Values(s.keys["reject"]))
			if diff := cmp.Diff(want, rules(o)); diff != "" {
				t.Errorf("refused for other reasons than it should be:\n%s", diff)
				for _, f := range o.Faults {
					t.Log(f.Rule, f.Item, f.Text)
				}
			}
		})
	}
}
