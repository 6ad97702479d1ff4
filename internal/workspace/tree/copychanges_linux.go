package tree

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Collect moves what the command has changed in the copy to an empty directory, which becomes the upper directory of the
// view: with whiteouts for what was deleted. The command must have ended.
func (c *Copy) Collect(ctx context.Context, upper string) error {
	m := mover{copied: c, from: -1, to: -1, limits: Limits{}.withDefaults(), seen: map[string]Type{}, modes: map[string]uint32{}}
	defer func() { m.from.close(); m.to.close() }()
	for _, d := range []struct {
		dir  *directory
		path string
	}{{&m.from, c.dir}, {&m.to, upper}} {
		if err := os.Chmod(d.path, 0o700); err != nil { //nolint:gosec // a directory needs it
			return err
		}
		var err error
		if *d.dir, err = openDirectory(d.path); err != nil {
			return err
		}
	}
	if err := m.walk(ctx, "", 0); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(c.index)) {
		if err := m.whiteOut(path); err != nil {
			return err
		}
	}
	return m.setModes()
}

type mover struct {
	copied   *Copy
	from, to directory
	limits   Limits
	entries  int
	seen     map[string]Type   // what is in the copy now
	modes    map[string]uint32 // of the directories in it
	created  []string          // directories of the upper directory
}

func (m *mover) walk(ctx context.Context, dir string, depth int) error {
	if depth > m.limits.Depth {
		return &LimitError{Limit: "levels of directories", Max: int64(m.limits.Depth)}
	}
	deeper, err := m.moveEntries(ctx, dir)
	if err != nil {
		return err
	}
	for _, path := range deeper {
		if err := m.walk(ctx, path, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (m *mover) moveEntries(ctx context.Context, dir string) (deeper []string, err error) {
	names, err := m.from.names(dir)
	if err != nil {
		return nil, err
	}
	from, err := m.from.directory(dir)
	if err != nil {
		return nil, err
	}
	defer from.close()
	for _, base := range names {
		path := join(dir, base)
		if m.entries++; m.entries > m.limits.Entries {
			return nil, &LimitError{Limit: "entries", Max: int64(m.limits.Entries)}
		}
		if len(path) > m.limits.Path {
			return nil, &LimitError{Limit: "bytes in a path", Max: int64(m.limits.Path)}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		st, err := from.lstat(base)
		if err != nil {
			return nil, err
		}
		now := toStat(&st)
		switch {
		case st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == 0:
			continue // it would be a whiteout: the entry that it replaced is deleted
		case now.Type == Dir:
			deeper = append(deeper, path)
			err = m.openDir(from, base, path, now)
		default:
			err = m.moveChanged(from, base, path, now)
		}
		if err != nil {
			return nil, err
		}
		m.seen[path] = now.Type
	}
	return deeper, nil
}

// moveChanged moves an entry, unless it is as it was before the command. Nobody can set the change time.
func (m *mover) moveChanged(from directory, base, path string, now Stat) error {
	old := m.copied.index[path]
	if !is(now, old) || now.Mode != old.Mode || now.Size != old.Size || now.ModTime != old.ModTime || now.ChangeTime >= m.copied.since {
		return m.move(from, base, path)
	}
	before, known := m.copied.sums[path]
	if !known {
		return nil
	}
	f, err := openUpperFile(&pair{upper: from, base: base, path: path, new: now, up: unix.Stat_t{Mode: now.Mode}})
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	var sum maphash.Hash
	sum.SetSeed(m.copied.seed)
	if _, err := io.Copy(&sum, f); err != nil || sum.Sum64() == before {
		return err
	}
	return m.move(from, base, path)
}

// openDir makes a directory of the copy accessible, and notes its mode. A new one, or one with a new mode, is created in the
// upper directory.
func (m *mover) openDir(from directory, base, path string, now Stat) error {
	m.modes[path] = now.Mode
	if now.Mode&0o700 != 0o700 {
		if err := from.chmod(base, now.Inode, 0o700); err != nil {
			return err
		}
	}
	names, err := overlayAttributes(from, base)
	if err != nil {
		return err
	}
	if old := m.copied.index[path]; old.Type == Dir && old.Mode == now.Mode && len(names) == 0 {
		return nil
	}
	to, err := m.place(join(path, "."))
	if err != nil {
		return err
	}
	defer to.close()
	return escapeAttributes(from, base, to, ".", names)
}

// move moves a changed entry to the upper directory.
func (m *mover) move(from directory, base, path string) error {
	to, err := m.place(path)
	if err != nil {
		return err
	}
	defer to.close()
	if err := rename(from, base, to, base, unix.RENAME_NOREPLACE); err != nil {
		return err
	}
	st, err := to.stat(base)
	if err != nil || st.Type != File {
		return err
	}
	names, err := overlayAttributes(to, base)
	if err != nil || len(names) == 0 {
		return err
	}
	if err := to.chmod(base, st.Inode, st.Mode|0o600); err != nil {
		return err
	}
	if err := escapeAttributes(to, base, to, base, names); err != nil {
		return err
	}
	for _, name := range names {
		if err := unix.Lremovexattr(to.place(base), name); err != nil {
			return &os.PathError{Op: "removexattr", Path: base, Err: err}
		}
	}
	return to.chmod(base, st.Inode, st.Mode)
}

// overlayAttributes returns the attributes of an entry that would mean something in the upper directory of an overlay.
func overlayAttributes(d directory, base string) ([]string, error) {
	names, err := d.attributes(base)
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, overlayPrefix) }), err
}

// escapeAttributes stores attributes of an entry as overlayfs does if a command sets them, so that Scan reports them.
func escapeAttributes(from directory, base string, to directory, toBase string, names []string) error {
	for _, name := range names {
		value, err := from.attribute(base, name)
		if err != nil {
			return err
		}
		escaped := overlayPrefix + "overlay." + strings.TrimPrefix(name, overlayPrefix)
		if err := unix.Lsetxattr(to.place(toBase), escaped, value, 0); err != nil {
			return &os.PathError{Op: "setxattr", Path: base, Err: err}
		}
	}
	return nil
}

// place opens the directory for an entry of the upper directory, and creates it. Its mode is set at the end.
func (m *mover) place(path string) (directory, error) {
	dir, _ := split(path)
	to, err := m.to.directory(dir)
	if !isMissing(err) {
		return to, err
	}
	above, err := m.place(dir)
	if err != nil {
		return -1, err
	}
	defer above.close()
	_, base := split(dir)
	if err := makeDir(above, base, 0o700); err != nil {
		return -1, err
	}
	m.created = append(m.created, dir)
	return m.to.directory(dir)
}

// whiteOut marks an entry that the command deleted. What a deleted directory contained needs no mark.
func (m *mover) whiteOut(path string) error {
	dir, base := split(path)
	if m.seen[path] != Missing || dir != "" && m.seen[dir] != Dir {
		return nil
	}
	to, err := m.place(path)
	if err != nil {
		return err
	}
	defer to.close()
	return WhiteOut(to.place(base))
}

// WhiteOut creates a whiteout. Where it cannot be a device, on an overlay, it is a file with an attribute: Scan and NewCopy
// accept both, but an overlay does not accept that one everywhere.
func WhiteOut(path string) error {
	err := unix.Mknod(path, unix.S_IFCHR, 0)
	if errors.Is(err, unix.EPERM) {
		if err = os.WriteFile(path, nil, 0o600); err == nil {
			err = unix.Lsetxattr(path, overlayPrefix+"whiteout", []byte("y"), 0)
		}
	}
	if err != nil {
		return fmt.Errorf("create a whiteout: %w", err)
	}
	return nil
}

// setModes gives the directories of the upper directory their modes, the deepest first.
func (m *mover) setModes() error {
	for _, path := range slices.Backward(m.created) {
		parent, base, err := m.to.parent(path)
		if err != nil {
			return err
		}
		st, err := parent.stat(base)
		if err == nil {
			err = parent.chmod(base, st.Inode, m.modes[path])
		}
		parent.close()
		if err != nil {
			return err
		}
	}
	return nil
}
