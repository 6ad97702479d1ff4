package mission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
)

// at is a task in a phase.
func at(id string, phase pawl.TaskPhase, after ...string) pawl.TaskState {
	return pawl.TaskState{Task: pawl.Task{ID: id, Title: "Do " + id, After: after}, Phase: phase}
}

// owns has a task own files.
func owns(t pawl.TaskState, files ...string) pawl.TaskState {
	t.Task.Files = files
	return t
}

func mission(workers int, tasks ...pawl.TaskState) *pawl.Mission {
	return &pawl.Mission{Order: pawl.MissionOrder{Goal: "goal", Workers: workers}, Tasks: tasks}
}

func TestReady(t *testing.T) {
	t.Parallel()
	tired := mission(3, at("T1", pawl.PhaseQueued), at("T2", pawl.PhaseQueued))
	tired.Attempts = pawl.MissionAttempts - 1
	for name, test := range map[string]struct {
		m    *pawl.Mission
		want string
	}{
		"nothing is there":        {mission(3), ""},
		"nobody asked":            {mission(3, at("T1", pawl.PhasePlanned)), ""},
		"it came back":            {mission(3, at("T1", pawl.PhaseReturned)), ""},
		"all at once":             {mission(3, at("T1", pawl.PhaseQueued), at("T2", pawl.PhaseQueued)), "T1 T2"},
		"no more than slots":      {mission(2, at("T1", pawl.PhaseQueued), at("T2", pawl.PhaseQueued), at("T3", pawl.PhaseQueued)), "T1 T2"},
		"some slots are taken":    {mission(2, at("T1", pawl.PhaseRunning), at("T2", pawl.PhaseQueued), at("T3", pawl.PhaseQueued)), "T2"},
		"all slots are taken":     {mission(1, at("T1", pawl.PhaseRunning), at("T2", pawl.PhaseQueued)), ""},
		"after what is merged":    {mission(3, at("T1", pawl.PhaseMerged), at("T2", pawl.PhaseQueued, "T1")), "T2"},
		"after what runs":         {mission(3, at("T1", pawl.PhaseRunning), at("T2", pawl.PhaseQueued, "T1")), ""},
		"after what is planned":   {mission(3, at("T1", pawl.PhasePlanned), at("T2", pawl.PhaseQueued, "T1")), ""},
		"after what came back":    {mission(3, at("T1", pawl.PhaseReturned), at("T2", pawl.PhaseQueued, "T1")), ""},
		"files of one that runs":  {mission(3, owns(at("T1", pawl.PhaseRunning), "a/"), owns(at("T2", pawl.PhaseQueued), "a/b.go"), owns(at("T3", pawl.PhaseQueued), "c.go")), "T3"},
		"files of one that waits": {mission(3, owns(at("T1", pawl.PhaseQueued), "a/"), owns(at("T2", pawl.PhaseQueued), "a/b.go")), "T1"},
		"files of one that ended": {mission(3, owns(at("T1", pawl.PhaseMerged), "a/"), owns(at("T2", pawl.PhaseQueued), "a/b.go")), "T2"},
		"attempts are bounded":    {tired, "T1"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range ready(test.m) {
				got = append(got, s.Task.ID)
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCalls(t *testing.T) {
	t.Parallel()
	news := func(m *pawl.Mission, ids ...string) *pawl.Mission {
		m.News = ids
		return m
	}
	for name, test := range map[string]struct {
		m    *pawl.Mission
		want bool
	}{
		"nobody is at work":          {mission(3, at("T1", pawl.PhasePlanned)), true},
		"all is merged":              {mission(3, at("T1", pawl.PhaseMerged)), true},
		"somebody is at work":        {mission(3, at("T1", pawl.PhaseRunning), at("T2", pawl.PhaseMerged)), false},
		"one was merged meanwhile":   {news(mission(3, at("T1", pawl.PhaseRunning), at("T2", pawl.PhaseMerged)), "T2"), false},
		"one is tried again":         {news(mission(3, at("T1", pawl.PhaseRunning), at("T2", pawl.PhaseQueued)), "T2"), false},
		"one came back for good":     {news(mission(3, at("T1", pawl.PhaseRunning), at("T2", pawl.PhaseReturned)), "T2"), true},
		"one came back, it is known": {mission(3, at("T1", pawl.PhaseRunning), at("T2", pawl.PhaseReturned)), false},
		"one was dropped":            {news(mission(3, at("T1", pawl.PhaseRunning), at("T2", pawl.PhaseDropped)), "T2"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := needsDecision(test.m); got != test.want {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestChosen(t *testing.T) {
	t.Parallel()
	m := mission(3, at("T1", pawl.PhaseMerged), at("T2", pawl.PhasePlanned, "T1"), at("T3", pawl.PhasePlanned, "T2", "T4"), at("T4", pawl.PhaseRunning),
		at("T5", pawl.PhaseReturned), at("T6", pawl.PhasePlanned, "T5"))
	for name, test := range map[string]struct {
		ids  []string
		want string
		err  string
	}{
		"one":                  {[]string{"T2"}, "T2", ""},
		"with what is before":  {[]string{"T3"}, "T3 T2", ""},
		"twice":                {[]string{"T2", "T2", "T3"}, "T2 T3", ""},
		"somebody has it":      {[]string{"T4", "T1"}, "", ""},
		"it came back":         {[]string{"T5"}, "", "plan anew first"},
		"one before came back": {[]string{"T6"}, "", "T5 came back"},
		"all":                  {nil, "", "T5 came back"},
		"an unknown one":       {[]string{"T2", "T9"}, "", `no task "T9"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := selectTasks(m, test.ids)
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("%v, want %q", err, test.err)
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStanding(t *testing.T) {
	t.Parallel()
	failed := mission(3, at("T1", pawl.PhaseMerged))
	failed.Gate = &pawl.GateResult{Faults: []pawl.GateFault{{Rule: "check-failed"}}}
	back := at("T2", pawl.PhaseReturned)
	back.Why, back.Text, back.Attempt = pawl.ReturnCheck, "it fails", 3
	returned := mission(3, at("T1", pawl.PhaseMerged), back, at("T3", pawl.PhaseQueued, "T1", "T2"))
	returned.News = []string{"T2", "T9"}
	for name, test := range map[string]struct {
		m         *pawl.Mission
		want, not []string
	}{
		"all is merged": {mission(3, at("T1", pawl.PhaseMerged)), []string{"not done", "call seal"}, []string{"faults", "open"}},
		"faults":        {failed, []string{"call seal", "fix them first"}, nil},
		"open ones":     {returned, []string{"T2 came back (check) after 3 attempts", "it fails", "untrusted", "- T2: returned\n", "- T3: queued, after T2\n", "call block"}, []string{"call seal", "T9", "- T1"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := openWork(test.m)
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in %s", want, got)
				}
			}
			for _, not := range test.not {
				if strings.Contains(got, not) {
					t.Errorf("%q in %s", not, got)
				}
			}
		})
	}
}

func TestChecklist(t *testing.T) {
	t.Parallel()
	m := mission(3, at("T1", pawl.PhaseMerged))
	head := "<!-- Written by Pawl from its own checks. Your edits have no effect. -->\n"
	if diff := cmp.Diff(head, Checklist(m)); diff != "" {
		t.Error(diff)
	}
	m.Criteria = &pawl.Criteria{
		Checks:   []pawl.Check{{ID: "build", Args: []string{"make"}}, {ID: "test", Args: []string{"make", "test"}}},
		Criteria: []pawl.Criterion{{ID: "goal", Text: "it\nworks"}, {ID: "C1", Text: "quickly", Category: "Speed"}, {ID: "C2", Text: "always", Category: "Speed"}},
	}
	list := func(build, test, rest string) string {
		return head + "\n## Checks\n\n- [" + build + "] **build**: make\n- [" + test + "] **test**: make test\n" +
			"\n## Criteria\n\n- [" + rest + "] **goal**: it works\n\n## Speed\n\n- [" + rest + "] **C1**: quickly\n- [" + rest + "] **C2**: always\n"
	}
	ran := func(check, tree string, code int) pawl.CheckRan {
		return pawl.CheckRan{CheckRun: pawl.CheckRun{Check: check, Tree: tree, Code: code}}
	}
	fault := []pawl.GateFault{{Rule: "test-failed"}}
	for _, test := range []struct {
		name, want string
		failed     *pawl.GateResult
		runs       []pawl.CheckRan
	}{
		{"not asked", list(" ", " ", " "), nil, []pawl.CheckRan{ran("build", "t", 0)}},
		{"one passes", list("x", " ", " "), &pawl.GateResult{Tree: "t", Faults: fault}, []pawl.CheckRan{ran("build", "t", 0), ran("test", "t", 1)}},
		{"on another tree", list(" ", " ", " "), &pawl.GateResult{Tree: "t", Faults: fault}, []pawl.CheckRan{ran("build", "u", 0)}},
		{"the last run counts", list(" ", "x", " "), &pawl.GateResult{Tree: "t", Faults: fault}, []pawl.CheckRan{ran("build", "t", 0), ran("build", "t", 1), ran("test", "t", 0)}},
		{"without a fault", list("x", "x", "x"), &pawl.GateResult{Tree: "t"}, nil},
	} {
		m.Gate, m.Runs = test.failed, test.runs
		if diff := cmp.Diff(test.want, Checklist(m)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// anyPlan draws a plan and how far its tasks have come.
func anyPlan(t *rapid.T) (pawl.Plan, map[string]State) {
	word := rapid.StringMatching(`[a-z*|#>\x60\[\]!<-]{1,8}( [a-z:]{1,5})?`)
	var p pawl.Plan
	states := map[string]State{}
	for i := range rapid.IntRange(1, 4).Draw(t, "tasks") {
		task := pawl.Task{ID: "T" + string(rune('1'+i)), Title: word.Draw(t, "title")}
		task.Detail = strings.Join(rapid.SliceOfN(rapid.OneOf(word, rapid.SampledFrom([]string{"", hashPrefix, hashPrefix + "00 -->", "- [ ] **T1**: a"})), 0, 4).Draw(t, "detail"), "\n")
		p.Tasks = append(p.Tasks, task)
		states[task.ID] = rapid.SampledFrom([]State{"", Working, Returned, Merged}).Draw(t, "state")
	}
	return p, states
}

// What pawl has written is never taken for an edit, and what a person makes of it,
// wherever it stands, always is and is read whole.
func TestEdited(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	const path = "TODO.md"
	rapid.Check(t, func(t *rapid.T) {
		plan, states := anyPlan(t)
		goal := rapid.StringMatching(`[a-z<!\n -]{1,20}`).Draw(t, "goal")
		text := withHash(Write(goal, plan, states))
		if err := write(root, path, text); err != nil {
			t.Fatal(err)
		}
		if got, edited := readPlan(root, path); edited {
			t.Fatalf("pawl's own is taken for an edit: %q", got)
		}
		lines := strings.SplitAfter(text, "\n")
		i := rapid.IntRange(0, len(lines)).Draw(t, "line")
		added := rapid.SampledFrom([]string{"- [ ] **T9**: mine\n", "mine\n", "  > mine\n", "mine"}).Draw(t, "added")
		if err := write(root, path, strings.Join(lines[:i], "")+added+strings.Join(lines[i:], "")); err != nil {
			t.Fatal(err)
		}
		got, edited := readPlan(root, path)
		if !edited || !strings.Contains(got, strings.TrimSpace(added)) {
			t.Fatalf("an edit at line %d is lost: %v, %q", i, edited, got)
		}
		if read, err := Read(got); err == nil && strings.HasPrefix(added, "- [ ]") {
			if _, ok := read.Task("T9"); !ok {
				t.Fatalf("the new task is lost: %+v", read)
			}
		}
	})
}

// A plan of which nothing was written, or that is away, is no edit.
func TestNoEdit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	if _, edited := readPlan(root, "away.md"); edited {
		t.Error("what is away is an edit")
	}
	for text, want := range map[string]bool{"": false, "\n \n": false, "mine\n": true, strings.TrimSuffix(withHash("a\n"), "\n"): true} {
		if err := os.WriteFile(filepath.Join(dir, "TODO.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, edited := readPlan(root, "TODO.md"); edited != want {
			t.Errorf("%q: %v, %q", text, edited, got)
		}
	}
}
