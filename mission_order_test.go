package pawl

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMissionOrderCheck(t *testing.T) {
	t.Parallel()
	check := func(id string) Check { return Check{ID: id, Kind: CheckTest, Args: []string{"make"}} }
	for name, c := range map[string]struct {
		change func(*MissionOrder)
		want   string // "" if it is valid
	}{
		"a goal is enough": {func(*MissionOrder) {}, ""},
		"all that can be said": {func(o *MissionOrder) {
			o.Checks, o.Criteria = []Check{check("a")}, []Criterion{{ID: "AC-1", Text: "x", Checks: []string{"a"}}}
		}, ""},
		"the most workers":             {func(o *MissionOrder) { o.Workers = MissionMaxWorkers }, ""},
		"the longest goal":             {func(o *MissionOrder) { o.Goal = strings.Repeat("x", 32<<10) }, ""},
		"a check of the project's own": {func(o *MissionOrder) { o.Criteria = []Criterion{{ID: "a", Text: "x", Checks: []string{"go-test"}}} }, ""},
		"no kind of a check":           {func(o *MissionOrder) { o.Checks = []Check{{ID: "a", Args: []string{"make"}}} }, ""},

		"no goal":                    {func(o *MissionOrder) { o.Goal = " \n\t" }, "the goal is missing"},
		"a goal that is too long":    {func(o *MissionOrder) { o.Goal = strings.Repeat("x", 32<<10+1) }, "put the details into a file"},
		"too many workers":           {func(o *MissionOrder) { o.Workers = MissionMaxWorkers + 1 }, "number of workers 33"},
		"less than none":             {func(o *MissionOrder) { o.Workers = -1 }, "number of workers -1"},
		"too many reviewers":         {func(o *MissionOrder) { o.Reviewers = []string{"a", "b", "c", "d", "e", "f"} }, "too many reviewers (6)"},
		"a reviewer of no model":     {func(o *MissionOrder) { o.Reviewers = []string{""} }, "has no model"},
		"a negative time":            {func(o *MissionOrder) { o.Stuck = -time.Second }, "invalid stuck time -1s"},
		"too long a list":            {func(o *MissionOrder) { o.Protected = make([]string, 101) }, "too many entries (101"},
		"a criterion without an id":  {func(o *MissionOrder) { o.Criteria = []Criterion{{Text: "x"}} }, `invalid criterion id ""`},
		"a criterion that is a path": {func(o *MissionOrder) { o.Criteria = []Criterion{{ID: "../a", Text: "x"}} }, "invalid criterion id"},
		"two criteria of one id":     {func(o *MissionOrder) { o.Criteria = []Criterion{{ID: "a", Text: "x"}, {ID: "a", Text: "y"}} }, `duplicate criterion "a"`},
		"a criterion without words":  {func(o *MissionOrder) { o.Criteria = []Criterion{{ID: "a", Text: " "}} }, "criterion a needs a text"},
		"a check nobody knows": {func(o *MissionOrder) {
			o.Checks, o.Criteria = []Check{check("a")}, []Criterion{{ID: "x", Text: "x", Checks: []string{"b"}}}
		}, `names check "b"`},
		"a check without an id":      {func(o *MissionOrder) { o.Checks = []Check{check("")} }, "invalid check id"},
		"two checks of one id":       {func(o *MissionOrder) { o.Checks = []Check{check("a"), check("a")} }, `duplicate check "a"`},
		"a check without a command":  {func(o *MissionOrder) { o.Checks = []Check{{ID: "a"}} }, "check a has no command"},
		"a check with an empty one":  {func(o *MissionOrder) { o.Checks = []Check{{ID: "a", Args: []string{""}}} }, "check a has no command"},
		"a check of an unknown kind": {func(o *MissionOrder) { o.Checks = []Check{{ID: "a", Args: []string{"x"}, Kind: "magic"}} }, `kind "magic"`},
		"a check of a negative time": {func(o *MissionOrder) { o.Checks = []Check{{ID: "a", Args: []string{"x"}, Timeout: -1}} }, "invalid timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			o := MissionOrder{Goal: "go"}
			c.change(&o)
			switch err := o.Check(); {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (!errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestMissionOrderComplete(t *testing.T) {
	t.Parallel()
	given := MissionOrder{Goal: "go", Checks: []Check{{ID: "a"}, {ID: "b", Kind: CheckLint}}}
	got := given.Complete()
	want := MissionOrder{Goal: "go", Workers: MissionWorkers, Stuck: MissionStuck, Checks: []Check{{ID: "a", Kind: CheckOther}, {ID: "b", Kind: CheckLint}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, got.Complete()); diff != "" || given.Checks[0].Kind != "" {
		t.Errorf("what was given is changed, or what is complete: %s", diff)
	}
}
