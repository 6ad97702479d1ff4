package experiment

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// TestMain has the system's own programs found first: others may be wrappers that need more than a sandbox shows.
func TestMain(m *testing.M) {
	if err := os.Setenv("PATH", "/usr/bin:/bin:"+os.Getenv("PATH")); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// newConfig returns a repository with two commits and a configuration for it. Files with the text "" are deleted.
func newConfig(t *testing.T, base, change map[string]string, script string) Config {
	t.Helper()
	top := t.TempDir()
	dir, work := filepath.Join(top, "repo"), filepath.Join(top, "work")
	run := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.org"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	commit := func(files map[string]string) string {
		for name, text := range files {
			path := filepath.Join(dir, name)
			if text == "" {
				run("rm", "-q", name)
				continue
			}
			must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must(t, os.WriteFile(path, []byte(text), 0o600))
		}
		run("add", "-A", "-f")
		run("commit", "-q", "--allow-empty", "-m", "c")
		return run("rev-parse", "HEAD")
	}
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.Mkdir(work, 0o700))
	run("init", "-q", "-b", "main", ".")
	c := Config{Base: commit(base), Head: commit(change), Dir: work, Sandbox: inSandbox, Hidden: []string{dir}, Views: true}
	found, err := git.Find(t.Context(), dir)
	must(t, err)
	c.Repo, err = found.Open(t.Context(), dir)
	must(t, err)
	c.Checks = []pawl.Check{{ID: "test", Kind: pawl.CheckTest, Args: []string{"/bin/sh", "-c", script}}}
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func inSandbox(ctx context.Context, args []string, p sandbox.Profile, _ []string) (sandbox.Wrapped, error) {
	detected, _ := sandbox.Detect(ctx)
	p.Pass = proc.Marks()
	return detected.Wrap(args, p)
}

// TestVariants: a check sees the files of a variant, whether it is a view or a copy.
func TestVariants(t *testing.T) {
	t.Parallel()
	for name, views := range map[string]bool{"views": true, "copies": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := map[string]string{"same": "same\n", "old": "old\n", "both": "base\n", "dir/a": "a\n"}
			c := newConfig(t, base, map[string]string{"new": "new\n", "both": "head\n", "old": "", "dir/a": ""}, `for f in $(find . -path ./.git -prune -o -type f -print | sort); do echo "$f $(cat $f)"; done; echo x >> same`)
			c.Views = views
			x, err := open(t.Context(), c)
			must(t, err)
			for _, test := range []struct {
				v    variant
				want string
			}{
				{variant{of: x.head}, "./both head\n./new new\n./same same"},
				{variant{of: x.base}, "./both base\n./dir/a a\n./old old\n./same same"},
				{variant{of: x.head, like: map[string]*side{"both": x.base, "old": x.base, "new": x.base, "dir/a": x.base}}, "./both base\n./dir/a a\n./old old\n./same same"},
				{variant{of: x.head, write: map[string][]byte{"both": []byte("written\n"), "deep/er/f": []byte("f\n")}}, "./both written\n./deep/er/f f\n./new new\n./same same"},
			} {
				r, err := x.runCheck(t.Context(), &test.v, c.Checks[0])
				must(t, err)
				if r.Printed != test.want || !r.OK() {
					t.Errorf("got %q (%s), want %q", r.Printed, r.Ended(), test.want)
				}
			}
		})
	}
}

// TestCacheOfBase: what the checks of the base write to the cache is there for all later runs, and what others write for
// none, but a check that runs twice finds what it has left behind.
func TestCacheOfBase(t *testing.T) {
	t.Parallel()
	c := newConfig(t, map[string]string{"who": "base\n"}, map[string]string{"who": "head\n"}, `cat "$XDG_CACHE_HOME"/*; echo; cat who >> "$XDG_CACHE_HOME/seen"; cat who >> left; wc -l < left`)
	c.Seed = t.TempDir()
	must(t, os.WriteFile(filepath.Join(c.Seed, "seed"), []byte("seed"), 0o600))
	x, err := open(t.Context(), c)
	must(t, err)
	for _, test := range []struct {
		v    variant
		warm bool
		want string
	}{
		{variant{of: x.base}, false, "seed\n1"},
		{variant{of: x.head}, true, "seedbase\n\n1"},
		{variant{of: x.head}, true, "seedbase\n\n1"},
		{variant{of: x.head, twice: true}, true, "seedbase\nhead\n\n2"},
	} {
		x.warm.Store(test.warm)
		r, err := x.runCheck(t.Context(), &test.v, c.Checks[0])
		must(t, err)
		if r.Printed != test.want {
			t.Errorf("got %q, want %q", r.Printed, test.want)
		}
	}
	if _, err := os.Stat(filepath.Join(c.Seed, "seen")); err == nil {
		t.Error("a check wrote to the seed")
	}
}

// TestVerdicts gives verdicts to changes of a small shell project. The corpus has many more, in real languages.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	const script = `sh tests/run.sh`
	base := map[string]string{
		"add.sh":       "add() {\n  echo $(($1 + $2))\n}\n",
		"tests/run.sh": "set -e\n. ./add.sh\n[ \"$(add 1 2)\" = 3 ]\n[ \"$(add 5 2)\" = 7 ]\n",
		"README.md":    "adds\n",
	}
	double := "double() {\n  echo $(($1 * 2))\n}\n"
	for name, test := range map[string]struct {
		change map[string]string
		want   Verdict
		rules  []string
	}{
		"no change":         {map[string]string{}, Failed, []string{"no-change"}},
		"documentation":     {map[string]string{"README.md": "adds numbers\n"}, NoCode, nil},
		"comment":           {map[string]string{"add.sh": "# add adds.\n" + base["add.sh"]}, NoCode, nil},
		"broken":            {map[string]string{"add.sh": "add() {\n  echo $(($1 - $2))\n}\n"}, Failed, []string{"check-failed"}},
		"broken and hidden": {map[string]string{"add.sh": "add() {\n  echo $(($1 - $2))\n}\n", "tests/run.sh": "true\n"}, Failed, []string{"old-tests"}},
		"feature": {map[string]string{
			"double.sh": double, "tests/run.sh": base["tests/run.sh"] + ". ./double.sh\n[ \"$(double 4)\" = 8 ]\n[ \"$(double 0)\" = 0 ]\n",
		}, Proven, nil},
		"feature without a test": {map[string]string{"double.sh": double}, Checked, []string{"unread"}},
		"test without assertion": {map[string]string{"double.sh": double, "tests/run.sh": base["tests/run.sh"] + ". ./double.sh\ndouble 4 > /dev/null\n"}, Checked, []string{"survivors"}},
		"weaker tests":           {map[string]string{"tests/run.sh": "set -e\n. ./add.sh\nadd 1 2 > /dev/null\n"}, Failed, []string{"tests-weaker"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Do(t.Context(), newConfig(t, base, test.change, script))
			must(t, err)
			var rules []string
			for _, f := range r.Findings {
				if f.Kind != Note {
					rules = append(rules, f.Rule)
				}
			}
			if r.Verdict != test.want || !slices.Equal(slices.Compact(rules), test.rules) && (len(rules) > 0 || len(test.rules) > 0) {
				t.Errorf("got %s %q, want %s %q\n%+v\n%+v", r.Verdict, rules, test.want, test.rules, r.Findings, r.Mutants)
			}
		})
	}
}

// TestReports: a check may report in several files, and unittest reports on standard error.
func TestReports(t *testing.T) {
	t.Parallel()
	const many = `mkdir -p a/out b/out; echo '<testsuite><testcase name="one"/></testsuite>' >a/out/1.xml; echo '<testsuite><testcase name="two"/></testsuite>' >b/out/2.xml`
	const verbose = `{ echo 'test_a (m.A.test_a) ... ok'; echo 'test_b (m.A.test_b) ... ok'; printf '%70s\n' '' | tr ' ' -; echo 'Ran 2 tests in 0.001s'; } >&2`
	for _, test := range []struct{ format, report, script string }{{"junit", "**/out/*.xml", many}, {"unittest", "", verbose}} {
		t.Run(test.format, func(t *testing.T) {
			t.Parallel()
			c := newConfig(t, map[string]string{"a.txt": "a\n"}, map[string]string{"a.txt": "b\n"}, test.script)
			c.Checks[0].Tests, c.Checks[0].Report = test.format, test.report
			r, err := Do(t.Context(), c)
			must(t, err)
			if len(r.Runs) == 0 || r.Runs[0].Tests == nil || r.Runs[0].Tests.Passed != 2 {
				t.Errorf("got %+v", r.Runs)
			}
		})
	}
}

// TestNoCheckWorks: a check that works on neither side is no fault of the change.
func TestNoCheckWorks(t *testing.T) {
	t.Parallel()
	r, err := Do(t.Context(), newConfig(t, map[string]string{"a.sh": "echo a\n"}, map[string]string{"a.sh": "echo b\n"}, "echo missing runner; exit 127"))
	if !errors.Is(err, pawl.ErrUnavailable) || !strings.Contains(err.Error(), "missing runner") {
		t.Errorf("got %s, %v", r.Verdict, err)
	}
}

// TestProgress: every stage is announced, and so are the runs and mutants in it.
func TestProgress(t *testing.T) {
	t.Parallel()
	base := map[string]string{"a.sh": "a() {\n  echo 1\n}\n", "run.sh": ". ./a.sh\n[ \"$(a)\" = 1 ]\n"}
	change := map[string]string{"b.sh": "b() {\n  echo $(($1 * 2))\n}\n", "run.sh": base["run.sh"] + "[ $? = 0 ] || exit 1\n. ./b.sh\n[ \"$(b 4)\" = 8 ]\n"}
	c := newConfig(t, base, change, "sh run.sh")
	var seen []Progress
	c.OnProgress = func(p Progress) { seen = append(seen, p) }
	r, err := Do(t.Context(), c)
	must(t, err)
	var stages, runs []string
	for _, p := range seen {
		if n := len(stages); n == 0 || stages[n-1] != p.Stage {
			stages = append(stages, p.Stage)
		}
		runs = append(runs, p.Running...)
	}
	want := []string{"checks on the base", "checks on the change", "base tests on the new code", "controls", "files left out", "new tests on the old code", "strength of the tests", "mutants"}
	if !slices.Equal(stages, want) || !slices.Contains(runs, "test on base") || !slices.Contains(runs, "test on mutant b.sh") {
		t.Errorf("got %q with %q; %+v", stages, runs, r.Findings)
	}
	if p := seen[len(seen)-1]; p.Step != 8 || p.Steps != 8 || p.Total == 0 || p.Tried != p.Total || p.Until.IsZero() || len(p.Running) != 0 {
		t.Errorf("at the end: %+v", p)
	}
}
