package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
)

// DiffConfig says what Diff returns.
type DiffConfig struct {
	Now   bool                   // compare with the current content instead of that after the spans
	Shown func(path string) bool // reports whether the content of a file may be shown
	Only  string                 // the path of the only file to return; "" means all
	Files int                    // the most files to return
	Bytes int                    // the most bytes of patches to return

	FileBytes int // the most bytes of the patch of one file
}

// FileDiff is the change of a file by spans.
type FileDiff struct {
	git.FileDiff
	Kind    Kind
	LeftOut string // why there is no patch, if a snapshot leaves the file out
	Hidden  bool   // there is no patch because Shown is false
}

// Diff returns how the files differ that spans changed, sorted by path, and their number,
// also of those that are more than c.Files. Each file is compared as it was before the
// first span that changed it with after the last one, or now. A span without an end ends
// now.
func (s *Store) Diff(ctx context.Context, dir string, spans []Span, c DiffConfig) (files []FileDiff, total int, err error) {
	if len(spans) == 0 {
		return nil, 0, nil
	}
	f, err := s.lock(ctx, dir, exists)
	if err != nil {
		return nil, 0, fmt.Errorf("show diff: %w", lost(err, spans[0].Before, dir))
	}
	defer f.unlock()
	if files, total, err = f.fileDiffs(ctx, spans, c); err != nil {
		return nil, 0, fmt.Errorf("show diff of %s: %w", f.dir, err)
	}
	return files, total, nil
}

func (f *folder) fileDiffs(ctx context.Context, spans []Span, c DiffConfig) ([]FileDiff, int, error) {
	spans, now, err := f.endSpans(ctx, spans, c.Now)
	if err != nil || len(spans) == 0 {
		return nil, 0, err
	}
	pairs := make([][2]ID, len(spans))
	for i, s := range spans {
		pairs[i] = [2]ID{s.Before, s.After}
	}
	all, err := f.records(ctx, pairs)
	if err != nil {
		return nil, 0, err
	}
	d := differ{folder: f, spans: spans, now: now, DiffConfig: c}
	if err := d.choose(ctx, touches(all)); err != nil {
		return nil, 0, err
	}
	for _, pair := range d.pairs {
		if err := d.compare(ctx, pair); err != nil {
			return nil, 0, err
		}
	}
	slices.SortFunc(d.files, func(a, b FileDiff) int { return strings.Compare(a.Path, b.Path) })
	return d.files, d.total, nil
}

// endSpans returns the spans with the current snapshot as the end of those that have none,
// and that snapshot if it is needed.
func (f *folder) endSpans(ctx context.Context, spans []Span, current bool) (ended []Span, now ID, err error) {
	open := func(s Span) bool { return s.After == "" }
	if current || slices.ContainsFunc(spans, open) {
		if now, err = f.take(ctx); err != nil {
			return nil, "", err
		}
	}
	ended = slices.Clone(spans)
	for i := range ended {
		ended[i].After = cmp.Or(ended[i].After, now)
	}
	return merge(ended), now, nil
}

// differ compares the files that spans changed.
type differ struct {
	*folder
	DiffConfig
	spans []Span
	now   ID
	files []FileDiff
	total int

	pairs []*treePair
	used  int // bytes of patches so far
}

// treePair is two snapshots and the files to compare in them.
type treePair struct {
	from, to ID
	paths    []string
}

// choose decides which of the touched files are compared, and in which snapshots.
func (d *differ) choose(ctx context.Context, touched map[string]*touch) error {
	var paths []string
	for path, t := range touched {
		if (d.Now || t.before != t.after) && (d.Only == "" || d.Only == path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	if d.Now {
		var err error
		if paths, err = d.differNow(ctx, paths, touched); err != nil {
			return err
		}
	}
	d.total = len(paths)
	for _, path := range paths[:min(len(paths), d.Files)] {
		t := touched[path]
		switch {
		case t.out != "":
			d.files = append(d.files, FileDiff{FileDiff: git.FileDiff{Path: path}, Kind: Uncovered, LeftOut: t.out})
		case d.Shown != nil && !d.Shown(path):
			d.files = append(d.files, FileDiff{FileDiff: git.FileDiff{Path: path}, Kind: kindOf(t.before, t.after), Hidden: true})
		default:
			d.add(d.spans[t.first].Before, d.end(t), path)
		}
	}
	return nil
}

// end returns the snapshot that a file is compared with.
func (d *differ) end(t *touch) ID {
	if d.Now {
		return d.now
	}
	return d.spans[t.last].After
}

func (d *differ) add(from, to ID, path string) {
	i := slices.IndexFunc(d.pairs, func(p *treePair) bool { return p.from == from && p.to == to })
	if i < 0 {
		i, d.pairs = len(d.pairs), append(d.pairs, &treePair{from: from, to: to})
	}
	d.pairs[i].paths = append(d.pairs[i].paths, path)
}

// differNow returns the paths that differ now from before the spans.
func (d *differ) differNow(ctx context.Context, paths []string, touched map[string]*touch) (differ []string, err error) {
	var pairs [][2]ID
	index := map[ID]int{}
	for _, path := range paths {
		origin := d.spans[touched[path].first].Before
		if _, known := index[origin]; !known {
			index[origin] = len(pairs)
			pairs = append(pairs, [2]ID{origin, d.now})
		}
	}
	all, err := d.records(ctx, pairs)
	if err != nil {
		return nil, err
	}
	now := make([]map[string]record, len(all))
	for i, records := range all {
		now[i] = map[string]record{}
		for _, r := range records {
			now[i][r.path] = r
		}
	}
	for _, path := range paths {
		t := touched[path]
		if r, ok := now[index[d.spans[t.first].Before]][path]; ok {
			t.after, t.out = r.to, r.out
			differ = append(differ, path)
		}
	}
	return differ, nil
}

// compare adds the diffs of the files of a pair.
func (d *differ) compare(ctx context.Context, pair *treePair) error {
	for rest := pair.paths; len(rest) > 0; {
		n := some(rest)
		args := append([]string{"diff-tree", "-r", "--ignore-submodules=all"}, git.FileDiffArgs()...)
		var files []git.FileDiff
		err := d.repo.Run(ctx, git.OwnCall{Args: append(args, string(pair.from), string(pair.to)), Paths: rest[:n], Hold: d.file, Out: func(r io.Reader) (err error) {
			files, err = git.ReadFileDiffs(r, maxPatches)
			return err
		}})
		if err != nil {
			return d.fault(err, pair.from, pair.to)
		}
		for _, file := range files {
			file.Trim(min(d.FileBytes, d.Bytes-d.used))
			d.used += len(file.Patch)
			d.files = append(d.files, FileDiff{FileDiff: file, Kind: KindOf(file)})
		}
		rest = rest[n:]
	}
	return nil
}

// maxPatches bounds what is read of the patches of patchPaths files, in bytes.
const maxPatches = 16 << 20

// Renamed is the kind of a file that was moved, maybe with changes.
const Renamed Kind = "renamed"

// KindOf returns the kind of a change that git reports.
func KindOf(f git.FileDiff) Kind {
	switch f.Status {
	case 'A':
		return Added
	case 'D':
		return Deleted
	case 'R':
		return Renamed
	case 'T':
		return Type
	}
	if f.OldID == f.NewID {
		return Mode
	}
	return Modified
}
