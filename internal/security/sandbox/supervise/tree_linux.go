package supervise

import (
	"errors"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
)

// TempPrefix begins the names of the copies that a rename makes beside its target. One
// remains only if the sandbox is killed meanwhile.
const TempPrefix = ".pawl-rename-"

// temps counts the temporary names of this process.
var temps atomic.Uint64

// renameRetries bounds how often a directory is emptied again in which other processes
// create files.
const renameRetries = 100

// place is a name in an open directory. The name may end with slashes.
type place struct {
	dir  int
	name string
}

// base returns the name without slashes.
func (p place) base() string { return trimSlashes(p.name) }

// copied is a file or directory that was copied.
type copied struct {
	id      fileID             // of a file
	entries map[string]*copied // of a directory
}

// is reports whether a file is still the one that was copied. The number of a directory of
// an overlay can change.
func (c *copied) is(st *fileInfo) bool {
	return c.entries != nil && st.isDir() || c.entries == nil && c.id == st.id()
}

// treeRename renames a directory. If the file system refuses it although both places are
// on one mount, it makes new directories and links the files there: the files remain the
// same, with everything that processes have open. Directories do not: a process whose
// working directory is in the tree is then in a directory that was removed.
type treeRename struct {
	from, to place
	flags    uint
	waits    func() bool // reports whether the result is still wanted

	top   int               // the directory that the copy is made in
	first map[fileID]string // the copies of files with several links, relative to top
}

// concerns reports whether there is a directory to rename.
func (r *treeRename) concerns() bool {
	is := func(p place) bool {
		name := p.base()
		if name == "" || name == "." || name == ".." {
			return false
		}
		st, err := stat(p.dir, name, atSymlinkNoFollow)
		return err == nil && st.isDir()
	}
	return is(r.from) || r.flags&renameExchange != 0 && is(r.to)
}

// run renames the directory, or returns the error of rename(2). After an error, nothing
// has changed, unless files of the source could not be removed: then the target is
// complete.
func (r *treeRename) run() error {
	err := renameat2(r.from, r.to, r.flags)
	if !errors.Is(err, syscall.EXDEV) || !r.oneMount() {
		return err
	}
	if r.flags&renameExchange != 0 {
		return r.exchange()
	}
	if err := r.replaceable(); err != nil {
		return err
	}
	temp, tree, err := r.copyBeside(r.from, r.to)
	if err != nil {
		return err
	}
	if err := renameat2(temp, r.to, r.flags); err != nil {
		discard(temp)
		return err
	}
	return settle(r.from, r.to, tree)
}

// oneMount reports whether both places are on the same mount. If not, a rename is refused
// everywhere.
func (r *treeRename) oneMount() bool {
	from, err := stat(r.from.dir, "", atEmptyPath)
	if err != nil {
		return false
	}
	to, err := stat(r.to.dir, "", atEmptyPath)
	return err == nil && from.mask&to.mask&statxMount != 0 && from.mount == to.mount
}

// replaceable returns an error if the target is a directory that is not empty. The kernel
// has checked everything else.
func (r *treeRename) replaceable() error {
	dir, err := openTree(place{r.to.dir, r.to.base()}, 0o500)
	if errors.Is(err, syscall.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.close()
	if names, _ := dir.Readdirnames(1); len(names) > 0 { // the error is the end of the directory
		return syscall.ENOTEMPTY
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
		func() error { return renameat2(first, place{r.to.dir, r.to.base()}, 0) },
		func() error { return settle(r.from, r.to, firstTree) },
		func() error { return renameat2(second, place{r.from.dir, r.from.base()}, 0) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// copyBeside copies a file or a tree to a temporary name beside another place.
func (r *treeRename) copyBeside(from, beside place) (place, *copied, error) {
	temp := place{beside.dir, TempPrefix + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatUint(temps.Add(1), 10)}
	r.top, r.first = temp.dir, map[fileID]string{}
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
		return nil, syscall.EINTR
	}
	st, err := stat(from.dir, from.name, atSymlinkNoFollow)
	if err != nil {
		return nil, err
	}
	if !st.isDir() {
		return r.link(from, to, path, &st)
	}
	dir, err := openTree(from, 0o500)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	if err := syscall.Mkdirat(to.dir, to.name, 0o700); err != nil {
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
		entry, err := r.copy(place{dir.fd, name}, place{target.fd, name}, path+"/"+name)
		if errors.Is(err, syscall.ENOENT) {
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
func (r *treeRename) link(from, to place, path string, st *fileInfo) (*copied, error) {
	file, err := openat2(from.dir, from.name, openPath|syscall.O_NOFOLLOW, resolveNoXdev|resolveBeneath)
	if err != nil {
		return nil, err
	}
	defer closeFile(file)
	source, flags := place{atWorkingDir, "/proc/self/fd/" + strconv.Itoa(file)}, atSymlinkFollow
	if first, ok := r.first[st.id()]; ok {
		source, flags = place{r.top, first}, 0
	} else if st.links > 1 {
		r.first[st.id()] = path
	}
	switch err := linkat(source, to, flags); {
	case errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EMLINK):
		return nil, syscall.EXDEV // the caller has to copy
	case err != nil:
		return nil, err
	}
	// The number of a file of a lower layer has changed. The name may be another file's by
	// now.
	now, err := stat(file, "", atEmptyPath)
	if err != nil {
		return nil, err
	}
	return &copied{id: now.id()}, nil
}

// copyAttributes gives a new directory the owner, attributes, mode and times of another.
func copyAttributes(from, to int, st *fileInfo) error {
	made, err := stat(to, "", atEmptyPath)
	if err != nil {
		return err
	}
	if made.uid != st.uid || made.gid != st.gid {
		if err := syscall.Fchown(to, int(st.uid), int(st.gid)); err != nil {
			return syscall.EXDEV // the caller has to copy
		}
	}
	if err := copyExtended(from, to); err != nil {
		return err
	}
	if err := syscall.Fchmod(to, st.permissions()); err != nil {
		return err
	}
	return setTimes(to, st.accessed, st.modified)
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
		if _, err := attribute(syscall.SYS_FREMOVEXATTR, to, name, nil); err != nil {
			return err
		}
	}
	for _, name := range names {
		value := make([]byte, 64<<10) // the kernel's limit
		n, err := attribute(syscall.SYS_FGETXATTR, from, name, value)
		if err != nil {
			return err
		}
		if _, err := attribute(syscall.SYS_FSETXATTR, to, name, value[:n]); err != nil {
			return syscall.EXDEV // the caller has to copy
		}
	}
	return nil
}

// extended lists the attributes of a directory that copyExtended copies.
func extended(fd int) ([]string, error) {
	list := make([]byte, 64<<10) // the kernel's limit
	n, err := listAttributes(fd, list)
	if errors.Is(err, syscall.ENOTSUP) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range split(string(list[:n]), 0) {
		if hasPrefix(name, "user.") && !hasPrefix(name, "user.overlay.") || hasPrefix(name, "system.posix_acl_") {
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
		return unlinkat(from, 0)
	}
	dir, err := openTree(from, 0o700)
	if err != nil {
		return err
	}
	defer dir.close()
	// If it was removed meanwhile, nothing can be moved there.
	target, _ := openat2(to.dir, to.name, openPath|syscall.O_DIRECTORY, resolveNoSymlinks)
	defer closeFile(target)
	for range renameRetries {
		if err := settleEntries(dir, target, tree); err != nil {
			return err
		}
		if err = unlinkat(from, atRemoveDir); !errors.Is(err, syscall.ENOTEMPTY) {
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
		entry := tree.entries[name]
		st, err := stat(dir.fd, name, atSymlinkNoFollow)
		switch {
		case err != nil:
		case entry != nil && entry.is(&st):
			err = settle(place{dir.fd, name}, place{target, name}, entry)
		default:
			err = moveOver(place{dir.fd, name}, place{target, name}, &st)
		}
		if err != nil && !errors.Is(err, syscall.ENOENT) {
			return err
		}
	}
	return nil
}

// moveOver renames a file that does not seem to be the one that was copied. An overlay can
// forget the number of a file: if it is the same file in every other respect, it is
// removed.
func moveOver(from, to place, st *fileInfo) error {
	if there, err := stat(to.dir, to.name, atSymlinkNoFollow); err == nil && !st.isDir() && st.sameState(&there) {
		return unlinkat(from, 0)
	}
	return renameat2(from, to, 0)
}

// discard removes a copy that is not needed.
func discard(p place) {
	if unlinkat(p, 0) == nil {
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
	_ = unlinkat(p, atRemoveDir)
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
	st, err := stat(p.dir, p.name, atSymlinkNoFollow)
	if err != nil {
		return nil, err
	}
	if !st.isDir() {
		return nil, syscall.ENOTDIR
	}
	mode := st.permissions()
	changed := mode&rights != rights && syscall.Fchmodat(p.dir, p.name, mode|rights, 0) == nil
	fd, err := openat2(p.dir, p.name, syscall.O_DIRECTORY, resolveNoSymlinks|resolveNoXdev|resolveBeneath)
	if err != nil {
		if changed {
			_ = syscall.Fchmodat(p.dir, p.name, mode, 0) // the error of opening counts
		}
		return nil, err
	}
	return &openedTree{os.NewFile(uintptr(fd), p.name), fd, mode, changed}, nil
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
		_ = syscall.Fchmod(d.fd, d.mode) // it may be removed
	}
	_ = d.Close() // it was only read
}
