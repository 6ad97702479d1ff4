package snapshot

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
)

// maxDiff bounds the output of a git diff, in bytes.
const maxDiff = 256 << 20

// state is the mode and blob id of a path. The zero value means that nothing exists
// there.
type state struct {
	mode uint32
	id   oid
}

// covered reports whether the state is a file or symbolic link that the snapshot
// contains.
func (s state) covered() bool { return s.mode == modeFile || s.mode == modeExec || s.mode == modeLink }

// record is a path whose state differs between two snapshots.
type record struct {
	path     string
	from, to state
	out      string // the reason if one of the snapshots leaves the path out, else ""
}

// kindOf returns the kind of change between two states.
func kindOf(from, to state) Kind {
	switch {
	case !from.covered():
		return Added
	case !to.covered():
		return Deleted
	case (from.mode == modeLink) != (to.mode == modeLink):
		return Type
	case from.id == to.id:
		return Mode
	}
	return Modified
}

// records returns the differences of each pair of snapshots, by path. It omits
// paths that neither snapshot of a pair covers.
func (f *folder) records(ctx context.Context, pairs [][2]ID) ([][]record, error) {
	var in strings.Builder
	all := make([][]record, len(pairs))
	for _, p := range pairs {
		for _, id := range p {
			if err := id.valid(); err != nil {
				return nil, err
			}
		}
		fmt.Fprintf(&in, "%s %s\n", p[0], p[1])
	}
	args := []string{"diff-tree", "--stdin", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none"}
	out, err := f.read(ctx, git.OwnCall{Args: args, In: strings.NewReader(in.String())})
	if err != nil {
		return nil, f.fault(err, flat(pairs)...)
	}
	for i, p := range pairs {
		head := fmt.Sprintf("%s %s\n", p[0], p[1])
		rest, found := bytes.CutPrefix(out, []byte(head))
		if !found { // git skips a pair with a missing tree
			return nil, f.removed(p)
		}
		if all[i], out, err = readRaw(rest); err != nil {
			return nil, f.broken(err)
		}
		all[i] = mark(all[i])
	}
	return all, nil
}

// removed returns a *LostError for the snapshot of the pair that was deleted, or a
// *Broken error.
func (f *folder) removed(pair [2]ID) error {
	for _, id := range pair {
		if !f.held(id) {
			return &LostError{ID: id, Dir: f.dir}
		}
	}
	return f.broken(fmt.Errorf("git cannot find %s or %s", pair[0], pair[1]))
}

func flat(pairs [][2]ID) (ids []ID) {
	for _, p := range pairs {
		ids = append(ids, p[0], p[1])
	}
	return ids
}

// read returns the output of a git command. It fails if the output is larger than
// maxDiff.
func (f *folder) read(ctx context.Context, c git.OwnCall) (out []byte, err error) {
	c.Hold = f.file
	c.Out = func(r io.Reader) (err error) {
		if out, err = io.ReadAll(io.LimitReader(r, maxDiff+1)); err == nil && len(out) > maxDiff {
			err = fault.New(pawl.ErrInvalid, "git %s: more than %d bytes", c.Args[0], maxDiff)
		}
		return err
	}
	err = f.repo.Run(ctx, c)
	return out, err
}

// readRaw parses records of git's raw diff format, and returns the text that
// follows them.
func readRaw(text []byte) (records []record, rest []byte, err error) {
	for len(text) > 0 && text[0] == ':' {
		head, tail, _ := bytes.Cut(text[1:], []byte{0})
		name, tail, ended := bytes.Cut(tail, []byte{0})
		fields := strings.Fields(string(head)) // old mode, new mode, old id, new id, status
		if !ended || len(fields) != 5 {
			return nil, nil, fmt.Errorf("unexpected output of git: %.100q", head)
		}
		from, err1 := readState(fields[0], fields[2])
		to, err2 := readState(fields[1], fields[3])
		if err1 != nil || err2 != nil {
			return nil, nil, fmt.Errorf("unexpected output of git: %.100q", head)
		}
		records, text = append(records, record{path: string(name), from: from, to: to}), tail
	}
	return records, text, nil
}

func readState(mode, id string) (s state, err error) {
	m, err := strconv.ParseUint(mode, 8, 32)
	if err != nil {
		return s, err
	}
	raw, err := hex.DecodeString(id)
	if err != nil || len(raw) != len(s.id) {
		return s, fmt.Errorf("invalid id %q", id)
	}
	return state{uint32(m), oid(raw)}, nil
}

// mark sets out for paths that one of the snapshots leaves out: a file that is
// newly ignored or too large was not deleted. A directory that is left out accounts
// for everything in it.
func mark(records []record) []record {
	outFrom, outTo := map[string]string{}, map[string]string{}
	for _, r := range records {
		if r.from.mode == modeOut {
			outFrom[r.path] = reason(r.from)
		}
		if r.to.mode == modeOut {
			outTo[r.path] = reason(r.to)
		}
	}
	var marked []record
	for _, r := range records {
		if !r.from.covered() && !r.to.covered() {
			continue
		}
		if r.from.mode == 0 || r.from.mode == modeOut {
			r.out = above(outFrom, r.path)
		}
		if r.to.mode == 0 || r.to.mode == modeOut {
			r.out = above(outTo, r.path)
		}
		marked = append(marked, r)
	}
	return marked
}

func reason(s state) string {
	if why := outReasons[s.id]; why != "" {
		return why
	}
	return "not covered"
}

// above returns the value for path or for its closest parent directory that has
// one.
func above(said map[string]string, path string) string {
	for len(said) > 0 {
		if why := said[path]; why != "" {
			return why
		}
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			break
		}
		path = path[:i]
	}
	return ""
}
