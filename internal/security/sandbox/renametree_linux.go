package sandbox

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// renameTemp begins the names of the copies that a rename makes beside its target. One
// remains only if the sandbox is killed meanwhile.
const renameTemp = ".pawl-rename-"

// renameRetries bounds how often a directory is emptied again in which other processes
// create files.
const renameRetries = 100

// place is a name in an open directory. The name may end with slashes.
type place struct {
	dir  int
	name string
}

// base returns the name without slashes.
func (p place) base() string { return strings.TrimRight(p.name, "/") }

func inodeOf(st *unix.Stat_t) inode { return inode{st.Dev, st.Ino} }

func isDir(st *unix.Stat_t) bool { return st.Mode&unix.S_IFMT == unix.S_IFDIR }

// copied is a file or directory that was copied.
type copied struct {
	id      inode              // of a file
	entries map[string]*copied // of a directory
}

// is reports whether a file is still the one that was copied. The number of a directory of
// an overlay can change.
func (c *copied) is(st *unix.Stat_t) bool {
	return c.entries != nil && isDir(st) || c.entries == nil && c.id == inodeOf(st)
}

// treeRename renames a directory. If the file system refuses it although both places are
// on one mount, it makes new directories and links the files there: the files remain the
// same, with everything that processes have open. Directories do not: a process whose
// working directory is in the tree is then in a directory that was removed.
type treeRename struct {
	from, to place
	flags    uint
	waits    func() bool // reports whether the result is still wanted

	top   int              // the directory that the copy is made in
	first map[inode]string // the copies of files with several links, relative to top
}

// concerns reports whether there is a directory to rename.
func (r *treeRename) concerns() bool {
	is := func(p place) bool {
		var st unix.Stat_t
		name := p.base()
		return name != "" && name != "." && name != ".." &&
			unix.Fstatat(p.dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && isDir(&st)
	}
	return is(r.from) || r.flags&unix.RENAME_EXCHANGE != 0 && is(r.to)
}

// run renames the directory, or returns the error of rename(2). After an error, nothing
// has changed, unless files of the source could not be removed: then the target is
// complete.
func (r *treeRename) run() error {
	err := unix.Renameat2(r.from.dir, r.from.name, r.to.dir, r.to.name, r.flags)
	if !errors.Is(err, unix.EXDEV) || !r.oneMount() {
		return err
	}
	if r.flags&unix.RENAME_EXCHANGE != 0 {
		return r.exchange()
	}
	if err := r.replaceable(); err != nil {
		return err
	}
	temp, tree, err := r.copyBeside(r.from, r.to)
	if err != nil {
		return err
	}
	if err := unix.Renameat2(temp.dir, temp.name, r.to.dir, r.to.name, r.flags); err != nil {
		discard(temp)
		return err
	}
	return settle(r.from, r.to, tree)
}

// oneMount reports whether both places are on the same mount. If not, a rename is refused
// everywhere.
func (r *treeRename) oneMount() bool {
	from, ok := mountOf(r.from.dir)
	to, okTo := mountOf(r.to.dir)
	return ok && okTo && from == to
}

func mountOf(dir int) (id uint64, ok bool) {
	var st unix.Statx_t
	err := unix.Statx(dir, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &st)
	return st.Mnt_id, err == nil && st.Mask&unix.STATX_MNT_ID != 0
}

// replaceable returns an error if the target is a directory that is not empty. The kernel
// has checked everything else.
func (r *treeRename) replaceable() error {
	dir, err := openTree(place{r.to.dir, r.to.base()}, 0o500)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.close()
	if names, _ := dir.Readdirnames(1); len(names) > 0 { // the error is the end of the directory
		return unix.ENOTEMPTY
	}
	return nil
}

// exchange exchanges two files or directories by copies of both.
func (r *treeRename) exchange() error {
	first, firstTree, err := r.copyBeside(r.from, r.to)
	if err != nil {
		return err
	}
	second, secondTree, err := r.copyBeside(r.to, r.from)
	if err != nil {
		discard(first)
		return err
	}
	for _, step := range []func() error{
		func() error { return settle(r.to, second, secondTree) },
		func() error { return unix.Renameat(first.dir, first.name, r.to.dir, r.to.base()) },
		func() error { return settle(r.from, r.to, firstTree) },
		func() error { return unix.Renameat(second.dir, second.name, r.from.dir, r.from.base()) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// copyBeside copies a file or a tree to a temporary name beside another place.
func (r *treeRename) copyBeside(from, beside place) (place, *copied, error) {
	temp := place{beside.dir, renameTemp + rand.Text()}
	r.top, r.first = temp.dir, map[inode]string{}
	tree, err := r.copy(place{from.dir, from.base()}, temp, temp.name)
	if err != nil {
		discard(temp)
		return place{}, nil, err
	}
	return temp, tree, nil
}

// copy copies a file or a tree; path is the new one relative to r.top.
func (r *treeRename) copy(from, to place, path string) (*copied, error) {
	if !r.waits() {
		return nil, unix.EINTR
	}
	var st unix.Stat_t
	if err := unix.Fstatat(from.dir, from.name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, err
	}
	if !isDir(&st) {
		return r.link(from, to, path, &st)
	}
	dir, err := openTree(from, 0o500)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	if err := unix.Mkdirat(to.dir, to.name, 0o700); err != nil {
		return nil, err
	}
	target, err := openTree(to, 0)
	if err != nil {
		return nil, err
	}
	defer target.close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	tree := &copied{entries: map[string]*copied{}}
	for _, name := range names {
		entry, err := r.copy(place{dir.fd, name}, place{target.fd, name}, filepath.Join(path, name))
		if errors.Is(err, unix.ENOENT) {
			continue // it was removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		tree.entries[name] = entry
	}
	return tree, copyAttributes(dir.fd, target.fd, &st)
}

// link makes a further link of a file. An overlay copies a file of its lower layers for
// that, and does not know that its copies were one file: further links are made of the
// first copy.
func (r *treeRename) link(from, to place, path string, st *unix.Stat_t) (*copied, error) {
	source := from
	if first, ok := r.first[inodeOf(st)]; ok {
		source = place{r.top, first}
	} else if st.Nlink > 1 {
		r.first[inodeOf(st)] = path
	}
	switch err := unix.Linkat(source.dir, source.name, to.dir, to.name, 0); {
	case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EMLINK):
		return nil, unix.EXDEV // the caller has to copy
	case err != nil:
		return nil, err
	}
	var now unix.Stat_t
	if err := unix.Fstatat(from.dir, from.name, &now, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, err
	}
	return &copied{id: inodeOf(&now)}, nil
}

// copyAttributes gives a new directory the owner, attributes, mode and times of another.
func copyAttributes(from, to int, st *unix.Stat_t) error {
	var made unix.Stat_t
	if err := unix.Fstat(to, &made); err != nil {
		return err
	}
	if made.Uid != st.Uid || made.Gid != st.Gid {
		if err := unix.Fchown(to, int(st.Uid), int(st.Gid)); err != nil {
			return unix.EXDEV // the caller has to copy
		}
	}
	if err := copyExtended(from, to); err != nil {
		return err
	}
	if err := unix.Fchmod(to, st.Mode&0o7777); err != nil {
		return err
	}
	times := []unix.Timespec{st.Atim, st.Mtim}
	return unix.UtimesNanoAt(to, "", times, unix.AT_EMPTY_PATH)
}

// copyExtended copies the extended attributes that a user can set, and the access control
// lists, to a new directory, which may have inherited lists.
func copyExtended(from, to int) error {
	names, err := extended(from)
	if err != nil {
		return err
	}
	inherited, err := extended(to)
	if err != nil {
		return err
	}
	for _, name := range inherited {
		if err := unix.Fremovexattr(to, name); err != nil {
			return err
		}
	}
	for _, name := range names {
		value := make([]byte, 64<<10) // the kernel's limit
		n, err := unix.Fgetxattr(from, name, value)
		if err != nil {
			return err
		}
		if err := unix.Fsetxattr(to, name, value[:n], 0); err != nil {
			return unix.EXDEV // the caller has to copy
		}
	}
	return nil
}

// extended lists the attributes of a directory that copyExtended copies.
func extended(fd int) ([]string, error) {
	list := make([]byte, 64<<10) // the kernel's limit
	n, err := unix.Flistxattr(fd, list)
	if errors.Is(err, unix.ENOTSUP) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range strings.SplitSeq(string(list[:n]), "\x00") {
		if strings.HasPrefix(name, "user.") && !strings.HasPrefix(name, "user.overlay.") || strings.HasPrefix(name, "system.posix_acl_") {
			names = append(names, name)
		}
	}
	return names, nil
}

// settle removes what was copied. What other processes created or replaced since then, it
// moves to the copy.
func settle(from, to place, tree *copied) error {
	from.name, to.name = from.base(), to.base()
	if tree.entries == nil {
		return unix.Unlinkat(from.dir, from.name, 0)
	}
	dir, err := openTree(from, 0o700)
	if err != nil {
		return err
	}
	defer dir.close()
	// If it was removed meanwhile, nothing can be moved there.
	target, _ := unix.Openat(to.dir, to.name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	defer closeFile(target)
	for range renameRetries {
		if err := settleEntries(dir, target, tree); err != nil {
			return err
		}
		if err = unix.Unlinkat(from.dir, from.name, unix.AT_REMOVEDIR); !errors.Is(err, unix.ENOTEMPTY) {
			break
		}
	}
	return err
}

// settleEntries settles each entry of a directory once.
func settleEntries(dir *openedTree, target int, tree *copied) error {
	names, err := dir.list()
	if err != nil {
		return err
	}
	for _, name := range names {
		var st unix.Stat_t
		entry := tree.entries[name]
		err := unix.Fstatat(dir.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		switch {
		case err != nil:
		case entry != nil && entry.is(&st):
			err = settle(place{dir.fd, name}, place{target, name}, entry)
		default:
			err = unix.Renameat(dir.fd, name, target, name)
		}
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return nil
}

// discard removes a copy that is not needed.
func discard(p place) {
	if unix.Unlinkat(p.dir, p.name, 0) == nil {
		return
	}
	dir, err := openTree(p, 0o700)
	if err != nil {
		return
	}
	defer dir.close()
	names, _ := dir.list() // what is not listed is not removed, and neither is the directory
	for _, name := range names {
		discard(place{dir.fd, name})
	}
	_ = unix.Unlinkat(p.dir, p.name, unix.AT_REMOVEDIR)
}

// openedTree is an open directory.
type openedTree struct {
	*os.File
	fd      int
	mode    uint32 // to restore if changed
	changed bool
}

// openTree opens a directory that is not a mount point. If its mode denies its owner some
// of the rights, the owner has them until it is closed.
func openTree(p place, rights uint32) (*openedTree, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(p.dir, p.name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, err
	}
	if !isDir(&st) {
		return nil, unix.ENOTDIR
	}
	changed := st.Mode&rights != rights && unix.Fchmodat(p.dir, p.name, st.Mode&0o7777|rights, 0) == nil
	fd, err := unix.Openat2(p.dir, p.name, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV | unix.RESOLVE_BENEATH,
	})
	if err != nil {
		if changed {
			_ = unix.Fchmodat(p.dir, p.name, st.Mode&0o7777, 0) // the error of opening counts
		}
		return nil, err
	}
	return &openedTree{os.NewFile(uintptr(fd), p.name), fd, st.Mode & 0o7777, changed}, nil
}

// list returns the names in the directory as they are now.
func (d *openedTree) list() ([]string, error) {
	if _, err := d.Seek(0, 0); err != nil {
		return nil, err
	}
	return d.Readdirnames(-1)
}

func (d *openedTree) close() {
	if d.changed {
		_ = unix.Fchmod(d.fd, d.mode) // it may be removed
	}
	_ = d.Close() // it was only read
}
