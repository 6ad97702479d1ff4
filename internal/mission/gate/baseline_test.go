package gate

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

var (
	onBase  = []string{"prepare on base", "lint on base", "test on base"}
	onMerge = []string{"prepare on merge", "lint on merge", "test on merge"}
	onAll   = []string{
		"prepare on candidate", "lint on candidate", "test on candidate",
		"prepare on old-tests", "test on old-tests", "prepare on new-tests", "test on new-tests",
	}
)

// The base is run once, whoever asks first, and is evidence for all that follows.
func TestBaselineOnce(t *testing.T) {
	t.Parallel()
	w, g, criteria, ran := toyGate(t, toy{"TestA": "pass"})
	next := w.commit(toy{"TestA": "pass"}.files("code", "new"))
	runs, err := g.Baseline(t.Context(), criteria)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(onBase, forget(ran)) + cmp.Diff(onBase, runsOf(runs)); diff != "" {
		t.Fatal(diff)
	}
	for range 2 {
		o, err := g.Run(t.Context(), criteria, next)
		if err != nil || !o.Passed() {
			t.Fatal(err, o.Faults)
		}
		if diff := cmp.Diff(onAll, forget(ran)) + cmp.Diff(slices.Concat(onBase, onAll), runsOf(o.Runs)); diff != "" {
			t.Fatal(diff)
		}
		if o, err = g.Check(t.Context(), criteria, next); err != nil || !o.Passed() {
			t.Fatal(err, o.Faults)
		}
		if diff := cmp.Diff(onMerge, forget(ran)) + cmp.Diff(onMerge, runsOf(o.Runs)); diff != "" {
			t.Fatal(diff)
		}
	}
	again, err := g.Baseline(t.Context(), criteria)
	if diff := cmp.Diff(runs, again); err != nil || diff != "" || len(*ran) > 0 {
		t.Error(err, diff, *ran)
	}
	criteria.Criteria = []pawl.Criterion{{ID: "C1"}} // other criteria need another baseline
	if _, err := g.Check(t.Context(), criteria, next); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Concat(onBase, onMerge), *ran); diff != "" {
		t.Error(diff)
	}
}

// inDir is what a gate has in its directory: without numbers.
func inDir(t *testing.T, g *Gate) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(g.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		_, name, _ := strings.Cut(e.Name(), "-")
		names = append(names, name)
	}
	return names
}

// A mission merges hundreds of times: nothing of that stays on the disk, however
// it ends. The base's own tree and cache do.
func TestTreesGo(t *testing.T) {
	t.Parallel()
	w, g, criteria, _ := toyGate(t, toy{"TestA": "pass 2"})
	bad := w.commit(toy{"TestA": "fail 2"}.files("code", "new"))
	fresh := w.commit(toy{"TestA": "pass", "TestB": "pass"}.files())
	kept := []string{"base", "base.cache"}
	for _, commit := range []string{bad, fresh} {
		if _, err := g.Check(t.Context(), criteria, commit); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(kept, inDir(t, g)); diff != "" {
			t.Error("after Check:", diff)
		}
		if _, err := g.Run(t.Context(), criteria, commit); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(kept, inDir(t, g)); diff != "" {
			t.Error("after Run:", diff)
		}
	}
	stop := errors.New("stop")
	for _, on := range []string{"merge", "candidate", "old-tests", "new-tests", "base"} {
		g.OnRun = func(r CheckResult) error {
			if r.On == on && r.Check == "test" {
				return stop
			}
			return nil
		}
		want := kept
		if on == "base" {
			criteria.Criteria, want = []pawl.Criterion{{ID: "C1"}}, nil
		}
		_, err := g.Check(t.Context(), criteria, fresh)
		if err == nil {
			_, err = g.Run(t.Context(), criteria, fresh)
		}
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, inDir(t, g)); diff != "" {
			t.Errorf("stopped on %s: %s", on, diff)
		}
	}
}

// What a gate that was killed has left in its directory does no harm.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	w, g, criteria, _ := toyGate(t, toy{"TestA": "pass"})
	next := w.commit(toy{"TestA": "pass"}.files("code", "new"))
	for _, name := range []string{"tree", "1-base", "1-base.cache", "2-merge"} {
		dir := filepath.Join(g.Dir, name, "locked")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "ugly"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o500); err != nil { //nolint:gosec // as some tools leave it
			t.Fatal(err)
		}
	}
	if o, err := g.Check(t.Context(), criteria, next); err != nil || !o.Passed() {
		t.Error(err, o.Faults)
	}
	if diff := cmp.Diff([]string{"base", "base.cache"}, inDir(t, g)); diff != "" {
		t.Error(diff)
	}
}

// All trees are at the same place while they run, so that a compiler finds what it
// made for the base; but the base never is where code of a candidate has been.
func TestSeat(t *testing.T) {
	t.Parallel()
	w, g, criteria, _ := toyGate(t, toy{"TestA": "pass 2"})
	next := w.commit(toy{"TestA": "fail 2"}.files())
	places := map[string][]string{}
	g.OnRun = func(r CheckResult) error {
		if r.Check == "prepare" {
			places[r.Tail] = append(places[r.Tail], r.On)
		}
		if r.On == "base" && r.Check == "test" && g.base != nil && (g.base.checkout.dir == g.sharedDir() || g.current == g.base.checkout) {
			t.Error("the base has come back to the seat")
		}
		return nil
	}
	o, err := g.Run(t.Context(), criteria, next)
	if err != nil || len(o.Flaky) != 1 {
		t.Fatal(err, o.Flaky)
	}
	if diff := cmp.Diff(map[string][]string{g.sharedDir(): {"base", "candidate", "old-tests", "new-tests"}}, places); diff != "" {
		t.Error(diff)
	}
}

// cacheSeen is what the base and two commits find in their caches, where each
// leaves its name, and what is kept of that.
func cacheSeen(t *testing.T) (by []string) {
	t.Helper()
	w := newTestRepo(t)
	script := `cat "$XDG_CACHE_HOME/by" 2>/dev/null; cat by >"$XDG_CACHE_HOME/by"`
	g, criteria := w.gate(w.commit(map[string]string{"by": "base"}), pawl.Criteria{}, []pawl.Check{{ID: "c", Kind: pawl.CheckOther, Args: []string{"sh", "-c", script}}})
	g.Seed = t.TempDir()
	g.OnRun = func(r CheckResult) error {
		by = append(by, r.Tail)
		return nil
	}
	for _, name := range []string{"one", "two"} {
		if _, err := g.Check(t.Context(), criteria, w.commit(map[string]string{"by": name})); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(filepath.Join(g.Seed, "cache", "by"))
	if err != nil {
		t.Fatal(err)
	}
	return append(by, string(kept))
}

// A cache goes from the base to a commit, and never back nor on to the next.
func TestCachesFlowOneWay(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"", "base", "base", "base"}, cacheSeen(t)); diff != "" {
		t.Error(diff)
	}
}

// A base cannot be checked by programs that were exchanged.
func TestBaselineWithOtherTools(t *testing.T) {
	t.Parallel()
	_, g, criteria, ran := toyGate(t, toy{"TestA": "pass"})
	for name := range criteria.Tools {
		criteria.Tools[name] = "sha256:other"
	}
	if _, err := g.Baseline(t.Context(), criteria); !errors.Is(err, pawl.ErrDenied) || len(*ran) > 0 {
		t.Errorf("got %v, ran %v", err, *ran)
	}
	o, err := g.Check(t.Context(), criteria, criteria.Base)
	if err != nil || len(*ran) > 0 || len(o.Faults) != 1 || o.Faults[0].Rule != "tool-changed" {
		t.Errorf("got %v, %v, ran %v", o.Faults, err, *ran)
	}
}
