package experiment

import (
	"bytes"
	"context"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
	"github.com/pawl-dev/pawl/internal/mission/gate/mutate"
)

const (
	maxMutants    = 80  // of a change
	wantedMutants = 12  // of a small change: a line has two, or more if there are few lines
	maxProbes     = 16  // lines at which the program is made to crash
	enough        = 5   // with fewer mutants, none may survive
	wantedKilled  = 0.8 // part of the mutants that the tests must notice
)

func parse(p string, text []byte) (*mutate.Source, bool) { return mutate.Parse(p, text) }

// buildError matches messages of compilers.
var buildError = regexp.MustCompile(`\[build failed\]|\[setup failed\]|error: could not compile|(?m)^\S+\.(c|h|cc|cpp|hpp|java|kt|go|rs|swift|cs|scala)[:(]\d+.*\berror\b|error TS\d+|^# [^\s]+$|declared and not used|imported and not used|SyntaxError|IndentationError`)

// mutants changes the code of the changed lines: the tests must notice.
func (x *experiments) mutants(ctx context.Context) error {
	files, all := x.behaving(), x.productFiles()
	if len(all) == 0 {
		return nil
	}
	if !x.anyTests() {
		x.findf(Gap, "no-tests", "", "no test passes on the changed code, so nothing shows that it is right")
		return nil
	}
	if x.untrusted {
		return nil
	}
	if err := x.revertData(ctx); err != nil {
		return err
	}
	if len(files) == 0 {
		x.findf(Gap, "data-only", "", "only data changed, in which no mistakes can be made on purpose")
		return nil
	}
	list := x.chooseMutants(files)
	killed, err := x.runMutants(ctx, list)
	if err != nil {
		return err
	}
	if err := x.probe(ctx, files, killed); err != nil {
		return err
	}
	x.decide(files)
	return nil
}

// decide compares the mutants that the tests noticed with what is enough.
func (x *experiments) decide(files []string) {
	m := &x.out.Mutants
	switch {
	case m.Total == 0:
		lines := 0
		for _, p := range files {
			if x.noticing[p] {
				lines += len(x.changedCode(p))
			}
		}
		if lines > 0 {
			x.findf(Gap, "no-mutants", "", "the changed lines could not be broken in a way that still builds, so nothing shows that the tests would notice a mistake")
		}
	case m.Total < enough && len(m.Survived) > 0, float64(m.Killed) < wantedKilled*float64(m.Total):
		x.findf(Gap, "survivors", "", "the tests notice %d of %d mistakes that were made on purpose in the changed lines", m.Killed, m.Total)
	}
	slices.SortFunc(m.Survived, func(a, b Survivor) int {
		if a.Path != b.Path {
			return slices.Compare([]byte(a.Path), []byte(b.Path))
		}
		return a.Line - b.Line
	})
}

// behaving returns the changed source files whose change can change what the product does.
func (x *experiments) behaving() []string {
	return slices.DeleteFunc(x.withRole(product), func(p string) bool { return !x.behaves(p) })
}

// anyTests reports whether a test passes on the head.
func (x *experiments) anyTests() bool {
	for _, c := range x.tests() {
		r := x.onHead[c.ID]
		if r.Tests == nil && r.OK() || r.Tests != nil && r.CheckRun.Tests.Passed > 0 {
			return true
		}
	}
	return false
}

// chooseMutants returns the mutants of the changed lines, in random order.
func (x *experiments) chooseMutants(files []string) (list []mutate.Mutant) {
	count := 0
	for _, p := range files {
		count += len(x.changedCode(p))
	}
	perLine := max(2, wantedMutants/max(1, count))
	for _, p := range files {
		body, ok := x.head.read(p)
		if !ok || !x.noticing[p] {
			continue
		}
		src, ok := parse(p, body)
		if !ok {
			continue
		}
		lines := x.changedCode(p)
		for _, m := range append(src.Mutants(lines, perLine), src.Bodies(lines)...) {
			if !slices.ContainsFunc(list, func(o mutate.Mutant) bool { return o.Path == m.Path && bytes.Equal(o.Text, m.Text) }) {
				list = append(list, m)
			}
		}
	}
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	if len(list) > maxMutants {
		x.findf(Note, "mutants", "", "%d of %d possible mutants were chosen", maxMutants, len(list))
		list = list[:maxMutants]
	}
	return list
}

// spot is a line of a file.
type spot struct {
	path string
	line int
}

// runMutants runs the tests on each mutant and returns the lines in which one was noticed.
func (x *experiments) runMutants(ctx context.Context, list []mutate.Mutant) (map[spot]bool, error) {
	killed := map[spot]bool{}
	var mu sync.Mutex
	end, skipped := x.tries(len(list)), 0
	err := each(ctx, list, func(ctx context.Context, m mutate.Mutant) error {
		defer x.tried()
		if time.Now().After(end) {
			mu.Lock()
			defer mu.Unlock()
			skipped++
			return nil
		}
		v := &variant{on: "mutant " + path.Base(m.Path), of: x.head, write: map[string][]byte{m.Path: m.Text}}
		checks, before := x.testsOf(m.Path)
		seen, r, err := x.noticed(ctx, v, checks, before)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case seen && (buildError.MatchString(r.Printed) || failsByName(r)):
			return nil // it says nothing about the tests: one that only calls the code notices too
		case seen:
			x.out.Mutants.Killed++
			killed[spot{m.Path, m.Line}] = true
		default:
			x.out.Mutants.Survived = append(x.out.Mutants.Survived, Survivor{m.Path, m.Line, m.Operator, m.Before, m.After})
		}
		x.out.Mutants.Total++
		return nil
	})
	if skipped > 0 {
		x.findf(Note, "budget", "", "%d of %d mutants were left out, because the time was over", skipped, len(list))
	}
	return killed, err
}

// failsByName reports whether all failures of a run are about names that do not exist, or have the wrong type.
func failsByName(r result) bool {
	if r.Tests == nil {
		return codeError.MatchString(r.Printed)
	}
	failed := r.Tests.Names(inventory.Failed)
	for _, name := range failed {
		first, _, _ := strings.Cut(strings.TrimLeft(r.Tests.Messages[name], ": \n"), "\n")
		if strings.Contains(first, "AssertionError") || !codeError.MatchString(first) {
			return false
		}
	}
	return len(failed) > 0
}

// probe makes the program crash at changed lines in which no mutant was noticed: lines that no test reaches are not
// tested.
func (x *experiments) probe(ctx context.Context, files []string, killed map[spot]bool) error {
	var spots []spot
	for _, p := range files {
		if !x.noticing[p] {
			continue
		}
		for _, line := range x.changedCode(p) {
			if !killed[spot{p, line}] {
				spots = append(spots, spot{p, line})
			}
		}
	}
	if len(spots) > maxProbes {
		x.findf(Note, "probes", "", "only %d of %d changed lines without a noticed mutant were probed", maxProbes, len(spots))
		rand.Shuffle(len(spots), func(i, j int) { spots[i], spots[j] = spots[j], spots[i] })
		spots = spots[:maxProbes]
	}
	return each(ctx, spots, x.probeLine)
}

func (x *experiments) probeLine(ctx context.Context, s spot) error {
	body, _ := x.head.read(s.path)
	src, ok := parse(s.path, body)
	if !ok {
		return nil
	}
	text, ok := src.Crash(s.line)
	if !ok {
		return nil
	}
	v := &variant{on: "probe " + path.Base(s.path), of: x.head, write: map[string][]byte{s.path: text}}
	checks, before := x.testsOf(s.path)
	seen, _, err := x.noticed(ctx, v, checks, before)
	if err == nil && !seen {
		x.findLine(Gap, "unreached", s.path, s.line, "no test reaches line %d of %s", s.line, s.path)
	}
	return err
}

// revertData undoes the change of each data file: the tests must notice.
func (x *experiments) revertData(ctx context.Context) error {
	files := slices.DeleteFunc(x.withRole(data), func(p string) bool { return !x.usedData(p) })
	const most = 8
	return each(ctx, files[:min(len(files), most)], func(ctx context.Context, p string) error {
		v := &variant{on: "without " + path.Base(p), of: x.head, like: map[string]*side{p: x.base}}
		seen, _, err := x.noticed(ctx, v, x.tests(), x.onHead)
		if err == nil && !seen {
			x.findf(Gap, "data", p, "the tests do not notice the change of %s", p)
		}
		return err
	})
}
