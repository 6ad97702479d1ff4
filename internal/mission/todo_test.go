package mission

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
)

var plan = pawl.Plan{Tasks: []pawl.Task{
	{ID: "T1", Title: "Write the parser", Detail: "By hand.\n\nNo library.", Files: []string{"parse/", "x*.go"}, Accept: []string{"it reads the example"}, Size: "M"},
	{ID: "T2", Title: "Use it", After: []string{"T1"}},
}}

func TestWrite(t *testing.T) {
	t.Parallel()
	want := `# Mission: read the files

<!-- You can edit titles, details, order and lists; Pawl reads them. Only Pawl checks off tasks. -->

- [x] **T1**: Write the parser
  > By hand.
  >
  > No library.
  - owns: ` + "`parse/`" + `
  - owns: ` + "`x*.go`" + `
  - accept: it reads the example
  - size: M
  - state: merged

- [ ] **T2**: Use it
  - after: T1
`
	got := Write("read\nthe files", plan, map[string]State{"T1": Merged})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	edited := "# Mission: x\r\n\r\n* [X] **T2**: Use it  \r\n  - after: T1,\r\n- [ ] **T1**: Write the parser\n  - owns: parse/\n  - state: working\n"
	got, err := Read(edited)
	if err != nil {
		t.Fatal(err)
	}
	want := pawl.Plan{Tasks: []pawl.Task{{ID: "T2", Title: "Use it", After: []string{"T1"}}, {ID: "T1", Title: "Write the parser", Files: []string{"parse/"}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for name, test := range map[string]struct{ text, want string }{
		"words before a task": {"hello\n", "line 1"},
		"words in a task":     {"- [ ] **T1**: a\nhello\n", "line 2"},
		"an unknown key":      {"- [ ] **T1**: a\n  - color: red\n", "line 2"},
		"no tasks":            {"# Mission: x\n", "has 0"},
		"unknown before":      {"- [ ] **T1**: a\n  - after: T9\n", `after task "T9"`},
		"line of that":        {"- [ ] **T1**: a\n\n- [ ] **T2**: b\n  - after: T9\n", "line 3: "},
		"line of a duplicate": {"- [ ] **T1**: a\n- [ ] **T1**: b\n", "line 2: "},
		"line of a bad size":  {"# x\n- [ ] **T1**: a\n  - size: XL\n", "line 2: "},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Read(test.text); !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// Whatever a plan says, it says the same when it is read back.
func TestReadsWhatItWrites(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-z*|#>\x60\[\]-]{1,8}( [a-z]{1,5})?`)
	rapid.Check(t, func(t *rapid.T) {
		var p pawl.Plan
		for i := range rapid.IntRange(1, 5).Draw(t, "tasks") {
			task := pawl.Task{ID: "T" + string(rune('1'+i)), Title: word.Draw(t, "title"), Accept: rapid.SliceOfN(word, 0, 2).Draw(t, "accept")}
			task.Detail = strings.Join(rapid.SliceOfN(rapid.OneOf(word, rapid.Just("")), 0, 3).Draw(t, "detail"), "\n")
			task.Files = rapid.SliceOfN(rapid.SampledFrom([]string{"a/", "b.go", "c/*.go"}), 0, 2).Draw(t, "files")
			if i > 0 && rapid.Bool().Draw(t, "after") {
				task.After = []string{p.Tasks[i-1].ID}
			}
			p.Tasks = append(p.Tasks, task)
		}
		states := map[string]State{"T1": rapid.SampledFrom([]State{"", Working, Merged}).Draw(t, "state")}
		got, err := Read(Write("goal", p, states))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(normal(p), normal(got)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// normal has no empty lists, and no blank lines at the ends of a detail.
func normal(p pawl.Plan) pawl.Plan {
	for i := range p.Tasks {
		t := &p.Tasks[i]
		t.Detail = strings.Trim(t.Detail, "\n")
		if len(t.Accept) == 0 {
			t.Accept = nil
		}
		if len(t.Files) == 0 {
			t.Files = nil
		}
	}
	return p
}
