//go:build e2e

package mission

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

var calc = map[string]string{
	"go.mod":       "module example.org/calc\n\ngo 1.26\n",
	"calc.go":      "// Package calc calculates.\npackage calc\n\n// Zero is nothing.\nfunc Zero() int { return 0 }\n",
	"calc_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestZero(t *testing.T) {\n\tif Zero() != 0 {\n\t\tt.Error(\"not zero\")\n\t}\n}\n",
}

// goPart is a function of calc with its test, each in a file of its own.
func goPart(name, expr, want string) (files map[string]string) {
	lower := strings.ToLower(name)
	return map[string]string{
		lower + ".go":      fmt.Sprintf("package calc\n\n// %s calculates.\nfunc %s(a, b int) int { return %s }\n", name, name, expr),
		lower + "_test.go": fmt.Sprintf("package calc\n\nimport \"testing\"\n\nfunc Test%s(t *testing.T) {\n\tif got := %s(6, 3); got != %s {\n\t\tt.Errorf(\"got %%d\", got)\n\t}\n}\n", name, name, want),
	}
}

// parts are six tasks, three of which come after others.
var parts = []struct {
	id, name, expr, want string
	after                []string
}{
	{"T1", "Add", "a + b", "9", nil},
	{"T2", "Sub", "a - b", "3", nil},
	{"T3", "Mul", "a * b", "18", nil},
	{"T4", "AddSub", "Add(a, b) + Sub(a, b)", "12", []string{"T1", "T2"}},
	{"T5", "MulSub", "Mul(a, b) - Sub(a, b)", "15", []string{"T2", "T3"}},
	{"T6", "All", "AddSub(a, b) + MulSub(a, b)", "27", []string{"T4", "T5"}},
}

const workMS = 1500 // before each reply of a worker

// project is a language that the parts are written in.
type project struct {
	base map[string]string
	part func(name, expr, want string) map[string]string
	test string // a worker's own run
}

var projects = map[string]project{
	"go":     {calc, goPart, "go test ./..."},
	"python": {pycalc, pyPart, "python3 -m pytest -q -p no:cacheprovider"},
}

var pycalc = map[string]string{
	"pyproject.toml":     "[project]\nname = \"calc\"\nversion = \"0\"\n\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\npythonpath = [\".\"]\n",
	"calc/__init__.py":   "",
	"calc/zero.py":       "def Zero():\n    return 0\n",
	"tests/test_zero.py": "from calc.zero import Zero\n\n\ndef test_zero():\n    assert Zero() == 0\n",
	".gitignore":         "__pycache__/\n",
}

// pyPart is goPart in Python.
func pyPart(name, expr, want string) map[string]string {
	lower := strings.ToLower(name)
	imports := ""
	for _, p := range parts {
		if p.name != name && strings.Contains(expr, p.name+"(") {
			imports += fmt.Sprintf("from calc.%s import %s\n", strings.ToLower(p.name), p.name)
		}
	}
	return map[string]string{
		"calc/" + lower + ".py":       fmt.Sprintf("%s\n\ndef %s(a, b):\n    return %s\n", imports, name, expr),
		"tests/test_" + lower + ".py": fmt.Sprintf("from calc.%s import %s\n\n\ndef test_%s():\n    assert %s(6, 3) == %s\n", lower, name, lower, name, want),
	}
}

// sixTasks is a mission of six tasks for three workers.
func sixTasks(t testing.TB, bin string, in project) *Env {
	w := New(t, bin, in.base)
	var tasks []Object
	for _, p := range parts {
		var calls []Call
		var owned []string
		for path, text := range in.part(p.name, p.expr, p.want) {
			calls, owned = append(calls, WriteFile(path, text)), append(owned, path)
		}
		tasks = append(tasks, Task(p.id, "Write "+p.name, owned, p.after...))
		w.As("worker:"+p.id, Line{Calls: calls, DelayMS: workMS}, Line{Calls: []Call{Shell(in.test)}, DelayMS: workMS}, "It is written, and its test passes.")
	}
	w.As("reviewer", Verdict(true, "goal"), "I have looked.")
	w.Lead(Plan(tasks...), Delegate(), "I wait for them.", Seal(), "All is done.")
	return w
}

func TestMission(t *testing.T) {
	t.Parallel()
	for name, in := range projects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := sixTasks(t, harness.Binary(t, ""), in)
			out := w.Run("--workers", "3", "Have calc calculate.")
			if out.Code != 0 {
				t.Fatalf("exit %d\n%s\n%s", out.Code, out.Stdout, out.Stderr)
			}
			b := w.Board()
			if b.State != pawl.MissionSealed || b.Mission.Sealed == nil || len(b.Mission.Open()) > 0 {
				t.Errorf("the mission is %s", b.State)
			}
			if tip := w.Git("rev-parse", b.Mission.Branch); tip != b.Mission.Sealed.Candidate {
				t.Errorf("the branch is at %s, sealed is %s", tip, b.Mission.Sealed.Candidate)
			}
			for _, r := range b.Mission.Runs {
				if r.On == "candidate" && r.Tests != nil && r.Tests.Passed != 7 {
					t.Errorf("%s on the candidate: %+v", r.Check, r.Tests)
				}
			}
			together(t, b)
			reported(t, w, b)
		})
	}
}

// together holds that workers worked beside each other: what they took, one after
// the other, is more than the time in which they did it.
func together(t *testing.T, b pawl.Board) {
	t.Helper()
	var sum, union time.Duration
	var until time.Time
	team := slices.SortedFunc(slices.Values(b.Team), func(a, b pawl.Session) int { return a.Created.Compare(b.Created) })
	for _, s := range team {
		if strings.HasPrefix(s.Title, "Review") {
			continue
		}
		sum += s.Updated.Sub(s.Created)
		if s.Created.After(until) {
			until = s.Created
		}
		if s.Updated.After(until) {
			union += s.Updated.Sub(until)
			until = s.Updated
		}
	}
	t.Logf("six tasks took %s together, in %s: %.1f x", sum.Round(time.Millisecond), union.Round(time.Millisecond), float64(sum)/float64(union))
	if len(team) != 7 || float64(union) > 0.75*float64(sum) {
		t.Errorf("%d sessions took %s, in %s", len(team), sum, union)
	}
}

// told holds that the log has the whole story, in order.
func reported(t *testing.T, w *Env, b pawl.Board) {
	t.Helper()
	var story []string
	for _, e := range w.Export(t, string(b.Session.ID)) {
		switch body := e.Body.(type) {
		case pawl.TaskReturned:
			t.Errorf("%s came back, %s: %s", body.Task, body.Why, body.Text)
		case pawl.MissionStarted, pawl.Planned, pawl.CriteriaSet, pawl.Delegated, pawl.ReviewStarted, pawl.Reviewed, pawl.GateResult, pawl.Sealed, pawl.Blocked:
			story = append(story, string(pawl.KindOf(body)))
		case pawl.TaskStarted, pawl.TaskMerged:
			if kind := string(pawl.KindOf(body)); len(story) == 0 || story[len(story)-1] != kind {
				story = append(story, kind)
			}
		default:
		}
	}
	text := strings.Join(story, " ")
	first, last := "mission.started mission.planned mission.criteria mission.delegated task.started task.merged", "task.started task.merged review.started reviewed gate.finished mission.sealed"
	if !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		t.Errorf("the log tells: %s", text)
	}
}
