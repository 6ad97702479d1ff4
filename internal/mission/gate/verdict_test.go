package gate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
)

func TestReadVerdict(t *testing.T) {
	t.Parallel()
	good := `{"criteria":[{"id":"C1","holds":true,"why":"a"}],"problems":["p"]}`
	want := Verdict{Criteria: []Judgment{{ID: "C1", Holds: true, Why: "a"}}, Problems: []string{"p"}}
	got, err := ReadVerdict([]byte(good))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for name, text := range map[string]string{
		"no JSON":             `I approve`,
		"null":                `null`,
		"a key is missing":    `{"criteria":[]}`,
		"a key is null":       `{"criteria":[],"problems":null}`,
		"an unknown key":      `{"criteria":[],"problems":[],"approved":true}`,
		"a key in capitals":   `{"criteria":[{"id":"C1","Holds":true,"why":"a"}],"problems":[]}`,
		"a key twice":         `{"criteria":[{"id":"C1","holds":false,"holds":true,"why":"a"}],"problems":[]}`,
		"a list twice":        `{"criteria":[],"problems":["p"],"problems":[]}`,
		"a text for a bool":   `{"criteria":[{"id":"C1","holds":"true","why":"a"}],"problems":[]}`,
		"more behind the end": good + `{}`,
		"too long":            strings.Replace(good, `"p"`, `"`+strings.Repeat("p", maxVerdict)+`"`, 1),
	} {
		if v, err := ReadVerdict([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), "read the verdict: ") || !cmp.Equal(v, Verdict{}) {
			t.Errorf("%s: got %v, %v", name, v, err)
		}
	}
}

// The schema of a tool that takes a verdict asks for all of it.
func TestVerdictSchema(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.For[Verdict](nil)
	if err != nil {
		t.Fatal(err)
	}
	judgment := schema.Properties["criteria"].Items
	if diff := cmp.Diff([]string{"criteria", "problems"}, schema.Required) + cmp.Diff([]string{"id", "holds", "why"}, judgment.Required); diff != "" {
		t.Error(diff)
	}
	for name, s := range judgment.Properties {
		if s.Description == "" {
			t.Errorf("%s is not described", name)
		}
	}
}

// reviewedReport has two criteria.
func reviewedReport() Report {
	return Report{Criteria: pawl.Criteria{Criteria: []pawl.Criterion{{ID: "C1"}, {ID: "C2"}}}}
}

func goodVerdict() Verdict {
	return Verdict{Criteria: []Judgment{{ID: "C2", Holds: true, Why: "seen"}, {ID: "C1", Holds: true, Why: "seen"}}}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(v *Verdict)
		want   []string
	}{
		"all holds":                    {func(*Verdict) {}, nil},
		"nothing is said":              {func(v *Verdict) { *v = Verdict{} }, []string{"review-unreadable C1", "review-unreadable C2"}},
		"a criterion does not hold":    {func(v *Verdict) { v.Criteria[0].Holds = false }, []string{"review C2"}},
		"a criterion is left out":      {func(v *Verdict) { v.Criteria = v.Criteria[:1] }, []string{"review-unreadable C1"}},
		"one is judged twice":          {func(v *Verdict) { v.Criteria = append(v.Criteria, v.Criteria[0]) }, []string{"review-unreadable C2"}},
		"one is judged both ways":      {func(v *Verdict) { v.Criteria = append(v.Criteria, Judgment{ID: "C1", Holds: false, Why: "no"}) }, []string{"review C1", "review-unreadable C1"}},
		"one is not known":             {func(v *Verdict) { v.Criteria = append(v.Criteria, Judgment{ID: "C3", Holds: true, Why: "yes"}) }, []string{"review-unreadable C3"}},
		"one is not known and is bad":  {func(v *Verdict) { v.Criteria = append(v.Criteria, Judgment{ID: "C3", Holds: false, Why: "no"}) }, []string{"review C3", "review-unreadable C3"}},
		"an id with other letters":     {func(v *Verdict) { v.Criteria[1].ID = "c1" }, []string{"review-unreadable C1", "review-unreadable c1"}},
		"no reason":                    {func(v *Verdict) { v.Criteria[0].Why = " \n" }, []string{"review-unreadable C2"}},
		"no reason, and does not hold": {func(v *Verdict) { v.Criteria[0] = Judgment{ID: "C2"} }, []string{"review-unreadable C2"}},
		"a problem":                    {func(v *Verdict) { v.Problems = []string{"it leaks"} }, []string{"review "}},
		"a problem without words":      {func(v *Verdict) { v.Problems = []string{" "} }, []string{"review-unreadable "}},
	} {
		v := goodVerdict()
		test.change(&v)
		if diff := cmp.Diff(test.want, rules(reviewedReport().Faults(v))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	v := goodVerdict()
	v.Problems = []string{"it leaks"}
	want := []pawl.GateFault{{Rule: "review", Text: "the reviewer found a problem: it leaks"}}
	if diff := cmp.Diff(want, reviewedReport().Faults(v)); diff != "" {
		t.Error(diff)
	}
}

// Two criteria of one name cannot be distinguished, so no judgment is on both.
func TestFaultsOfDuplicateCriteria(t *testing.T) {
	t.Parallel()
	d := Report{Criteria: pawl.Criteria{Criteria: []pawl.Criterion{{ID: "C1", Text: "a"}, {ID: "C1", Text: "b"}}}}
	for n := range 3 {
		var v Verdict
		for range n {
			v.Criteria = append(v.Criteria, Judgment{ID: "C1", Holds: true, Why: "seen"})
		}
		if diff := cmp.Diff([]string{"review-unreadable C1"}, rules(d.Faults(v))); diff != "" {
			t.Errorf("%d judgments: %s", n, diff)
		}
	}
}

// Whatever a reviewer says, a candidate passes only if each
// criterion is checked once, holds, and has a reason.
func TestFaultsProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		judgments := func(prefix string) *rapid.Generator[[]Judgment] {
			return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Judgment {
				return Judgment{ID: prefix + fmt.Sprint(rapid.IntRange(1, 3).Draw(t, "id")), Holds: rapid.IntRange(0, 9).Draw(t, "holds") > 0, Why: rapid.SampledFrom([]string{"seen", "seen", "seen", "", "\t"}).Draw(t, "why")}
			}), 1, 3)
		}
		v := Verdict{Criteria: judgments("C").Draw(t, "criteria"), Problems: rapid.SliceOfN(rapid.Just("p"), 0, 1).Draw(t, "problems")}
		good := len(v.Problems) == 0
		for prefix, list := range map[string][]Judgment{"C": v.Criteria} {
			seen := map[string]bool{}
			for _, j := range list {
				seen[j.ID] = true
				good = good && j.Holds && j.Why == "seen"
			}
			good = good && len(list) == 2 && seen[prefix+"1"] && seen[prefix+"2"]
		}
		if got := len(reviewedReport().Faults(v)) == 0; got != good {
			t.Errorf("nothing against it: %v", got)
		}
	})
}
