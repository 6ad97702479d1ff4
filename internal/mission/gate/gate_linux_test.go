package gate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// report is a check whose tests are those that a file names, with their results.
const report = `while read -r name how; do
	if [ $how = fail ]; then code=1; fi
	echo "{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"$name\"}"
	echo "{\"Action\":\"$how\",\"Package\":\"p\",\"Test\":\"$name\"}"
done <tests
exit $code`

func reportChecks() []pawl.Check {
	return []pawl.Check{
		{ID: "prepare", Kind: pawl.CheckSetup, Args: []string{"touch", "prepared"}},
		{ID: "lint", Kind: pawl.CheckLint, Args: []string{"sh", "-c", "test -e prepared && test ! -e ugly"}},
		{ID: "test", Kind: pawl.CheckTest, Tests: "gotest", Args: []string{"sh", "-c", report}},
	}
}

// A commit must be as good as the base. What else could be wrong with it is for Prove to find.
func TestCheck(t *testing.T) {
	t.Parallel()
	const base = "TestBad fail\nTestGood pass\n"
	w := newTestRepo(t)
	g, criteria := w.gate(w.commit(map[string]string{"tests": base}), pawl.Criteria{}, reportChecks())
	var ran []string
	for _, test := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"the same", map[string]string{"other": "x"}, nil},
		{"a failure less", map[string]string{"tests": "TestBad pass\nTestGood pass\n"}, nil},
		{"a test fails", map[string]string{"tests": "TestBad fail\nTestGood fail\n"}, []string{"test-failed p::TestGood"}},
		{"a new test fails", map[string]string{"tests": base + "TestNew fail\n"}, []string{"test-failed p::TestNew"}},
		{"a test is gone", map[string]string{"tests": "TestBad fail\n"}, nil},
		{"a check fails", map[string]string{"ugly": "x"}, []string{"check-failed lint"}},
		{"no test is reported", map[string]string{"tests": "a\"b fail\n"}, []string{"check-failed test"}},
	} {
		w.git("checkout", "-q", "-f", "--detach", criteria.Base)
		faults, err := g.Check(t.Context(), criteria, w.commit(test.files), func(r pawl.CheckRun) {
			if r.On == "base" {
				ran = append(ran, r.Check)
			}
		})
		if err != nil {
			t.Fatal(test.name, err)
		}
		if diff := cmp.Diff(test.want, rules(faults)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
	if runs, err := g.Baseline(t.Context(), criteria, nil); err != nil || len(runs) != 3 {
		t.Error(runs, err)
	}
	if diff := cmp.Diff([]string{"prepare", "lint", "test", "prepare"}, ran); diff != "" { // once, and once to repeat the tests
		t.Error(diff)
	}
	if entries, err := os.ReadDir(g.Dir); err != nil || len(entries) > 0 {
		t.Errorf("left in the directory: %v, %v", entries, err)
	}
}

// TestSetupFails checks that a setup that fails on a commit differs from a sandbox that cannot start.
func TestSetupFails(t *testing.T) {
	t.Parallel()
	w := newTestRepo(t)
	checks := reportChecks()
	checks[0].Args = []string{"sh", "-c", "test ! -e broken && touch prepared"}
	g, criteria := w.gate(w.commit(map[string]string{"tests": "TestA pass\n"}), pawl.Criteria{}, checks)
	if _, err := g.Check(t.Context(), criteria, w.commit(map[string]string{"broken": "x"}), nil); !errors.Is(err, experiment.ErrSetup) {
		t.Errorf("a setup that fails: %v", err)
	}
	g.Sandbox = func(ctx context.Context, _ []string, p sandbox.Profile, hosts []string) (sandbox.Wrapped, error) {
		return inSandbox(ctx, []string{"sh", "-c", "echo 'pawl: sandbox: no view' >&2; exit 126"}, p, hosts)
	}
	_, err := g.Check(t.Context(), criteria, w.commit(map[string]string{"more": "x"}, "broken"), nil)
	if !errors.Is(err, pawl.ErrUnavailable) || errors.Is(err, experiment.ErrSetup) {
		t.Errorf("a sandbox that cannot start: %v", err)
	}
}

// A check cannot be run by programs that were exchanged.
func TestOtherTools(t *testing.T) {
	t.Parallel()
	w := newTestRepo(t)
	g, criteria := w.gate(w.commit(map[string]string{"tests": "TestA pass\n"}), pawl.Criteria{}, reportChecks())
	for name := range criteria.Tools {
		criteria.Tools[name] = "sha256:other"
	}
	if _, err := g.Baseline(t.Context(), criteria, nil); !errors.Is(err, pawl.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if p, err := g.Prove(t.Context(), criteria, criteria.Base, 0, nil); !errors.Is(err, pawl.ErrUnavailable) || p.Verdict != "" {
		t.Errorf("got %q, %v", p.Verdict, err)
	}
}

// cacheSeen is what the base and two commits find in their caches, where each leaves its name, and what is kept of that.
func cacheSeen(t *testing.T) (by []string) {
	t.Helper()
	w := newTestRepo(t)
	script := `cat "$XDG_CACHE_HOME/by" 2>/dev/null; cat by >"$XDG_CACHE_HOME/by"; touch "$XDG_CACHE_HOME/left-by-$(cat by)"`
	g, criteria := w.gate(w.commit(map[string]string{"by": "base"}), pawl.Criteria{}, []pawl.Check{{ID: "c", Kind: pawl.CheckOther, Args: []string{"sh", "-c", script}}})
	g.Seed = t.TempDir()
	for _, name := range []string{"one", "two"} {
		if _, err := g.Check(t.Context(), criteria, w.commit(map[string]string{"by": name}), func(r pawl.CheckRun) { by = append(by, r.Tail) }); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(filepath.Join(g.Seed, "cache", "by"))
	if err != nil {
		t.Fatal(err)
	}
	return append(append(by, string(kept)), namesIn(t, filepath.Join(g.Seed, "cache"))...)
}

// A cache goes from the base to a commit, and never back nor on to the next.
func TestCachesFlowOneWay(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"", "base", "base", "base", "by", "left-by-base"}, cacheSeen(t)); diff != "" {
		t.Error(diff)
	}
}
