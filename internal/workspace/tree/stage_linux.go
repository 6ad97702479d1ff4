package tree

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// planCopies decides which new entries are copied. The others are moved, so their inodes are known.
func (r *run) planCopies(all bool) error {
	first := map[uint64]int{}
	for i := range r.m.Ops {
		o := &r.m.Ops[i]
		if o.Kind == touch {
			o.Staged = o.Old
			o.Staged.Mode, o.Staged.ModTime = o.New.Mode, o.New.ModTime
			continue
		}
		if o.New.Type != File && o.New.Type != Link {
			continue
		}
		o.Copy = all
		if !all && o.New.Type == File {
			copied, err := r.hasSecurity(string(o.Path))
			if err != nil {
				return err
			}
			o.Copy = copied // not every user may remove such an attribute
		}
		if !o.Copy {
			o.Staged = o.New
			continue
		}
		if o.Conflict != "" {
			continue
		}
		if n, found := first[o.New.Inode]; found {
			o.Links = n + 1
		} else {
			first[o.New.Inode] = i
		}
	}
	return nil
}

func (r *run) hasSecurity(path string) (bool, error) {
	parent, base, err := r.upper.parent(path)
	if err != nil {
		return false, err
	}
	defer parent.close()
	names, err := parent.attributes(base)
	return slices.ContainsFunc(names, isSecurity), err
}

// openUpper gives access to the directories of the upper. Their modes are in the manifest.
func (r *run) openUpper() error {
	seen := map[string]bool{"": true}
	for i := range r.m.Ops {
		dir, _ := split(string(r.m.Ops[i].Path))
		if seen[dir] || r.m.Ops[i].New.Type == Missing {
			continue
		}
		end := 0
		for end < len(dir) {
			next := strings.IndexByte(dir[end+1:], '/')
			if next < 0 {
				end = len(dir)
			} else {
				end += 1 + next
			}
			if seen[dir[:end]] {
				continue
			}
			seen[dir[:end]] = true
			if err := r.openUpperDir(dir[:end]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) openUpperDir(dir string) error {
	parent, base, err := r.upper.parent(dir)
	if err != nil {
		return err
	}
	defer parent.close()
	st, err := parent.stat(base)
	if err != nil || st.Type != Dir || st.Mode&0o700 == 0o700 {
		return err
	}
	return parent.chmod(base, st.Inode, st.Mode|0o700)
}

// openSlots opens the directory of the slots, and creates it if it is in the root.
func (r *run) openSlots() error {
	if r.slots >= 0 {
		return nil
	}
	if r.m.Slots == "" {
		r.slots = r.trash
		return nil
	}
	err := unix.Mkdirat(int(r.root), string(r.m.Slots), 0o700)
	if err != nil && !errors.Is(err, unix.EEXIST) {
		return &os.PathError{Op: "mkdir", Path: string(r.m.Slots), Err: err}
	}
	r.slots, err = r.root.directory(string(r.m.Slots))
	return err
}

// stageAll puts copies and new directories into their slots.
func (r *run) stageAll() error {
	if err := r.openSlots(); err != nil {
		return err
	}
	for i := range r.m.Ops {
		o := &r.m.Ops[i]
		if o.Conflict != "" || o.Kind == touch || o.New.Type != Dir && !o.Copy {
			continue
		}
		if err := r.at("stage " + strconv.Itoa(i)); err != nil {
			return err
		}
		if err := r.stage(i); err != nil {
			return fmt.Errorf("copy %s: %w", o.Path, err)
		}
		var err error
		if o.Staged, err = r.slots.stat(slot(i)); err != nil {
			return err
		}
	}
	r.m.Staged = true
	return nil
}

func (r *run) stage(i int) error {
	o := &r.m.Ops[i]
	if err := removeSlot(r.slots, slot(i)); err != nil { // of an interrupted attempt
		return err
	}
	if o.Links > 0 {
		err := unix.Linkat(int(r.slots), slot(o.Links-1), int(r.slots), slot(i), 0)
		if err == nil {
			return nil
		}
	}
	from, base, err := r.upper.parent(string(o.Path))
	if err != nil {
		return err
	}
	defer from.close()
	return copyEntry(from, base, r.slots, slot(i), o.New)
}

func removeSlot(slots directory, base string) error {
	err := unix.Unlinkat(int(slots), base, 0)
	if errors.Is(err, unix.EISDIR) {
		err = unix.Unlinkat(int(slots), base, unix.AT_REMOVEDIR)
	}
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return &os.PathError{Op: "remove", Path: base, Err: err}
	}
	return nil
}

var errUpper = errors.New("the file changed after the command ended")

// copyEntry creates an entry like the one that was checked. A directory is created empty, and open to its owner until
// the end.
func copyEntry(from directory, fromBase string, to directory, toBase string, checked Stat) error {
	st, err := from.lstat(fromBase)
	if err != nil {
		return err
	}
	if !is(toStat(&st), checked) {
		return &os.PathError{Op: "copy", Path: fromBase, Err: errUpper}
	}
	switch checked.Type {
	case Dir:
		err = makeDir(to, toBase, checked.Mode|0o700)
	case Link:
		var target string
		if target, err = from.readlink(fromBase); err == nil {
			err = unix.Symlinkat(target, int(to), toBase)
		}
	default:
		return copyFile(from, fromBase, to, toBase, checked)
	}
	if err == nil {
		err = keepOwner(to, toBase, &st)
	}
	return err
}

// keepOwner gives an entry the owner of another one, as far as the user may.
func keepOwner(to directory, base string, like *unix.Stat_t) error {
	st, err := to.lstat(base)
	if err != nil || st.Uid == like.Uid && st.Gid == like.Gid {
		return err
	}
	err = unix.Fchownat(int(to), base, int(like.Uid), int(like.Gid), unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EINVAL) {
		return nil
	}
	return err
}

func copyFile(from directory, fromBase string, to directory, toBase string, checked Stat) error {
	source, err := openUpperFile(&pair{upper: from, base: fromBase, new: checked, up: unix.Stat_t{Mode: checked.Mode}})
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	fd, err := unix.Openat(int(to), toBase, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return &os.PathError{Op: "create", Path: toBase, Err: err}
	}
	target := os.NewFile(uintptr(fd), toBase)
	defer func() { _ = target.Close() }()
	if _, err := io.Copy(target, source); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(source.Fd()), &st); err != nil {
		return err
	}
	if now := toStat(&st); !is(now, checked) || now.Size != checked.Size || now.ModTime != checked.ModTime {
		return &os.PathError{Op: "copy", Path: fromBase, Err: errUpper}
	}
	if err := copyAttributes(from, fromBase, to, toBase); err != nil {
		return err
	}
	if err := keepOwner(to, toBase, &st); err != nil {
		return err
	}
	if err := unix.Fchmod(fd, checked.Mode); err != nil {
		return err
	}
	return to.setTime(toBase, inodeOf(fd), checked.ModTime)
}

func inodeOf(fd int) uint64 {
	var st unix.Stat_t
	_ = unix.Fstat(fd, &st)
	return st.Ino
}

// copyAttributes copies the attributes that belong to the user.
func copyAttributes(from directory, fromBase string, to directory, toBase string) error {
	names, err := from.attributes(fromBase)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, "user.") || strings.HasPrefix(name, overlayPrefix) {
			continue
		}
		value, err := from.attribute(fromBase, name)
		if err != nil {
			return err
		}
		if err := unix.Lsetxattr(to.place(toBase), name, value, 0); err != nil && !errors.Is(err, unix.ENOTSUP) {
			return &os.PathError{Op: "setxattr", Path: toBase, Err: err}
		}
	}
	return nil
}

// moveToSlot moves a new entry from the upper to its slot.
func (r *run) moveToSlot(i int) error {
	o := &r.m.Ops[i]
	if o.Copy || o.New.Type == Dir {
		return nil // stageAll did
	}
	from, base, err := r.upper.parent(string(o.Path))
	if err != nil {
		return err
	}
	defer from.close()
	if missing, err := clean(from, base, o); missing || err != nil {
		return err // it was moved before
	}
	return rename(from, base, r.slots, slot(i), unix.RENAME_NOREPLACE)
}

// clean removes from an entry of the upper what is never applied. It reports whether the entry was moved before.
func clean(from directory, base string, o *op) (missing bool, err error) {
	now, err := from.stat(base)
	if err != nil || now.Type == Missing {
		return true, err
	}
	if !is(now, o.New) || now.Size != o.New.Size || now.ModTime != o.New.ModTime {
		return false, &os.PathError{Op: "move", Path: base, Err: errUpper}
	}
	if now.Type == Link {
		return false, nil
	}
	names, err := from.attributes(base)
	if err != nil {
		return false, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, overlayPrefix) })
	if len(names) > 0 && now.Mode&0o200 == 0 {
		now.Mode |= 0o200
		if err := from.chmod(base, now.Inode, now.Mode); err != nil {
			return false, err
		}
	}
	for _, name := range names {
		if err := unix.Lremovexattr(from.place(base), name); err != nil {
			return false, &os.PathError{Op: "removexattr", Path: base, Err: err}
		}
	}
	if now.Mode != o.New.Mode {
		return false, from.chmod(base, now.Inode, o.New.Mode)
	}
	return false, nil
}

// openDirs makes directories writable.
func (r *run) openDirs() error {
	for _, d := range r.m.Dirs {
		for _, from := range []uint32{d.From, d.To} { // d.To if the transaction was interrupted at its end
			if err := r.setMode(d.Path, d.Inode, from, d.From|0o700); err != nil {
				return err
			}
		}
	}
	return nil
}

// closeDirs sets the modes that directories have at the end.
func (r *run) closeDirs() error {
	for i := range slices.Backward(r.m.Ops) {
		o := &r.m.Ops[i]
		if o.Conflict == "" && o.New.Type == Dir && o.Kind != touch {
			if err := r.setMode(o.Path, o.Staged.Inode, o.Staged.Mode, o.New.Mode); err != nil {
				return err
			}
		}
	}
	for _, d := range slices.Backward(r.m.Dirs) {
		to := d.To
		if d.Op > 0 && r.m.Ops[d.Op-1].Conflict != "" {
			to = d.From
		}
		if err := r.setMode(d.Path, d.Inode, d.From|0o700, to); err != nil {
			return err
		}
	}
	return nil
}

// setMode changes the mode of a directory, if nobody else changed it and it belongs to the user. In one of another user,
// the operations fail that need it.
func (r *run) setMode(path quoted, inode uint64, from, to uint32) error {
	if from == to {
		return nil
	}
	parent, base, err := r.root.parent(string(path))
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer parent.close()
	now, err := parent.stat(base)
	if err != nil || now.Type != Dir || now.Inode != inode || now.Mode != from {
		return err
	}
	err = parent.chmod(base, inode, to)
	if errors.Is(err, os.ErrPermission) {
		return nil
	}
	return err
}

// keep moves what is left in a slot to where it stays: a conflict's new content to the conflicts, else the old entry
// to the trash.
func (r *run) keep(i int) error {
	o := &r.m.Ops[i]
	left, err := r.slots.stat(slot(i))
	if err != nil {
		return err
	}
	switch {
	case left.Type == Dir: // empty
		return removeSlot(r.slots, slot(i))
	case o.Conflict != "" && (left.Type == Missing || is(left, o.Staged)):
		if o.New.Type != File && o.New.Type != Link || o.Kind == touch {
			return nil
		}
		if left.Type != Missing {
			return r.keepIn("conflicts", r.slots, slot(i), i, left)
		}
		from, base, err := r.upper.parent(string(o.Path))
		if err != nil {
			return err
		}
		defer from.close()
		now, err := from.stat(base)
		if err != nil || !is(now, o.New) {
			return err
		}
		return r.keepIn("conflicts", from, base, i, now)
	case o.Conflict != "" && !unchanged(left, o.Old): // of somebody who changed it twice in the same moment
		return r.keepIn("conflicts", r.slots, slot(i), i, left)
	case left.Type == Other && r.m.Slots != "": // cannot be copied
		return removeSlot(r.slots, slot(i))
	case left.Type != Missing && r.m.Slots != "":
		return r.keepIn(TrashName, r.slots, slot(i), i, left)
	}
	return nil
}

// keepIn moves an entry to a directory of the transaction, which may be on another file system.
func (r *run) keepIn(where string, from directory, base string, i int, st Stat) error {
	to, err := openDirectory(filepath.Join(r.dir, where))
	if err != nil {
		return err
	}
	defer to.close()
	err = rename(from, base, to, slot(i), 0)
	if !errors.Is(err, unix.EXDEV) {
		return err
	}
	if err := removeSlot(to, slot(i)+".new"); err != nil {
		return err
	}
	if err := copyEntry(from, base, to, slot(i)+".new", st); err != nil {
		return err
	}
	if err := rename(to, slot(i)+".new", to, slot(i), 0); err != nil {
		return err
	}
	return removeSlot(from, base)
}
