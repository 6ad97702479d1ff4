package experiment

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/pawl-dev/pawl"
)

// experiments holds the state of all experiments on a change.
type experiments struct {
	Config

	base, head *side
	changed    []string        // paths that differ, sorted
	roles      map[string]role // of the changed files
	edits      map[string]*edit

	place     string      // where all trees are shown, so that compilers find what they know
	elsewhere string      // where a moved tree is shown
	cache     string      // where the cache is shown
	kept      string      // what the checks of the base wrote to it
	warm      atomic.Bool // the cache is filled, and read-only from now on
	count     atomic.Int64
	slots     *semaphore.Weighted

	baseReady      bool                // the setup checks of the base have run
	onBase, onHead map[string]result   // the results of the checks
	noticing       map[string]bool     // files in which the checks notice an error
	narrow         map[string]narrowed // the tests that can notice a mistake, by file
	slow           time.Duration       // how long a check takes that is narrowed
	untrusted      bool                // a comment changes the results: mutants mean nothing

	mu       sync.Mutex
	out      Result
	progress Progress
}

const defaultBudget = 5 * time.Minute

func open(ctx context.Context, c Config) (*experiments, error) {
	c.Budget = cmp.Or(c.Budget, defaultBudget)
	if c.Parallel <= 0 {
		c.Parallel = max(1, runtime.NumCPU()/2)
	}
	if c.Approved == nil {
		c.Approved = func(string) bool { return false }
	}
	x := &experiments{Config: c, slots: semaphore.NewWeighted(int64(c.Parallel)), noticing: map[string]bool{}, narrow: map[string]narrowed{}, slow: slowCheck}
	x.place, x.elsewhere, x.cache = filepath.Join(c.Dir, "project"), filepath.Join(c.Dir, "other", "place"), filepath.Join(c.Dir, "cache")
	x.kept = filepath.Join(c.Dir, "kept")
	for _, dir := range []string{x.place, x.elsewhere, x.cache, x.kept} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	var err error
	if x.base, err = x.checkOut(ctx, "base", c.Base); err != nil {
		return nil, err
	}
	if x.head, err = x.checkOut(ctx, "head", c.Head); err != nil {
		return nil, err
	}
	x.out.Tree, x.out.Findings = x.head.tree, []Finding{}
	x.changed = differing(x.base, x.head)
	return x, x.readEdits(ctx)
}

// differing returns the paths whose content or mode differs.
func differing(a, b *side) (paths []string) {
	for path, e := range b.entries {
		if a.entries[path] != e {
			paths = append(paths, path)
		}
	}
	for path := range a.entries {
		if _, ok := b.entries[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// find records a finding, once.
func (x *experiments) find(f Finding) {
	_, is := x.head.entries[f.Item]
	_, was := x.base.entries[f.Item]
	if is || was {
		f.Path = f.Item
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !slices.Contains(x.out.Findings, f) {
		x.out.Findings = append(x.out.Findings, f)
	}
}

func (x *experiments) findf(kind Kind, rule, item, format string, args ...any) {
	x.find(Finding{Kind: kind, Rule: rule, Item: item, Text: fmt.Sprintf(format, args...)})
}

// findLine records a finding about a line of a file.
func (x *experiments) findLine(kind Kind, rule, path string, line int, format string, args ...any) {
	x.find(Finding{Kind: kind, Rule: rule, Item: path, Line: line, Text: fmt.Sprintf(format, args...)})
}

// ask records a finding that a person can approve.
func (x *experiments) ask(kind Kind, rule, item, text string) {
	x.find(Finding{Kind: kind, Rule: rule, Item: item, Text: text, Approve: item})
}

// ran records a run.
func (x *experiments) ran(r result) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.out.Runs = append(x.out.Runs, r.CheckRun)
	if x.OnRun != nil {
		x.OnRun(r.CheckRun)
	}
}

func (x *experiments) has(kinds ...Kind) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(x.out.Findings, func(f Finding) bool { return slices.Contains(kinds, f.Kind) })
}

func (x *experiments) failed() bool { return x.has(Failure) }

// result returns the verdict with what it is based on.
func (x *experiments) result() Result {
	switch {
	case x.failed():
		x.out.Verdict = Failed
	case len(x.productFiles()) == 0 && !x.has(Question):
		x.out.Verdict = NoCode
	case x.has(Question, Gap):
		x.out.Verdict = Checked
	default:
		x.out.Verdict = Proven
	}
	order := []Kind{Failure, Question, Gap, Note}
	slices.SortStableFunc(x.out.Findings, func(a, b Finding) int {
		return slices.Index(order, a.Kind) - slices.Index(order, b.Kind)
	})
	x.out.OnBase, x.out.OnHead = x.onBase, x.onHead
	return x.out
}

// checksOf returns the checks of some kinds.
func (x *experiments) checksOf(kinds ...pawl.CheckKind) (list []pawl.Check) {
	for _, c := range x.Checks {
		if slices.Contains(kinds, c.Kind) {
			list = append(list, c)
		}
	}
	return list
}

// proofs returns the checks that say something about a tree: all but setup.
func (x *experiments) proofs() []pawl.Check {
	return x.checksOf(pawl.CheckBuild, pawl.CheckTypes, pawl.CheckLint, pawl.CheckOther, pawl.CheckTest)
}

// tests returns the checks that run tests, and passed on the head.
func (x *experiments) tests() []pawl.Check {
	return slices.DeleteFunc(x.checksOf(pawl.CheckTest, pawl.CheckOther), func(c pawl.Check) bool {
		r, ok := x.onHead[c.ID]
		return ok && !r.OK() && r.Tests == nil
	})
}
