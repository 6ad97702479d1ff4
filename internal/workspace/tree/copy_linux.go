package tree

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Copy is a private copy of a directory, for a command that cannot have an overlay.
type Copy struct {
	// Cloned means that all files share their blocks with those of the directory.
	Cloned bool

	// Mounts are the mount points in the directory, by path. What is mounted there is not copied.
	Mounts []string

	dir   string
	index map[string]Stat   // the entries of the copy before the command
	dirs  map[string]uint64 // the inodes of the directories that were copied
	since int64             // what changed in the copy later was changed by the command

	// sums has the hashes of the files, if the file system of the copy does not record all changes in their times.
	sums map[string]uint64
	seed maphash.Seed
}

// NewCopy copies the lower directory of a view, without what its mask hides, to an empty directory. It leaves out sockets,
// FIFOs and devices, and the content of what the user cannot read. It fails if the directory exceeds the limits for
// copies.
func NewCopy(ctx context.Context, v View, to string) (*Copy, error) {
	c := copier{
		scanner: scanner{upper: -1, lower: -1, mask: -1, limits: v.Limits.forCopy()},
		to:      -1, clone: true, links: map[uint64]string{}, uid: os.Geteuid(),
		done: &Copy{dir: to, index: map[string]Stat{}, dirs: map[string]uint64{}},
	}
	defer func() { c.lower.close(); c.mask.close(); c.to.close() }()
	var err error
	if c.lower, err = openDirectory(v.Lower); err != nil {
		return nil, err
	}
	if c.to, err = openDirectory(to); err != nil {
		return nil, err
	}
	if v.Mask != "" {
		if c.mask, err = openDirectory(v.Mask); err != nil {
			return nil, err
		}
	}
	timed, err := timesMaps(filepath.Dir(to))
	if err != nil {
		return nil, err
	}
	if !timed {
		c.clone, c.done.sums, c.done.seed = false, map[string]uint64{}, maphash.MakeSeed()
	}
	if err := c.copyAll(ctx); err != nil {
		var limit *LimitError
		if errors.As(err, &limit) {
			limit.Copy = true
		}
		return nil, err
	}
	if c.done.since, err = nowIn(filepath.Dir(to)); err != nil {
		return nil, err
	}
	c.done.Cloned = c.clone && c.cloned
	return c.done, nil
}

// Complete adds what is known of the lower directory before the command to a view.
func (c *Copy) Complete(v View) View {
	v.Dirs, v.Began = c.dirs, make(map[string]Type, len(c.index))
	for path, st := range c.index {
		v.Began[path] = st.Type
	}
	return v
}

type copier struct {
	scanner // of the lower directory
	to      directory
	uid     int
	clone   bool              // the file system may have clones
	cloned  bool              // it has
	links   map[uint64]string // the copies of files with several names, by inode
	done    *Copy
}

func (c *copier) copyAll(ctx context.Context) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(c.lower), &st); err != nil {
		return err
	}
	if err := c.walk(ctx, "", 0); err != nil {
		return err
	}
	return errors.Join(unix.Fchmod(int(c.to), st.Mode&0o7777&^setIDs), unix.UtimesNanoAt(int(c.to), ".", times(st.Mtim.Nano()), 0))
}

// walk copies the entries of a directory. It closes its descriptors before it goes deeper.
func (c *copier) walk(ctx context.Context, dir string, depth int) error {
	if depth > c.limits.Depth {
		return &LimitError{Limit: "levels of directories", Max: int64(c.limits.Depth)}
	}
	deeper, err := c.copyEntries(ctx, dir)
	if err != nil {
		return err
	}
	for _, sub := range deeper {
		if sub.readable {
			if err := c.walk(ctx, sub.path, depth+1); err != nil {
				return err
			}
		}
		if err := c.close(sub); err != nil {
			return err
		}
	}
	return nil
}

// copiedDir is a directory whose mode and time are set when its entries are copied.
type copiedDir struct {
	path     string
	st       unix.Stat_t
	readable bool
}

func (c *copier) copyEntries(ctx context.Context, dir string) (deeper []copiedDir, err error) {
	names, err := c.lower.names(dir)
	if isMissing(err) && dir != "" {
		return nil, nil // somebody deleted it
	}
	if err != nil {
		return nil, err
	}
	from, err := c.openLower(dir)
	if err != nil {
		return nil, err
	}
	defer from.close()
	to, err := c.to.directory(dir)
	if err != nil {
		return nil, err
	}
	defer to.close()
	for _, base := range names {
		path := join(dir, base)
		seen, mask, err := from.stat(base)
		if err != nil {
			return nil, err
		}
		if seen.Type == Missing || seen.Type == Other {
			continue
		}
		if err := c.count(ctx, path); err != nil {
			return nil, err
		}
		switch seen.Type {
		case Dir:
			var sub *copiedDir
			if sub, err = c.makeDir(from.dir, to, base, path, mask); sub != nil {
				deeper = append(deeper, *sub)
			}
		case Link:
			err = c.copyLink(from.dir, to, base, path, seen)
		default:
			err = c.copyFile(from.dir, to, base, path)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) { // somebody may delete entries meanwhile
			return nil, &os.PathError{Op: "copy", Path: path, Err: err}
		}
	}
	return deeper, nil
}

// makeDir creates a directory of the copy. It returns nil for a mount point, which is not copied.
func (c *copier) makeDir(from, to directory, base, path string, mask Stat) (*copiedDir, error) {
	sub := &copiedDir{path: path}
	fd, err := from.open(base, unix.O_RDONLY|unix.O_DIRECTORY)
	switch {
	case errors.Is(err, unix.EXDEV):
		c.done.Mounts = append(c.done.Mounts, path)
		if err := makeDir(to, base, 0o700); err != nil {
			return nil, err
		}
		return nil, c.note(to, base, path)
	case errors.Is(err, os.ErrPermission):
		sub.st, err = from.lstat(base)
	case err == nil:
		sub.readable = true
		err = unix.Fstat(fd, &sub.st)
		_ = unix.Close(fd)
	}
	if err != nil {
		return nil, err
	}
	if mask.Type == Dir { // its mode is what Scan compares with
		sub.st.Mode = mask.Mode
	}
	sub.st.Mode = c.mode(from, base, &sub.st, sub.readable)
	c.done.dirs[path] = sub.st.Ino
	return sub, makeDir(to, base, 0o700)
}

// close sets the mode and the time of a directory, after its entries.
func (c *copier) close(sub copiedDir) error {
	to, base, err := c.to.parent(sub.path)
	if err != nil {
		return err
	}
	defer to.close()
	if err := keepOwner(to, base, &sub.st); err != nil {
		return err
	}
	now, err := to.stat(base)
	if err != nil {
		return err
	}
	if err := to.chmod(base, now.Inode, sub.st.Mode); err != nil {
		return err
	}
	if err := to.setTime(base, now.Inode, sub.st.Mtim.Nano()); err != nil {
		return err
	}
	return c.note(to, base, sub.path)
}

// mode returns the mode of the copy of an entry. What the user cannot read or write is the same for the command, although the
// copy may belong to the user.
func (c *copier) mode(from directory, base string, st *unix.Stat_t, readable bool) uint32 {
	mode := st.Mode & 0o7777
	switch {
	case !readable:
		return 0
	case c.uid != 0 && int(st.Uid) != c.uid && unix.Faccessat(int(from), base, unix.W_OK, unix.AT_EACCESS) != nil:
		return mode &^ 0o222
	}
	return mode
}

// note remembers an entry of the copy.
func (c *copier) note(to directory, base, path string) error {
	st, err := to.stat(base)
	c.done.index[path] = st
	return err
}

func (c *copier) copyLink(from, to directory, base, path string, seen Stat) error {
	if err := copyEntry(from, base, to, base, seen); err != nil {
		return err
	}
	if err := unix.UtimesNanoAt(int(to), base, times(seen.ModTime), unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	return c.note(to, base, path)
}

func (c *copier) copyFile(from, to directory, base, path string) error {
	fd, err := from.open(base, unix.O_RDONLY|unix.O_NONBLOCK)
	if errors.Is(err, unix.EXDEV) || errors.Is(err, os.ErrPermission) {
		return c.copyNothing(to, base, path, errors.Is(err, unix.EXDEV))
	}
	if err != nil {
		return err
	}
	source := os.NewFile(uintptr(fd), path)
	defer func() { _ = source.Close() }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return os.ErrNotExist // somebody replaced it
	}
	if first := c.links[st.Ino]; first != "" && st.Nlink > 1 {
		if err := unix.Linkat(int(c.to), first, int(to), base, 0); err != nil {
			return err
		}
		if c.done.sums != nil {
			c.done.sums[path] = c.done.sums[first]
		}
		return c.note(to, base, path)
	}
	target, err := createFile(to, base)
	if err != nil {
		return err
	}
	defer func() { _ = target.Close() }()
	if err := c.copyContent(target, source, path, st.Size); err != nil {
		return err
	}
	if err := copyAttributes(from, base, to, base); err != nil {
		return err
	}
	if err := keepOwner(to, base, &st); err != nil {
		return err
	}
	if err := unix.Fchmod(int(target.Fd()), c.mode(from, base, &st, true)); err != nil {
		return err
	}
	if err := unix.UtimesNanoAt(int(to), base, times(st.Mtim.Nano()), unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if st.Nlink > 1 {
		c.links[st.Ino] = path
	}
	return c.note(to, base, path)
}

// copyNothing creates an empty file for a mount point, or for a file that the user cannot read.
func (c *copier) copyNothing(to directory, base, path string, mount bool) error {
	target, err := createFile(to, base)
	if err != nil {
		return err
	}
	if mount {
		c.done.Mounts = append(c.done.Mounts, path)
	}
	return errors.Join(unix.Fchmod(int(target.Fd()), 0), target.Close(), c.note(to, base, path))
}

func createFile(to directory, base string) (*os.File, error) {
	fd, err := unix.Openat(int(to), base, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, &os.PathError{Op: "create", Path: base, Err: err}
	}
	return os.NewFile(uintptr(fd), base), nil
}

// copyContent clones a file or, if the file system has no clones, copies it. Only copies count against the limit.
func (c *copier) copyContent(target, source *os.File, path string, size int64) error {
	if c.clone && size > 0 {
		if err := unix.IoctlFileClone(int(target.Fd()), int(source.Fd())); err == nil {
			c.cloned = true
			return nil
		}
		c.clone = false
	}
	left := c.limits.Bytes - c.bytes
	if size > left {
		return &LimitError{Limit: "bytes", Max: c.limits.Bytes}
	}
	var to io.Writer = target
	var sum maphash.Hash
	if c.done.sums != nil {
		sum.SetSeed(c.done.seed)
		to = io.MultiWriter(target, &sum)
	}
	n, err := io.Copy(to, io.LimitReader(source, left+1))
	if c.bytes += n; n > left {
		return &LimitError{Limit: "bytes", Max: c.limits.Bytes}
	}
	if c.done.sums != nil {
		c.done.sums[path] = sum.Sum64()
	}
	return err
}

// timesMaps reports whether a file system updates the modification time of a file that a program changes through a map, even
// if it read from the map before. tmpfs does not.
func timesMaps(dir string) (bool, error) {
	f, err := os.CreateTemp(dir, "map")
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close(); _ = os.Remove(f.Name()) }()
	past := time.Unix(1, 0)
	if _, err := f.WriteString("x"); err != nil {
		return false, err
	}
	if err := os.Chtimes(f.Name(), past, past); err != nil {
		return false, err
	}
	m, err := unix.Mmap(int(f.Fd()), 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return false, nil //nolint:nilerr // then nobody maps files here, or times are unknown
	}
	if m[0] == 'x' { // one instruction must read before another one writes
		m[0] = 'y'
	}
	if err := unix.Munmap(m); err != nil {
		return false, err
	}
	info, err := f.Stat()
	return err == nil && !info.ModTime().Equal(past), err
}

// Foreign returns the first entry of a directory that its user can change, and that belongs to another user or group. An
// overlay in a user namespace cannot change it. It looks at as many entries as a copy may have.
func Foreign(ctx context.Context, dir string) (found string, err error) {
	entries, uid, gid := 0, uint32(os.Geteuid()), uint32(os.Getegid()) //nolint:gosec // they fit
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if entries++; entries > copyLimits.Entries {
			return filepath.SkipAll
		}
		if err != nil || ctx.Err() != nil {
			return ctx.Err() // what cannot be read is not the user's to change
		}
		var st unix.Stat_t
		if unix.Lstat(path, &st) != nil || st.Uid == uid && st.Gid == gid || st.Mode&unix.S_IFMT == unix.S_IFLNK {
			return nil
		}
		if st.Uid != uid && unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) != nil {
			return nil
		}
		found = path
		return filepath.SkipAll
	})
	return found, err
}
