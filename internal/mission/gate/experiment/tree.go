package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// side is one end of the change: its files, checked out.
type side struct {
	name    string // base or head
	dir     string
	tree    string // tree hash
	entries map[string]git.Entry
}

// past is the modification time of all files that are as on their side. Files that an experiment changes are newer than
// what was built from the originals.
var past = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// checkOut creates a side.
func (x *experiments) checkOut(ctx context.Context, name, commit string) (*side, error) {
	entries, err := x.Repo.Tree(ctx, commit)
	if err != nil {
		return nil, err
	}
	s := &side{name: name, dir: filepath.Join(x.Dir, name), entries: map[string]git.Entry{}}
	for _, e := range entries {
		s.entries[e.Path] = e
	}
	if _, s.tree, err = x.Repo.Plant(ctx, s.dir, entries); err != nil {
		return nil, err
	}
	return s, s.setTimes(s.dir)
}

// setTimes gives all files of the side in a directory the same modification time.
func (s *side) setTimes(dir string) error {
	for path := range s.entries {
		if err := setTime(filepath.Join(dir, path), past); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// renew makes files newer than all that was built before, so that they are built again.
func (s *side) renew(paths []string) error {
	now := time.Now()
	for _, path := range paths {
		if err := setTime(filepath.Join(s.dir, path), now); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func setTime(path string, t time.Time) error {
	at := unix.NsecToTimespec(t.UnixNano())
	if err := unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fmt.Errorf("set the time of %s: %w", path, err)
	}
	return nil
}

// maxFile bounds the files that experiments read, in bytes.
const maxFile = 4 << 20

// read returns the text of a regular file, or false if it does not exist or is too large.
func (s *side) read(path string) ([]byte, bool) {
	if e, ok := s.entries[path]; !ok || e.Mode[:3] != "100" {
		return nil, false
	}
	info, err := os.Lstat(filepath.Join(s.dir, path))
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, false
	}
	text, err := os.ReadFile(filepath.Join(s.dir, path)) //nolint:gosec // a checkout of our own
	return text, err == nil
}

// variant is a side with changes.
type variant struct {
	on    string // what it is, for the report
	of    *side
	write map[string][]byte // new content of files; they keep their mode
	like  map[string]*side  // files that are as on the other side, or removed if it does not have them
	moved bool              // shown in another directory, and without the variables of CI
	twice bool              // checks run twice, and the second run counts
}

// with returns a copy of a variant with other content of files.
func (v *variant) with(on string, write map[string][]byte) *variant {
	c := *v
	c.on, c.write = on, map[string][]byte{}
	for path, text := range v.write {
		c.write[path] = text
	}
	for path, text := range write {
		c.write[path] = text
	}
	return &c
}

// save writes the files of a variant that differ from its side to a directory, and calls hide for those that it removes.
func (v *variant) save(dir string, hide func(path string) error) error {
	now := time.Now()
	put := func(path string, do func(at string) error) error {
		at := filepath.Join(dir, path)
		err := os.MkdirAll(filepath.Dir(at), 0o700)
		if err == nil {
			err = os.RemoveAll(at)
		}
		if err == nil {
			err = do(at)
		}
		if err == nil {
			err = setTime(at, now)
		}
		if err != nil {
			return fmt.Errorf("prepare %s: %w", path, err)
		}
		return nil
	}
	for path, from := range v.like {
		e, there := from.entries[path]
		switch {
		case there && e.Submodule():
		case there:
			if err := put(path, func(at string) error { return from.copyFile(e, at) }); err != nil {
				return err
			}
		default:
			if err := v.remove(dir, path, from, hide); err != nil {
				return err
			}
		}
	}
	for path, text := range v.write {
		if err := put(path, func(at string) error { return os.WriteFile(at, text, v.mode(path)) }); err != nil {
			return err
		}
	}
	return nil
}

// remove hides a file that the other side does not have.
func (v *variant) remove(dir, path string, from *side, hide func(path string) error) error {
	if _, ok := v.of.entries[path]; !ok {
		return nil
	}
	if info, err := os.Lstat(filepath.Join(from.dir, path)); err == nil && info.IsDir() {
		return nil // a directory takes its place
	}
	at := filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	return hide(at)
}

func (v *variant) mode(path string) os.FileMode {
	for _, s := range []*side{v.like[path], v.of} {
		if s == nil {
			continue
		}
		if e, ok := s.entries[path]; ok {
			return fileMode(e)
		}
	}
	return 0o600
}

// copyFile copies a file of the side.
func (s *side) copyFile(e git.Entry, to string) error {
	from := filepath.Join(s.dir, e.Path)
	if e.Mode == "120000" {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	text, err := os.ReadFile(from) //nolint:gosec // a checkout of our own
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, fileMode(e))
}

func fileMode(e git.Entry) os.FileMode {
	if e.Mode == "100755" {
		return 0o700
	}
	return 0o600
}

// mounted is a variant that a check can run on.
type mounted struct {
	profile sandbox.Profile
	written string // the directory with the files that the check writes
	own     string // removed by close
}

func (m *mounted) close() { tree.RemoveAll(m.own) }

// mount prepares a variant for a run. Runs at once do not see each other's files.
func (x *experiments) mount(v *variant) (m *mounted, err error) {
	m = &mounted{own: filepath.Join(x.Dir, "runs", strconv.FormatInt(x.count.Add(1), 10))}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	if !x.Views {
		return m, x.copyTree(m, v)
	}
	at := x.place
	if v.moved {
		at = x.elsewhere
	}
	view, err := newView(filepath.Join(m.own, "tree"), at, v.of.dir)
	if err == nil {
		err = v.save(view.Mask, tree.WhiteOut)
	}
	if err != nil {
		return m, err
	}
	cache, err := x.cacheView(filepath.Join(m.own, "cache"))
	if err != nil {
		return m, err
	}
	m.written = view.Upper
	m.profile = sandbox.Profile{Dir: at, Views: []sandbox.View{view}, Hidden: x.Hidden, CacheHome: x.cache, Caches: []sandbox.View{cache}}
	return m, nil
}

// cacheView returns a view of the cache. What the checks of the base write is kept, for all runs after them; what others
// write is not.
func (x *experiments) cacheView(own string) (sandbox.View, error) {
	v, err := newView(own, x.cache, cmp.Or(x.Seed, x.cache))
	if x.warm.Load() {
		v.Mask = x.kept
	} else {
		v.Upper = x.kept
	}
	return v, err
}

// renew lets a check run once more on what it has left behind.
func (m *mounted) renew() error {
	for _, list := range [][]sandbox.View{m.profile.Views, m.profile.Caches} {
		for i := range list {
			tree.RemoveAll(list[i].Work)
			if err := os.Mkdir(list[i].Work, 0o700); err != nil {
				return err
			}
		}
	}
	return nil
}

// newView creates the directories of a view.
func newView(own, at, lower string) (sandbox.View, error) {
	v := sandbox.View{
		Dir: at, Lower: lower,
		Mask: filepath.Join(own, "mask"), Upper: filepath.Join(own, "upper"), Work: filepath.Join(own, "work"), Merged: filepath.Join(own, "merged"),
	}
	for _, dir := range []string{v.Mask, v.Upper, v.Work, v.Merged} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return v, err
		}
	}
	return v, nil
}

// copyTree prepares a variant as a copy with an empty cache, where no views are possible.
func (x *experiments) copyTree(m *mounted, v *variant) error {
	m.written = filepath.Join(m.own, "tree")
	cache := filepath.Join(m.own, "cache")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return err
	}
	if err := os.CopyFS(m.written, os.DirFS(v.of.dir)); err != nil {
		return err
	}
	m.profile = sandbox.Profile{Dir: m.written, Hidden: x.Hidden, CacheHome: cache}
	return errors.Join(v.of.setTimes(m.written), v.save(m.written, os.RemoveAll))
}
