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
	"github.com/pawl-dev/pawl/internal/security/permission"
)

// Span is what one or more calls did: the directory before and after.
type Span struct {
	Before, After ID
	From, To      time.Time // of calls that ran at the same time nobody knows who did what
}

// Plan is what it takes to undo spans, or to do them again. It holds for the
// directory as it was when it was made; Apply looks again.
type Plan struct {
	Dir   string
	Files []Restore // by path

	folders map[ID]map[string]bool // those of the snapshots that files come from
}

// Restore is what will happen to a file that a span touched.
type Restore struct {
	Path     string
	Kind     Kind   // what will happen to it
	Conflict string // why that would take away somebody else's change; "" if it would not
	Done     bool   // it is as it should be already: nothing will happen
	Same     bool   // all in all the spans did nothing to it
	LeftOut  string // why nothing will happen to it: it is not covered, or must not be touched

	want    state
	now     sight
	origin  ID   // the snapshot that the wanted state is of
	blocked bool // a conflict that cannot be put aside
}

// open reports whether something is to be done.
func (r *Restore) open() bool { return !r.Done && r.LeftOut == "" }

// Conflicts returns the files that would clobber somebody else's change.
func (p Plan) Conflicts() []Restore {
	var list []Restore
	for _, r := range p.Files {
		if r.Conflict != "" {
			list = append(list, r)
		}
	}
	return list
}

// Plan says what it takes to undo the spans, which are given oldest first, or
// with redo to do them again. Spans that overlap in time count as one.
//
// A file is touched if it differs between the two ends of a span. It is to
// become what it was before the first span that touched it, and should be now
// as the last one left it. If it is neither, or if somebody else changed it
// between two spans, that is a conflict. Other files are not looked at.
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

// lost says that a snapshot no longer exists if there is no store at all.
func lost(err error, id ID, dir string) error {
	if errors.Is(err, pawl.ErrNotFound) {
		return &LostError{ID: id, Dir: dir}
	}
	return err
}

// merge makes one span of those that overlap, and leaves out those that did
// nothing.
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

// touch is what spans did to a file.
type touch struct {
	before, after state
	first, last   int // the spans
	concurrent    bool
	out           string
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

// touches collects what the spans did to each file.
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

// forbidden says why a path is never written, whatever a snapshot says.
func forbidden(name string) string {
	switch {
	case !filepath.IsLocal(name) || name == "." || path.Clean(name) != name || strings.ContainsRune(name, 0):
		return "it is no path in the folder"
	case strings.HasPrefix(path.Base(name), tempPrefix):
		return outOwn
	case permission.Protected(name):
		return "a protected name: other programs take orders from it, so put it back yourself"
	}
	return ""
}

// check says what should happen to a file, by what it is now and should be.
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
		r.Conflict = "changed meanwhile"
	}
	return nil
}

// originFolders notes which directories were there when the files were, so that
// others can go when they are empty.
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
