package pawl_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
)

func TestPlanCheck(t *testing.T) {
	t.Parallel()
	good := pawl.Task{ID: "a", Title: "do it"}
	tests := map[string]struct {
		tasks []pawl.Task
		want  string // "" means that it is valid
	}{
		"one":       {[]pawl.Task{good}, ""},
		"in order":  {[]pawl.Task{good, {ID: "b", Title: "then", After: []string{"a"}, Files: []string{"a.go", "dir/", "x/*.go"}, Size: "M"}}, ""},
		"none":      {nil, "has 0"},
		"twice":     {[]pawl.Task{good, good}, "duplicate task"},
		"unknown":   {[]pawl.Task{{ID: "a", Title: "t", After: []string{"z"}}}, `after task "z"`},
		"itself":    {[]pawl.Task{{ID: "a", Title: "t", After: []string{"a"}}}, "wait for each other: a"},
		"circle":    {[]pawl.Task{good, {ID: "b", Title: "t", After: []string{"c"}}, {ID: "c", Title: "t", After: []string{"b"}}}, "wait for each other: b, c"},
		"id":        {[]pawl.Task{{ID: "../x", Title: "t"}}, "invalid task id"},
		"no title":  {[]pawl.Task{{ID: "a"}}, "needs a title"},
		"two lines": {[]pawl.Task{{ID: "a", Title: "a\nb"}}, "needs a title"},
		"outside":   {[]pawl.Task{{ID: "a", Title: "t", Files: []string{"../x"}}}, "cannot own"},
		"absolute":  {[]pawl.Task{{ID: "a", Title: "t", Files: []string{"/x"}}}, "cannot own"},
		"size":      {[]pawl.Task{{ID: "a", Title: "t", Size: "XL"}}, "use S, M or L"},
		"long":      {[]pawl.Task{{ID: "a", Title: "t", Detail: strings.Repeat("x", 9000)}}, "too long"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := pawl.Plan{Tasks: test.tasks}.Check()
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func TestPlanReady(t *testing.T) {
	t.Parallel()
	p := pawl.Plan{Tasks: []pawl.Task{
		{ID: "a", Title: "a", Files: []string{"x/"}},
		{ID: "b", Title: "b", Files: []string{"x/y.go"}},
		{ID: "c", Title: "c", After: []string{"a"}},
		{ID: "d", Title: "d"},
		{ID: "e", Title: "e", Files: []string{"z*"}},
	}}
	set := func(ids ...string) map[string]bool {
		m := map[string]bool{}
		for _, id := range ids {
			m[id] = true
		}
		return m
	}
	for _, test := range []struct {
		merged, running map[string]bool
		want            []string
	}{
		{set(), set(), []string{"a", "d", "e"}},
		{set(), set("a", "d"), []string{"e"}},
		{set("a"), set("e"), []string{"b", "c", "d"}},
		{set("a", "b", "c", "d", "e"), set(), nil},
	} {
		var got []string
		for _, task := range p.Ready(test.merged, test.running) {
			got = append(got, task.ID)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("merged %v, running %v:\n%s", test.merged, test.running, diff)
		}
	}
}

// TestPlanEnds checks that a valid plan ends whatever task ends first, and that two
// tasks that may own the same file do not run concurrently.
func TestPlanEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var p pawl.Plan
		names := []string{"a/", "a/b.go", "a/b/*.go", "c*", "c.go", "d"}
		for i := range rapid.IntRange(1, 12).Draw(t, "tasks") {
			task := pawl.Task{ID: string(rune('a' + i)), Title: "t", Files: rapid.SliceOfN(rapid.SampledFrom(names), 0, 3).Draw(t, "files")}
			for _, before := range p.Tasks {
				if rapid.Bool().Draw(t, "after") {
					task.After = append(task.After, before.ID)
				}
			}
			p.Tasks = slices.Insert(p.Tasks, rapid.IntRange(0, len(p.Tasks)).Draw(t, "at"), task)
		}
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		merged, running := map[string]bool{}, map[string]bool{}
		for len(merged) < len(p.Tasks) {
			for _, task := range p.Ready(merged, running) {
				for id := range running {
					if other, _ := p.Task(id); task.Overlaps(other) || other.Overlaps(task) {
						t.Fatalf("%s and %s run at once", task.ID, id)
					}
				}
				running[task.ID] = true
			}
			if len(running) == 0 {
				t.Fatalf("nothing runs, and %d of %d are merged", len(merged), len(p.Tasks))
			}
			var ids []string
			for id := range running {
				ids = append(ids, id)
			}
			slices.Sort(ids)
			done := rapid.SampledFrom(ids).Draw(t, "ends")
			delete(running, done)
			merged[done] = true
		}
	})
}
