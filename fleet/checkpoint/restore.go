package checkpoint

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Restore makes each root equal to a checkpoint: it removes everything else, and leaves files alone that match.
// If it fails or the host dies, the roots are in between, and Save refuses them until Restore succeeds. Nobody
// else may change the roots in the meantime; doing so can damage them but affects nothing outside.
func (k *Store) Restore(ctx context.Context, key, id string, roots []Root) error {
	if err := k.check(key, roots); err != nil {
		return err
	}
	s, _, err := k.load(ctx, key, id)
	if err != nil {
		return err
	}
	r := &restorer{Store: k, key: key, state: s, roots: roots, inside: s.children(), wanted: map[string]map[content][]raw{}, stamps: map[raw]stamp{}}
	for path := range s.Entries {
		if _, _, below := cutLast(path); !below && !slices.ContainsFunc(roots, func(root Root) bool { return root.Name == string(path) }) {
			return fault.New(pawl.ErrInvalid, "restore: no path given for directory %q of the checkpoint", path)
		}
	}
	path := k.indexPath(key, roots)
	if err := markPartial(path); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if err := r.restore(ctx); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	now := k.clock()
	maps.DeleteFunc(r.stamps, func(_ raw, s stamp) bool { return !s.stable(now) })
	if err := writeIndex(path, &index{s, r.stamps}); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return clearPartial(path)
}

// children returns the names in each directory, sorted.
func (s *state) children() map[raw][]string {
	inside := map[raw][]string{}
	for path := range s.Entries {
		if above, name, below := cutLast(path); below {
			inside[above] = append(inside[above], name)
		}
	}
	for _, names := range inside {
		slices.Sort(names)
	}
	return inside
}

// content is a range of a pack.
type content struct {
	offset, size int64
	sum          sum
}

// restorer is the state of one Restore.
type restorer struct {
	*Store

	key    string
	state  *state
	roots  []Root
	inside map[raw][]string
	wanted map[string]map[content][]raw // files that need each content, by pack
	stamps map[raw]stamp
	dev    uint64

	above raw // path of dir, the directory of the last file, which is kept open
	dir   *os.File
}

func (r *restorer) restore(ctx context.Context) error {
	for _, root := range r.roots {
		if err := r.root(ctx, root); err != nil {
			return err
		}
	}
	err := r.fill(ctx)
	if r.dir != nil {
		err = errors.Join(err, r.dir.Close())
	}
	if err != nil {
		return err
	}
	for _, root := range r.roots {
		if _, found := r.state.Entries[raw(root.Name)]; !found {
			continue
		}
		dir, err := openRoot(root.Path)
		if err != nil {
			return err
		}
		if err := errors.Join(r.finish(dir, raw(root.Name)), dir.Close()); err != nil {
			return err
		}
	}
	return nil
}

// root restores the directories and links of a root.
func (r *restorer) root(ctx context.Context, root Root) error {
	_, found := r.state.Entries[raw(root.Name)]
	if found {
		if err := os.MkdirAll(root.Path, 0o700); err != nil {
			return err
		}
	}
	dir, err := openRoot(root.Path)
	if errors.Is(err, unix.ENOENT) && !found {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // it is only read
	st, err := stat(dir)
	if err != nil {
		return err
	}
	r.dev = number(st.Dev)
	if found {
		return r.restoreDir(ctx, dir, raw(root.Name))
	}
	above, err := os.Open(filepath.Dir(root.Path))
	if err != nil {
		return err
	}
	return errors.Join(removeAt(above, filepath.Base(root.Path), r.dev), above.Close())
}

// restoreDir restores the content of an open directory, except for the contents of files.
func (r *restorer) restoreDir(ctx context.Context, dir *os.File, path raw) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := dir.Chmod(0o700); err != nil { // until its content is complete
		return err
	}
	there, err := namesIn(dir)
	if err != nil {
		return err
	}
	for _, name := range there {
		if _, keep := slices.BinarySearch(r.inside[path], name); !keep {
			if err := removeAt(dir, name, r.dev); err != nil {
				return err
			}
		}
	}
	for _, name := range r.inside[path] {
		if err := r.restoreEntry(ctx, dir, r.state.Entries[path+"/"+raw(name)], name); err != nil {
			return err
		}
	}
	return nil
}

func (r *restorer) restoreEntry(ctx context.Context, dir *os.File, e entry, name string) error {
	st, err := statAt(dir, name)
	there := err == nil
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	switch {
	case e.Kind == kindFile:
		return r.file(ctx, dir, e, name, there, &st)
	case e.Kind == kindLink && there && fileType(&st) == unix.S_IFLNK:
		if target, err := linkAt(dir, name); err != nil || target == string(e.Target) {
			return err
		}
	case e.Kind == kindDir && there && fileType(&st) == unix.S_IFDIR && number(st.Dev) == r.dev:
		return r.enter(ctx, dir, e, name)
	}
	if err := removeAt(dir, name, r.dev); err != nil {
		return err
	}
	if e.Kind == kindLink {
		if err := unix.Symlinkat(string(e.Target), int(dir.Fd()), name); err != nil {
			return &os.PathError{Op: "symlink", Path: dir.Name() + "/" + name, Err: err}
		}
		return nil
	}
	if err := unix.Mkdirat(int(dir.Fd()), name, 0o700); err != nil {
		return &os.PathError{Op: "mkdir", Path: dir.Name() + "/" + name, Err: err}
	}
	return r.enter(ctx, dir, e, name)
}

// enter restores the content of an existing directory.
func (r *restorer) enter(ctx context.Context, dir *os.File, e entry, name string) error {
	if r.look != nil {
		r.look(dir.Name() + "/" + name)
	}
	inner, err := openDir(dir, name)
	if err != nil {
		return err
	}
	return errors.Join(r.restoreDir(ctx, inner, e.Path), inner.Close())
}

// file leaves a file alone if it matches, and otherwise notes the content it needs.
func (r *restorer) file(ctx context.Context, dir *os.File, e entry, name string, there bool, st *unix.Stat_t) error {
	if there && fileType(st) == unix.S_IFREG && st.Size == e.Size {
		if right, err := r.matches(ctx, dir, e, name); right || err != nil {
			return err
		}
	}
	if there {
		if err := removeAt(dir, name, r.dev); err != nil {
			return err
		}
	}
	if e.Size == 0 {
		return r.writeFile(ctx, dir, e, name, strings.NewReader(""))
	}
	if r.wanted[e.Pack] == nil {
		r.wanted[e.Pack] = map[content][]raw{}
	}
	c := content{e.Offset, e.Size, e.Sum}
	r.wanted[e.Pack][c] = append(r.wanted[e.Pack][c], e.Path)
	return nil
}

// matches reports whether a file has the right content, and then sets its mode and time. A file with several hard
// links never matches, because another name may be outside of the root.
func (r *restorer) matches(ctx context.Context, dir *os.File, e entry, name string) (bool, error) {
	f, err := openAt(dir, name, 0, 0)
	if err != nil {
		return false, nil // it is created again
	}
	defer f.Close() //nolint:errcheck // it is only read
	st, err := stat(f)
	if err != nil {
		return false, err
	}
	if fileType(&st) != unix.S_IFREG || number(st.Nlink) != 1 {
		return false, nil
	}
	size, sum, err := digest(ctx, io.Discard, io.LimitReader(f, e.Size+1))
	if err != nil || size != e.Size || sum != e.Sum {
		return false, err
	}
	if number(st.Mode)&0o7777 != uint64(e.Mode) {
		err = f.Chmod(os.FileMode(e.Mode))
	}
	if unix.TimespecToNsec(st.Mtim) != e.Time {
		err = errors.Join(err, setTime(dir, name, e.Time))
	}
	return true, err
}

// writeFile creates a file from a reader, and verifies it against its entry.
func (r *restorer) writeFile(ctx context.Context, dir *os.File, e entry, name string, from io.Reader) error {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	temp := ".pawl-restore-" + hex.EncodeToString(id[:])
	f, err := openAt(dir, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	size, sum, err := digest(ctx, f, from)
	if err == nil && (size != e.Size || sum != e.Sum) {
		err = damaged(r.state.ID, fmt.Sprintf("the content of %q does not match", e.Path))
	}
	if err == nil {
		err = f.Chmod(os.FileMode(e.Mode))
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = setTime(dir, temp, e.Time)
	}
	if err == nil {
		err = retryEINTR(func() error { return unix.Renameat(int(dir.Fd()), temp, int(dir.Fd()), name) })
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s/%s: %w", dir.Name(), name, err), unlinkAt(dir, temp, 0))
	}
	return nil
}

// finish sets the modes of an open directory and those below it, and records the stamps of the files.
func (r *restorer) finish(dir *os.File, path raw) error {
	for _, name := range r.inside[path] {
		below := path + "/" + raw(name)
		switch e := r.state.Entries[below]; e.Kind {
		case kindFile:
			st, err := statAt(dir, name)
			if err != nil {
				return err
			}
			if fileType(&st) != unix.S_IFREG || st.Size != e.Size {
				return fault.New(pawl.ErrBusy, "%s/%s was changed in the meantime: stop what is using it, and restore again", dir.Name(), name)
			}
			r.stamps[below] = stampOf(&st)
		case kindDir:
			inner, err := openDir(dir, name)
			if err != nil {
				return err
			}
			if err := errors.Join(r.finish(inner, below), inner.Close()); err != nil {
				return err
			}
		case kindLink:
		}
	}
	return dir.Chmod(os.FileMode(r.state.Entries[path].Mode))
}
