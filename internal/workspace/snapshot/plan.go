package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/security/protect"
)

// Span is the effect of one or more tool calls: the snapshots before and after
// them.
type Span struct {
	Before, After ID
	From, To      time.Time // times of the calls; overlapping calls count as one
}

// Plan says how to undo or redo spans. It is based on the content of the directory
// when it was made; Apply checks again.
type Plan struct {
	Dir    string
	Files  []Restore // sorted by path
	Prefix string    // of the paths in the diff that Show returns, with a slash at its end; "" means none

	folders map[ID]map[string]bool // directories in each snapshot that files are restored from
}

// Restore is the planned change of one file that a span changed.
type Restore struct {
	Path     string
	Kind     Kind   // kind of the planned change
	Conflict string // why the change would discard somebody else's change; "" if it would not
	Done     bool   // the file is in the wanted state already
	Same     bool   // the spans together did not change the file
	LeftOut  string // why the file is not restored: a snapshot leaves it out, or it must not be changed

	want    state
	now     sight
	origin  ID   // the snapshot that contains the wanted state
	blocked bool // the conflict cannot be resolved by copying the file aside
}

// open reports whether the file is still to be restored.
func (r *Restore) open() bool { return !r.Done && r.LeftOut == "" }

// Conflicts returns the files whose restoration would discard somebody else's
// change.
func (p Plan) Conflicts() []Restore {
	var list []Restore
	for _, r := range p.Files {
		if r.Conflict != "" {
			list = append(list, r)
		}
	}
	return list
}

// Plan returns how to undo the spans, which are ordered from oldest to newest, or
// how to redo them. Spans that overlap in time are merged.
//
// The plan covers the files that differ between Before and After of a span. An undo
// restores each to its state before the first span that changed it, and expects the
// state after the last one. A file in any other state is a conflict, and so is one
// that somebody else changed between two spans. Other files are not inspected.
func (s *Store) Plan(ctx context.Context, dir string, spans []Span, redo bool) (Plan, error) {
	spans = merge(spans)
	if len(spans) == 0 {
		real, err := realDir(dir)
		return Plan{Dir: real}, err
	}
	f, err := s.lock(ctx, dir, exists)
	if err != nil {
		return Plan{}, fmt.Errorf("plan undo: %w", lost(err, spans[0].Before, dir))
	}
	defer f.unlock()
	p, err := f.plan(ctx, spans, redo)
	if err != nil {
		return Plan{}, fmt.Errorf("plan undo in %s: %w", f.dir, err)
	}
	return p, nil
}

// lost returns a *LostError if err means that the store does not exist, else err.
func lost(err error, id ID, dir string) error {
	if errors.Is(err, pawl.ErrNotFound) {
		return &LostError{ID: id, Dir: dir}
	}
	return err
}

// merge merges spans that overlap in time, and drops those without changes.
func merge(spans []Span) []Span {
	sorted := slices.Clone(spans)
	slices.SortStableFunc(sorted, func(a, b Span) int { return a.From.Compare(b.From) })
	var merged []Span
	for _, s := range sorted {
		if n := len(merged); n > 0 && s.From.Before(merged[n-1].To) {
			if last := &merged[n-1]; s.To.After(last.To) {
				last.To, last.After = s.To, s.After
			}
			continue
		}
		merged = append(merged, s)
	}
	return slices.DeleteFunc(merged, func(s Span) bool { return s.Before == s.After })
}

// touch is the combined effect of spans on one file.
type touch struct {
	before, after state
	first, last   int    // indexes of the first and last span that changed the file
	concurrent    bool   // somebody else changed the file between two spans
	out           string // the reason if a snapshot leaves the file out
}

func (f *folder) plan(ctx context.Context, spans []Span, redo bool) (Plan, error) {
	p := Plan{Dir: f.dir, folders: map[ID]map[string]bool{}}
	pairs := make([][2]ID, len(spans))
	for i, s := range spans {
		pairs[i] = [2]ID{s.Before, s.After}
	}
	if len(pairs) == 0 {
		return p, nil
	}
	all, err := f.records(ctx, pairs)
	if err != nil {
		return p, err
	}
	root, err := openRoot(f.dir, f.MaxFile)
	if err != nil {
		return p, err
	}
	defer root.close()
	for name, t := range touches(all) {
		r := Restore{Path: name, LeftOut: cmp.Or(t.out, forbidden(name))}
		should := t.after
		r.want, r.origin = t.before, spans[t.first].Before
		if redo {
			should, r.want, r.origin = t.before, t.after, spans[t.last].After
		}
		if err := r.check(root, should, t.concurrent); err != nil {
			return p, err
		}
		p.Files = append(p.Files, r)
	}
	slices.SortFunc(p.Files, func(a, b Restore) int { return strings.Compare(a.Path, b.Path) })
	if err := p.obstacles(root); err != nil {
		return p, err
	}
	return p, f.originFolders(ctx, &p)
}

// touches combines the effects of the spans for each file.
func touches(all [][]record) map[string]*touch {
	touched := map[string]*touch{}
	for i, records := range all {
		for _, r := range records {
			t := touched[r.path]
			if t == nil {
				t = &touch{before: r.from, first: i}
				touched[r.path] = t
			} else if t.after != r.from {
				t.concurrent = true
			}
			t.after, t.last, t.out = r.to, i, cmp.Or(t.out, r.out)
		}
	}
	return touched
}

// forbidden returns why a path is never restored, whatever a snapshot contains, or
// "".
func forbidden(name string) string {
	switch {
	case !filepath.IsLocal(name) || name == "." || path.Clean(name) != name || strings.ContainsRune(name, 0):
		return "it is not a valid path in the directory"
	case strings.HasPrefix(path.Base(name), tempPrefix):
		return outOwn
	case protect.Protected(name):
		return "a protected path: other programs read their configuration from it, so restore it yourself"
	}
	return ""
}

// check decides what to do with the file, from its current state and from should,
// the state that the spans left it in.
func (r *Restore) check(root *root, should state, concurrent bool) (err error) {
	if r.LeftOut != "" {
		r.Kind = Uncovered
		return nil
	}
	if r.now, err = root.look(r.Path); err != nil {
		return err
	}
	now := r.now.state
	r.Kind, r.Same = kindOf(now, r.want), should == r.want
	switch {
	case now == r.want || r.Same:
		r.Done = true
	case now != should:
		r.Conflict = "changed since"
	case concurrent:
		r.Conflict = "changed in the meantime"
	}
	return nil
}

// originFolders records the directories of the snapshots that files are restored
// from, so that Apply removes only empty directories that these do not contain.
func (f *folder) originFolders(ctx context.Context, p *Plan) error {
	for _, r := range p.Files {
		if !r.open() || r.want.covered() || p.folders[r.origin] != nil || !strings.Contains(r.Path, "/") {
			continue
		}
		out, err := f.read(ctx, git.OwnCall{Args: []string{"ls-tree", "-r", "-d", "-z", "--name-only", string(r.origin)}})
		if err != nil {
			return f.fault(err, r.origin)
		}
		folders := map[string]bool{}
		for name := range strings.SplitSeq(string(out), "\x00") {
			folders[name] = true
		}
		p.folders[r.origin] = folders
	}
	return nil
}
