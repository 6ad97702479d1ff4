package gate

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// A commit must be as good as the base. What else could be wrong with it is for
// Run to find.
func TestCheck(t *testing.T) {
	t.Parallel()
	base := toy{"TestBad": "fail", "TestGood": "pass", "TestOther": "pass"}
	w, g, criteria, _ := toyGate(t, base, "Makefile", "all:\n", ".ci/run", "true\n")
	with := func(name, how string) toy {
		p := toy{"TestBad": "fail", "TestGood": "pass", "TestOther": "pass"}
		if p[name] = how; how == "" {
			delete(p, name)
		}
		return p
	}
	for _, test := range []struct {
		name   string
		tests  toy
		files  []string
		want   []string
		before []string
	}{
		{name: "the same", tests: base, before: []string{"p::TestBad"}},
		{name: "a failure less", tests: with("TestBad", "pass")},
		{name: "a test fails", tests: with("TestGood", "fail"), want: []string{"test-failed p::TestGood"}, before: []string{"p::TestBad"}},
		{name: "a new test fails", tests: with("TestNew", "fail"), want: []string{"test-failed p::TestNew"}, before: []string{"p::TestBad"}},
		{name: "a new test passes, here as on the base", tests: with("TestNew", "pass"), before: []string{"p::TestBad"}},
		{name: "a test is gone", tests: with("TestGood", ""), before: []string{"p::TestBad"}},
		{name: "a test is skipped", tests: with("TestGood", "skip"), before: []string{"p::TestBad"}},
		{name: "a check fails", tests: base, files: []string{"ugly", "x"}, want: []string{"check-failed lint"}, before: []string{"p::TestBad"}},
		{name: "protected files", tests: base, files: []string{".ci/run", "false\n"}, before: []string{"p::TestBad"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w.git("checkout", "-q", "-f", "--detach", criteria.Base)
			o, err := g.Check(t.Context(), criteria, w.commit(test.tests.files(test.files...)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, rules(o)) + cmp.Diff(test.before, o.Before) + cmp.Diff(onMerge, runsOf(o.Runs)[:3]); diff != "" {
				t.Error(diff)
			}
			if o.Tree == "" || o.Runs[0].Tree != o.Tree {
				t.Errorf("the tree is %q", o.Tree)
			}
		})
	}
}

// A check that reports no tests any more is worse than one that did.
func TestCheckWithoutReport(t *testing.T) {
	t.Parallel()
	checks := toyChecks()
	checks[2].Args = []string{"sh", "-c", "cat told; test ! -e broken"}
	reported := `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n"
	broken := `{"Action":"fail","Package":"p"}` + "\n"
	for _, test := range []struct {
		name, base, now string
		more            []string
		want            []string
	}{
		{name: "no text of a runner", base: reported, now: "{", want: []string{"check-failed test"}},
		{name: "nor on the base", base: "{", now: "{", more: []string{"broken", "x"}},
		{name: "a package is broken", base: reported, now: broken, more: []string{"broken", "x"}, want: []string{"tests-broken p"}},
		{name: "it fails though all tests pass", base: reported, now: reported, more: []string{"broken", "x"}, want: []string{"check-failed test"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newTestRepo(t)
			base := map[string]string{"told": test.base}
			if test.base == "{" {
				base["broken"] = "x"
			}
			g, criteria := w.gate(w.commit(base), pawl.Criteria{}, checks)
			g.Reruns, g.Sandbox = 1, unboxed
			o, err := g.Check(t.Context(), criteria, w.commit(toy{}.files(append(test.more, "told", test.now)...)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, rules(o)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What was seen of a flaky test on the base is remembered, for Run as for Check.
func TestFlakyIsRemembered(t *testing.T) {
	t.Parallel()
	w, g, criteria, ran := toyGate(t, toy{"TestA": "pass 2", "TestB": "pass"})
	flaky := w.commit(toy{"TestA": "fail 2", "TestB": "pass"}.files())
	for i, want := range [][]string{
		slices.Concat(onBase, onMerge, []string{"test on base", "test on merge"}),
		append(slices.Clone(onMerge), "test on merge"),
	} {
		o, err := g.Check(t.Context(), criteria, flaky)
		if err != nil || !o.Passed() {
			t.Fatal(err, o.Faults)
		}
		if diff := cmp.Diff(want, forget(ran)) + cmp.Diff([]string{"p::TestA"}, o.Flaky); diff != "" {
			t.Fatalf("time %d: %s", i+1, diff)
		}
	}
	o, err := g.Run(t.Context(), criteria, flaky)
	if err != nil || !o.Passed() || slices.Contains(*ran, "test on base") {
		t.Error(err, o.Faults, *ran)
	}
	if diff := cmp.Diff(append(slices.Clone(onBase), "test on base"), runsOf(o.Runs)[:4]); diff != "" {
		t.Error(diff)
	}
	bad := w.commit(toy{"TestA": "fail", "TestB": "pass"}.files())
	if o, err := g.Check(t.Context(), criteria, bad); err != nil || o.Passed() {
		t.Error("a test that always fails now is excused:", err, o)
	}
}

// A failure that comes back costs runs of the base, but not for ever.
func TestFlakyIsBounded(t *testing.T) {
	t.Parallel()
	w, g, criteria, ran := toyGate(t, toy{"TestA": "pass"})
	bad := w.commit(toy{"TestA": "fail"}.files())
	var counts []int
	for range 6 {
		if _, err := g.Check(t.Context(), criteria, bad); err != nil {
			t.Fatal(err)
		}
		counts = append(counts, len(slices.DeleteFunc(forget(ran), func(s string) bool { return s != "test on base" })))
	}
	if diff := cmp.Diff([]int{3, 2, 2, 2, 0, 0}, counts); diff != "" {
		t.Error(diff)
	}
}
