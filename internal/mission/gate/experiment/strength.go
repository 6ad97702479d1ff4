package experiment

import (
	"context"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
	"github.com/pawl-dev/pawl/internal/mission/gate/mutate"
)

// leaveOut undoes the change of one file at a time, with the tests of the base: if they hold only together with this
// file, then the file may be what makes them pass.
func (x *experiments) leaveOut(ctx context.Context) error {
	files := slices.DeleteFunc(x.withRole(product, data), func(p string) bool { return !x.behaves(p) })
	const most = 8
	if len(files) == 0 || len(files)+len(x.withRole(text)) < 2 {
		return nil
	}
	like := map[string]*side{}
	for _, p := range x.withRole(test) {
		like[p] = x.base
	}
	return each(ctx, files[:min(len(files), most)], func(ctx context.Context, p string) error {
		v := &variant{on: "without " + path.Base(p), of: x.head, like: map[string]*side{p: x.base}, write: x.oldInline()}
		for q, s := range like {
			v.like[q] = s
		}
		delete(v.write, p)
		results, err := x.runAll(ctx, v, x.tests())
		if err != nil {
			return err
		}
		for _, c := range x.tests() {
			r := results[c.ID]
			if x.holds(c, r) || codeError.MatchString(r.Printed) || buildError.MatchString(r.Printed) {
				continue
			}
			x.findf(Question, "holds-with", p, "the tests of the base hold only together with the change of %s: is it part of what was asked for?", p)
		}
		return nil
	})
}

// maxSamples bounds the mutants that compare the tests of both sides.
const maxSamples = 16

// strength compares the tests of both sides, if tests were changed or removed: what those of the base notice, those of
// the head must notice.
func (x *experiments) strength(ctx context.Context) error {
	x.editedDoctests()
	files := x.rewrittenTests()
	if len(files) == 0 || x.has(Question) {
		return nil
	}
	like := map[string]*side{}
	for _, p := range x.withRole(test) {
		like[p] = x.base
	}
	old := &variant{on: "old tests", of: x.head, like: like, write: x.oldInline()}
	samples := x.samples(files)
	end := x.tries(len(samples))
	var mu sync.Mutex
	lost := map[string]bool{}
	err := each(ctx, samples, func(ctx context.Context, m mutate.Mutant) error {
		defer x.tried()
		if time.Now().After(end) {
			return nil
		}
		now := &variant{on: "mutant, new tests", of: x.head, write: map[string][]byte{m.Path: m.Text}}
		seen, _, err := x.noticed(ctx, now, x.tests(), x.onHead)
		if err != nil || seen {
			return err
		}
		names, err := x.killers(ctx, old, m)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for _, name := range names {
			lost[name] = true
		}
		return nil
	})
	for name := range lost {
		x.ask(Failure, "tests-weaker", name, "the tests no longer notice mistakes that "+name+" of the base notices; if that is wanted, approve it")
	}
	return err
}

// editedDoctests asks about inline tests that changed and cannot be separated from the code.
func (x *experiments) editedDoctests() {
	for _, p := range x.withRole(product) {
		was, ok := x.base.read(p)
		e := x.edits[p]
		if !ok || e == nil {
			continue
		}
		src, ok := parse(p, was)
		if !ok || src.Language() == "Rust" {
			continue
		}
		for _, r := range src.InlineTests() {
			if slices.ContainsFunc(e.removed, func(line int) bool { return r[0] <= line && line <= r[1] }) && !x.Approved(p) {
				x.ask(Question, "inline-tests", p, "the tests inside "+p+" changed: approve that?")
				break
			}
		}
	}
}

// killers returns the tests of the base that notice a mutant, unless a person approved that they change.
func (x *experiments) killers(ctx context.Context, old *variant, m mutate.Mutant) (names []string, err error) {
	write := map[string][]byte{m.Path: m.Text}
	if inline, ok := old.write[m.Path]; ok { // the file has tests too: mutate what it is with those of the base
		src, ok := parse(m.Path, inline)
		if !ok {
			return nil, nil
		}
		again := src.Mutants([]int{m.Line}, 1)
		if len(again) == 0 {
			return nil, nil
		}
		write[m.Path] = again[0].Text
	}
	results, err := x.runAll(ctx, old.with("mutant, old tests", write), x.tests())
	if err != nil {
		return nil, err
	}
	for _, c := range x.tests() {
		was, r := x.onBase[c.ID], results[c.ID]
		if buildError.MatchString(r.Printed) {
			continue
		}
		if was.Tests == nil {
			if was.OK() && !r.OK() && !x.Approved(c.ID) {
				names = append(names, c.ID)
			}
			continue
		}
		if r.Tests == nil {
			continue
		}
		for _, name := range x.lost(c, r) {
			if r.Tests.Tests[name] == inventory.Failed {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// rewrittenTests returns the test files from which the change removes lines.
func (x *experiments) rewrittenTests() (files []string) {
	for _, p := range x.withRole(test) {
		if _, ok := x.base.entries[p]; !ok {
			continue
		}
		_, kept := x.head.entries[p]
		if e := x.edits[p]; !kept || e != nil && len(e.removed) > 0 {
			files = append(files, p)
		}
	}
	for _, p := range x.withRole(product) {
		if _, ok := x.oldInline()[p]; ok {
			files = append(files, p)
		}
	}
	return files
}

// samples returns mutants of the product code that the given tests are about: files that they name come first.
func (x *experiments) samples(tests []string) (list []mutate.Mutant) {
	var about strings.Builder
	for _, p := range tests {
		body, _ := x.base.read(p)
		about.Write(body)
		about.WriteString(path.Base(p))
	}
	var named, others []mutate.Mutant
	for p := range x.head.entries {
		if r, ok := x.roles[p]; ok && r != product || !ok && x.roleOf(p, nil) != product {
			continue
		}
		body, ok := x.head.read(p)
		if !ok {
			continue
		}
		src, ok := parse(p, body)
		if !ok {
			continue
		}
		var all []int
		for line := 1; line <= src.Lines(); line++ {
			if src.IsCode(line) && !slices.ContainsFunc(src.InlineTests(), func(r [2]int) bool { return r[0] <= line && line <= r[1] }) {
				all = append(all, line)
			}
		}
		found := src.Mutants(all, 1)
		stem := strings.TrimSuffix(path.Base(p), path.Ext(p))
		if strings.Contains(about.String(), stem) {
			named = append(named, found...)
		} else {
			others = append(others, found...)
		}
	}
	for _, group := range [][]mutate.Mutant{named, others} {
		slices.SortFunc(group, func(a, b mutate.Mutant) int { return strings.Compare(a.Path, b.Path)*1000 + a.Line - b.Line })
		r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same sample each time
		r.Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
		list = append(list, group...)
	}
	return list[:min(len(list), maxSamples)]
}
