package missiontest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/pawltest"
)

var calc = map[string]string{
	"go.mod":       "module example.org/calc\n\ngo 1.26\n",
	"calc.go":      "// Package calc calculates.\npackage calc\n\n// Zero is nothing.\nfunc Zero() int { return 0 }\n",
	"calc_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestZero(t *testing.T) {\n\tif Zero() != 0 {\n\t\tt.Error(\"not zero\")\n\t}\n}\n",
}

// goPart is a function of calc with its test, each in a file of its own.
func goPart(name, expr, uses string) (files map[string]string) {
	lower := strings.ToLower(name)
	return map[string]string{
		lower + ".go":      fmt.Sprintf("package calc\n\n// %s calculates.\nfunc %s(a, b int) int { return %s }\n", name, name, expr),
		lower + "_test.go": fmt.Sprintf("package calc\n\nimport \"testing\"\n\nfunc Test%s(t *testing.T) {\n\tif got := %s(6, 3); got != %s {\n\t\tt.Errorf(\"got %%d\", got)\n\t}\n}\n", name, name, uses),
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

const workMS = 700 // of each reply of a worker

// calcMission is a mission of six tasks for three workers.
func calcMission(t testing.TB, bin string) *World {
	w := New(t, bin, calc)
	var tasks []Object
	for _, p := range parts {
		lower := strings.ToLower(p.name)
		tasks = append(tasks, Task(p.id, "Write "+p.name, []string{lower + ".go", lower + "_test.go"}, p.after...))
		var calls []Call
		for path, text := range goPart(p.name, p.expr, p.want) {
			calls = append(calls, WriteFile(path, text))
		}
		w.As("worker:"+p.id, Line{Calls: calls, DelayMS: workMS}, Line{Calls: []Call{Shell("go test ./...")}, DelayMS: workMS}, "It is written, and its test passes.")
	}
	w.As("reviewer", Verdict(true, "goal"), "I have looked.")
	w.Lead(Plan(tasks...), Delegate(), "I wait for them.", Seal(), "All is done.")
	return w
}

func TestMission(t *testing.T) {
	t.Parallel()
	w := calcMission(t, pawltest.Binary(t, ""))
	began := time.Now()
	out := w.Run("--workers", "3", "Have calc calculate.")
	took := time.Since(began)
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
	t.Logf("it took %s\n%s", took, out.Stderr)
}
