package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
)

// Kind is the kind of a change to a file.
type Kind string

// Kinds of changes.
const (
	Added     Kind = "added"
	Modified  Kind = "modified"
	Deleted   Kind = "deleted"
	Mode      Kind = "mode"      // only the executable bit changed
	Type      Kind = "type"      // a symbolic link became a file, or the reverse
	Uncovered Kind = "uncovered" // one of the snapshots leaves the file out, so the change is unknown
)

// Change is a file that differs between two snapshots. Path is untrusted text; it
// is separated by slashes and may contain any byte except zero.
type Change struct {
	Path             string
	Kind             Kind
	OldMode, NewMode uint32 // git file modes: 0o100644, 0o100755, 0o120000; 0 if the file does not exist
	Added, Deleted   int    // numbers of lines
	Binary           bool   // a binary file, for which no lines are counted
	LeftOut          string // the reason, if Kind is Uncovered
}

// Changes returns the files of dir that differ between two snapshots, sorted by
// path. If to is "", it compares with the current content.
func (s *Store) Changes(ctx context.Context, dir string, from, to ID) ([]Change, error) {
	f, to, err := s.pair(ctx, dir, from, to)
	if err != nil {
		return nil, fmt.Errorf("show changes: %w", err)
	}
	defer f.unlock()
	changes, err := f.changes(ctx, from, to)
	if err != nil {
		return nil, fmt.Errorf("show changes of %s: %w", f.dir, err)
	}
	return changes, nil
}

// pair locks the store of dir and, if to is "", takes a snapshot.
func (s *Store) pair(ctx context.Context, dir string, from, to ID) (*folder, ID, error) {
	if err := from.valid(); err != nil {
		return nil, "", err
	}
	f, err := s.lock(ctx, dir, exists)
	if err != nil {
		return nil, "", lost(err, from, dir)
	}
	if to == "" {
		if to, err = f.take(ctx); err != nil {
			f.unlock()
			return nil, "", err
		}
	}
	return f, to, nil
}

func (f *folder) changes(ctx context.Context, from, to ID) ([]Change, error) {
	all, err := f.records(ctx, [][2]ID{{from, to}})
	if err != nil || len(all[0]) == 0 {
		return nil, err
	}
	lines, err := f.lines(ctx, from, to)
	if err != nil {
		return nil, err
	}
	var changes []Change
	for _, r := range all[0] {
		c := Change{Path: r.path, Kind: Uncovered, OldMode: r.from.mode, NewMode: r.to.mode, LeftOut: r.out}
		if r.out == "" {
			c = lines[r.path]
			c.Path, c.Kind, c.OldMode, c.NewMode = r.path, kindOf(r.from, r.to), known(r.from), known(r.to)
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// known returns the mode of a file that the snapshot covers, else 0.
func known(s state) uint32 {
	if !s.covered() {
		return 0
	}
	return s.mode
}

// lines returns the numbers of added and deleted lines of each changed file.
func (f *folder) lines(ctx context.Context, from, to ID) (map[string]Change, error) {
	args := []string{"diff-tree", "-r", "-z", "--numstat", "--no-renames", "--ignore-submodules=all", string(from), string(to)}
	out, err := f.read(ctx, git.OwnCall{Args: args})
	if err != nil {
		return nil, f.fault(err, from, to)
	}
	lines := map[string]Change{}
	for text := range bytes.SplitSeq(out, []byte{0}) {
		fields := strings.SplitN(string(text), "\t", 3) // added, deleted, path
		if len(fields) < 3 {
			continue
		}
		c := lines[fields[2]]
		added, err := strconv.Atoi(fields[0])
		deleted, _ := strconv.Atoi(fields[1])
		c.Added, c.Deleted, c.Binary = c.Added+added, c.Deleted+deleted, c.Binary || err != nil
		lines[fields[2]] = c
	}
	return lines, nil
}

const (
	defaultPatch = 1 << 20
	patchPaths   = 1000    // paths in one git command, at most
	patchBytes   = 100_000 // bytes of these paths
)

// Patch returns the changes between two snapshots as a unified diff. If to is "",
// it compares with the current content. The diff is cut after a whole line at about
// limit bytes (0 means 1 MiB), and a cut diff ends with a line that says so.
func (s *Store) Patch(ctx context.Context, dir string, from, to ID, limit int) (text string, cut bool, err error) {
	f, to, err := s.pair(ctx, dir, from, to)
	if err != nil {
		return "", false, fmt.Errorf("show patch: %w", err)
	}
	defer f.unlock()
	text, cut, err = f.patch(ctx, from, to, cmp.Or(limit, defaultPatch))
	if err != nil {
		return "", false, fmt.Errorf("show patch of %s: %w", f.dir, err)
	}
	return text, cut, nil
}

func (f *folder) patch(ctx context.Context, from, to ID, limit int) (string, bool, error) {
	paths, err := f.changed(ctx, from, to)
	if err != nil {
		return "", false, err
	}
	text, err := f.diff(ctx, nil, from, to, "", paths, limit)
	if err != nil {
		return "", false, err
	}
	if len(text) > limit {
		return trimPatch(text, limit, len(paths)), true, nil
	}
	return string(text), false, nil
}

// some returns how many of the paths fit on one command line.
func some(paths []string) (n int) {
	for size := 0; n < len(paths) && n < patchPaths; n++ {
		if size += len(paths[n]) + 1; n > 0 && size > patchBytes {
			break
		}
	}
	return n
}

// trimPatch cuts a diff of files files at the last line end within limit bytes, and
// appends a note.
func trimPatch(text []byte, limit, files int) string {
	text = text[:bytes.LastIndexByte(text[:limit], '\n')+1]
	shown := bytes.Count(text, []byte("\ndiff --git "))
	if bytes.HasPrefix(text, []byte("diff --git ")) {
		shown++
	}
	return fmt.Sprintf("%s[truncated after %d bytes: %d of %d files are shown, the last one in part]\n", text, len(text), min(shown, files), files)
}
