package tree

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// plan turns changes into operations, in their order.
func plan(changes []Change) []op {
	ops := make([]op, 0, len(changes))
	for _, c := range changes {
		ops = append(ops, op{
			Kind: kindOf(c), Path: quoted(c.Path), Unit: quoted(c.Unit), Top: quoted(c.Top),
			Old: c.Old, New: c.New, SameContent: c.SameContent,
		})
	}
	slices.SortStableFunc(ops, func(a, b op) int {
		if c := cmp.Compare(phase(&a), phase(&b)); c != 0 {
			return c
		}
		if a.Kind == remove || a.Kind == rmdir {
			return cmp.Compare(b.Path, a.Path) // what a directory contains before the directory
		}
		return cmp.Compare(a.Path, b.Path)
	})
	return ops
}

func kindOf(c Change) kind {
	switch {
	case c.New.Type == Missing && c.Old.Type == Dir:
		return rmdir
	case c.New.Type == Missing:
		return remove
	case c.Old.Type == Missing:
		return create
	case c.Old.Type == Dir && c.New.Type == Dir, c.SameContent:
		return touch
	case c.Old.Type == Dir:
		return swap
	default:
		return replace
	}
}

// phase orders operations so that git never sees a reference before its objects, and nothing is deleted before
// everything is created. Directories come first, as others are created in them.
func phase(o *op) int {
	switch {
	case o.Kind == swap:
		return 9 // needs the deletions
	case o.Kind == remove || o.Kind == rmdir:
		return 8
	case o.New.Type == Dir:
		return 0
	}
	_, inGit, found := strings.Cut("/"+string(o.Path), "/.git/")
	switch {
	case !found:
		return 1
	case strings.HasPrefix(inGit, "objects/") && !strings.HasSuffix(inGit, ".idx"):
		return 2
	case strings.HasPrefix(inGit, "objects/"):
		return 3 // makes its pack visible
	case inGit == "index":
		return 5
	case inGit == "HEAD":
		return 6
	default:
		return 4
	}
}

// checker finds changes that meet those of somebody else.
type checker struct {
	root  directory
	since int64
	own   map[uint64]Identity
	dirs  map[string]bool // directories that somebody else changed
}

func newChecker(t *Transaction, root directory) *checker {
	c := &checker{root: root, since: t.Since, own: map[uint64]Identity{}, dirs: map[string]bool{}}
	for _, id := range t.Own {
		c.own[id.Inode] = id
	}
	return c
}

// foreign reports whether somebody else changed an entry since the command began.
func (c *checker) foreign(s Stat) bool {
	return s.ChangeTime >= c.since && c.own[s.Inode] != identity(s)
}

func identity(s Stat) Identity {
	return Identity{Inode: s.Inode, Size: s.Size, ChangeTime: s.ChangeTime}
}

// check returns why a change cannot be applied, or "".
func (c *checker) check(o *op, created map[string]bool) (string, error) {
	dir, base := split(string(o.Path))
	if created[dir] {
		return "", nil
	}
	parent, err := c.root.directory(dir)
	if isMissing(err) {
		return reasonParent, nil
	}
	if err != nil {
		return "", err
	}
	defer parent.close()
	now, err := parent.stat(base)
	if errors.Is(err, os.ErrPermission) {
		return err.Error(), nil
	}
	if err != nil {
		return "", err
	}
	switch {
	case o.Old.Type == Missing && now.Type != Missing:
		return reasonExists, nil
	case o.Old.Type == Missing, o.New.Type == Missing && now.Type == Missing:
		return "", nil
	case now.Type == Missing:
		return reasonDeleted, nil
	case !unchanged(now, o.Old), now.ChangeTime != o.Old.ChangeTime && now.Type != Dir, c.foreign(now):
		return reasonChanged, nil
	case o.Top == "":
		return "", nil
	}
	changed, err := c.changedFrom(string(o.Top), dir)
	if changed {
		return reasonTop, nil
	}
	return "", err
}

// changedFrom reports whether somebody else changed a directory or one between it and top. A directory that was moved
// there would contain entries that look unchanged.
func (c *checker) changedFrom(top, dir string) (bool, error) {
	if changed, known := c.dirs[dir]; known {
		return changed, nil
	}
	changed := false
	if dir != top {
		above, _ := split(dir)
		var err error
		if changed, err = c.changedFrom(top, above); err != nil {
			return false, err
		}
	}
	if !changed {
		parent, base, err := c.root.parent(dir)
		if err != nil {
			return isMissing(err), nil
		}
		defer parent.close()
		now, err := parent.stat(base)
		if err != nil {
			return false, err
		}
		changed = c.foreign(now)
	}
	c.dirs[dir] = changed
	return changed, nil
}

const (
	reasonExists  = "another program created it"
	reasonDeleted = "another program deleted it"
	reasonChanged = "another program changed it"
	reasonOpen    = "another program has it open for writing"
	reasonParent  = "another program deleted or replaced its directory"
	reasonTop     = "another program changed the deleted directory"
	reasonFull    = "the directory is not empty"
	reasonUnit    = "it belongs to a change with a conflict: "
)

// unchanged reports whether an entry is the one that was checked. Its change time may differ: a rename sets it.
func unchanged(now, checked Stat) bool {
	if !is(now, checked) || now.Type == Dir {
		return is(now, checked)
	}
	return now.Size == checked.Size && now.ModTime == checked.ModTime && now.Mode == checked.Mode
}

// is reports whether an entry has the inode of another one.
func is(a, b Stat) bool { return a.Type == b.Type && a.Inode == b.Inode && a.Type != Missing }

// checkAll marks the operations with conflicts.
func (c *checker) checkAll(ops []op) error {
	created := map[string]bool{}
	for i := range ops {
		o := &ops[i]
		reason, err := c.check(o, created)
		if err != nil {
			return err
		}
		o.Conflict = reason
		if o.New.Type == Dir && o.Old.Type != Dir {
			created[string(o.Path)] = true
		}
	}
	spread(ops)
	return nil
}

// spread extends conflicts to the rest of their units and to what would be created in a directory with a conflict. It
// returns the numbers of the operations that it marked.
func spread(ops []op) []int {
	var marked []int
	for again := true; again; {
		again = false
		units, dirs := map[quoted]string{}, map[string]string{}
		for i := range ops {
			o := &ops[i]
			if o.Conflict == "" || o.Conflict == reasonFull {
				continue
			}
			if o.Unit != "" {
				units[o.Unit] = string(o.Path)
			}
			if o.New.Type == Dir && o.Old.Type != Dir {
				dirs[string(o.Path)] = string(o.Path)
			}
		}
		for i := range ops {
			o := &ops[i]
			cause := units[o.Unit]
			for dir, _ := split(string(o.Path)); dir != "" && cause == ""; dir, _ = split(dir) {
				cause = dirs[dir]
			}
			if cause != "" && o.Conflict == "" {
				o.Conflict, again = reasonUnit+cause, true
				marked = append(marked, i)
			}
		}
	}
	return marked
}

// planDirs lists the directories that must be made writable, and those whose mode changes at the end.
func (r *run) planDirs() error {
	seen := map[string]bool{"": true}
	for i := range r.m.Ops {
		o := &r.m.Ops[i]
		if o.Kind == touch && o.Old.Type == Dir {
			seen[string(o.Path)] = true
			r.m.Dirs = append(r.m.Dirs, dirMode{Path: o.Path, Inode: o.Old.Inode, From: o.Old.Mode, To: o.New.Mode, Op: i + 1})
		}
	}
	for i := range r.m.Ops {
		dir, _ := split(string(r.m.Ops[i].Path))
		for ; !seen[dir]; dir, _ = split(dir) {
			seen[dir] = true
			parent, base, err := r.root.parent(dir)
			if isMissing(err) {
				continue
			}
			if err != nil {
				return err
			}
			st, err := parent.stat(base)
			parent.close()
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			if st.Type == Dir && st.Mode&0o700 != 0o700 {
				r.m.Dirs = append(r.m.Dirs, dirMode{Path: quoted(dir), Inode: st.Inode, From: st.Mode, To: st.Mode})
			}
		}
	}
	slices.SortFunc(r.m.Dirs, func(a, b dirMode) int { return cmp.Compare(a.Path, b.Path) })
	return nil
}

// sameMount reports whether entries can be renamed between two directories.
func sameMount(a, b directory) (bool, error) {
	var sa, sb unix.Statx_t
	if err := unix.Statx(int(a), "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &sa); err != nil {
		return false, err
	}
	if err := unix.Statx(int(b), "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &sb); err != nil {
		return false, err
	}
	return sa.Mnt_id == sb.Mnt_id && sa.Dev_major == sb.Dev_major && sa.Dev_minor == sb.Dev_minor, nil
}
