package worktree

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/workspace/ignore"
)

const (
	maxDepth  = 200     // nesting of directories; the walk keeps all of them open
	maxIgnore = 1 << 20 // bytes of an ignore file; larger ones are not used
	maxLeft   = 1_000   // entries that are reported as left out
	chunk     = 1_000   // directory entries that are read at a time
)

// Reasons for leaving out an entry.
const (
	outNested    = "a separate repository"
	outSubmodule = "in a submodule"
	outSpecial   = "neither file, link nor directory"
	outMount     = "on another file system"
	outBase      = "ignored by the rules of the commit, but not by those of the worktree"
	outOwn       = "ignored by the rules of the worktree, but not by those of the commit"
)

// walker reads the files of a worktree and compares them with a commit. It opens
// each directory relative to its parent and follows no symbolic links.
type walker struct {
	*Trees
	base   map[string]git.Entry // the entries of the commit, by path
	above  map[string]bool      // the directories of the commit
	rules  map[string][]byte    // the ignore files of the commit, by directory
	store  *store
	sum    hash.Hash
	buffer []byte

	dev   uint64
	count int
	bytes int64

	files map[string]bool // paths to commit, changed or not
	fresh []git.Entry     // entries that differ from the commit
	left  []Left
}

// spot is an open directory: its path, and the ignore rules for its entries.
type spot struct {
	dir    *os.File
	path   string        // relative to the worktree; "" is the worktree itself
	base   *ignore.Rules // rules of the commit
	own    *ignore.Rules // rules of the worktree
	hidden bool          // the directory is ignored: only files that the commit has are included
	depth  int
}

// walk reads the whole worktree.
func (w *walker) walk(ctx context.Context, dir string, exclude []byte) error {
	fd, err := openAt(unix.AT_FDCWD, dir, unix.O_DIRECTORY)
	if err != nil {
		return fmt.Errorf("the worktree was not found: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return errors.Join(err, unix.Close(fd))
	}
	w.dev = number(st.Dev)
	var rules *ignore.Rules
	rules = rules.In(".", ignore.Files{Git: exclude})
	return w.readFolder(ctx, spot{dir: os.NewFile(uintptr(fd), dir), base: rules, own: rules})
}

// readFolder reads an open directory recursively and closes it.
func (w *walker) readFolder(ctx context.Context, at spot) error {
	defer at.dir.Close()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	names, err := w.names(at.dir)
	if err != nil {
		return err
	}
	at = w.rulesIn(at, names)
	for _, name := range names {
		if err := w.readEntry(ctx, at, name); err != nil {
			return err
		}
	}
	return nil
}

// names returns the names in a directory, sorted.
func (w *walker) names(dir *os.File) (names []string, err error) {
	for {
		some, err := dir.Readdirnames(chunk)
		names = append(names, some...)
		if w.count += len(some); w.count > w.maxFiles() {
			return nil, fault.New(pawl.ErrInvalid, "the worktree has more than %d files and directories: let git ignore generated files, or remove them", w.maxFiles())
		}
		if errors.Is(err, io.EOF) {
			slices.Sort(names)
			return names, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// rulesIn returns at with the ignore files of the directory added to its rules.
func (w *walker) rulesIn(at spot, names []string) spot {
	where, shared := at.path, at.base == at.own
	if where == "" {
		where = "."
	}
	var own []byte
	if _, found := slices.BinarySearch(names, ".gitignore"); found {
		own = readRules(int(at.dir.Fd()), ".gitignore")
	}
	base := w.rules[at.path]
	at.base = at.base.In(where, ignore.Files{Git: base})
	if shared && string(own) == string(base) {
		at.own = at.base
	} else {
		at.own = at.own.In(where, ignore.Files{Git: own})
	}
	return at
}

// readRules returns the content of an ignore file, or nil. An ignore file that is
// not readable, not a regular file or larger than maxIgnore ignores nothing.
func readRules(fd int, name string) []byte {
	opened, err := openAt(fd, name, 0)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(opened), name)
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnore {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(f, maxIgnore))
	if err != nil {
		return nil
	}
	return data
}

// readEntry reads one entry of an open directory.
func (w *walker) readEntry(ctx context.Context, at spot, name string) error {
	path := name
	if at.path != "" {
		path = at.path + "/" + name
	}
	if name == ".git" {
		if at.depth > 0 {
			w.leave(path, outNested)
		}
		return nil // the worktree's git metadata is not trusted
	}
	var st unix.Stat_t
	if err := unix.Fstatat(int(at.dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return moving(path, err)
	}
	kind := uint32(number(st.Mode)) & unix.S_IFMT
	folder := kind == unix.S_IFDIR
	was, tracked := w.base[path]
	if folder && !was.Submodule() { // a directory is tracked if the commit has a file in it
		tracked = w.above[path]
	}
	hidden := (!tracked || folder) && w.ignored(at, path, folder)
	if hidden && !tracked {
		return nil
	}
	if err := checkPath(path); err != nil {
		return err
	}
	switch {
	case folder && was.Submodule():
		return w.keepSubmodule(at, name, path)
	case folder && number(st.Dev) != w.dev:
		w.leave(path, outMount)
	case folder:
		return w.readBelow(ctx, at, name, path, hidden)
	case kind == unix.S_IFREG:
		return w.readFile(at, name, path, was)
	case kind == unix.S_IFLNK:
		return w.readLink(at, name, path, was)
	default:
		w.leave(path, outSpecial)
	}
	return nil
}

// ignored reports whether an entry that the commit does not have is ignored. It is
// if the rules of the commit match it, or those of the worktree: a worker cannot
// add files that the commit ignores by changing the rules. An entry on which the
// rules disagree is reported as left out.
func (w *walker) ignored(at spot, path string, folder bool) bool {
	if at.hidden {
		return true
	}
	base := at.base.Ignored(path, folder)
	if at.base == at.own {
		return base
	}
	own := at.own.Ignored(path, folder)
	switch {
	case base && !own:
		w.leave(path, outBase)
	case own && !base:
		w.leave(path, outOwn)
	}
	return base || own
}

func (w *walker) leave(path, why string) { w.left = append(w.left, Left{path, why}) }

// keepSubmodule keeps a submodule as the commit has it: the files in it belong to
// another repository.
func (w *walker) keepSubmodule(at spot, name, path string) error {
	w.files[path] = true
	fd, err := openAt(int(at.dir.Fd()), name, unix.O_DIRECTORY)
	if err != nil {
		return moving(path, err)
	}
	dir := os.NewFile(uintptr(fd), name)
	defer dir.Close()
	if some, _ := dir.Readdirnames(1); len(some) > 0 {
		w.leave(path, outSubmodule)
	}
	return nil
}

// readBelow reads a subdirectory of an open directory recursively.
func (w *walker) readBelow(ctx context.Context, at spot, name, path string, hidden bool) error {
	if at.depth == maxDepth {
		return fault.New(pawl.ErrInvalid, "%q is nested more than %d directories deep: remove it", path, maxDepth)
	}
	fd, err := w.open(at, name, unix.O_DIRECTORY)
	if err != nil {
		return moving(path, err)
	}
	return w.readFolder(ctx, spot{os.NewFile(uintptr(fd), path), path, at.base, at.own, hidden, at.depth + 1})
}

// open opens an entry of an open directory without following symbolic links.
func (w *walker) open(at spot, name string, flags int) (int, error) {
	return openAt(int(at.dir.Fd()), name, flags)
}

// readLink includes a symbolic link; its content is the target.
func (w *walker) readLink(at spot, name, path string, was git.Entry) error {
	if strings.EqualFold(name, ".gitmodules") {
		return fault.New(pawl.ErrInvalid, "%q is a symbolic link, which git rejects: make it a file", path)
	}
	target := make([]byte, unix.PathMax+1)
	n, err := unix.Readlinkat(int(at.dir.Fd()), name, target)
	if err != nil {
		return moving(path, err)
	}
	return w.take(path, modeLink, target[:n], was)
}

// readFile includes a regular file. It refuses a changed file with several hard
// links.
func (w *walker) readFile(at spot, name, path string, was git.Entry) error {
	fd, err := w.open(at, name, 0)
	if err != nil {
		return moving(path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if uint32(number(st.Mode))&unix.S_IFMT != unix.S_IFREG {
		return moving(path, unix.ELOOP)
	}
	mode := modeFile
	if number(st.Mode)&0o100 != 0 {
		mode = modeExec
	}
	if w.bytes += st.Size; w.bytes > w.maxBytes() {
		return fault.New(pawl.ErrInvalid, "the files of the worktree have more than %d bytes: let git ignore generated files, or remove them", w.maxBytes())
	}
	if st.Size > w.maxFile() {
		return w.readLarge(f, path, mode, st.Size, was)
	}
	data, err := w.readAll(f, st.Size)
	if err != nil {
		return moving(path, err)
	}
	before := len(w.fresh)
	if err := w.take(path, mode, data, was); err != nil {
		return err
	}
	if len(w.fresh) > before && number(st.Nlink) > 1 {
		return fault.New(pawl.ErrDenied, "%q has another hard link, perhaps outside the worktree: replace it with a copy", path)
	}
	return nil
}

// readAll reads a file into the walker's buffer. It fails with EFBIG if the file
// grows beyond the limit during the read.
func (w *walker) readAll(f io.Reader, size int64) ([]byte, error) {
	if int64(len(w.buffer)) <= size {
		w.buffer = make([]byte, max(2*size, 1<<16))
	}
	n := 0
	for {
		read, err := f.Read(w.buffer[n:])
		n += read
		switch {
		case errors.Is(err, io.EOF):
			return w.buffer[:n], nil
		case err != nil:
			return nil, err
		case int64(n) > w.maxFile():
			return nil, unix.EFBIG
		case n == len(w.buffer):
			w.buffer = slices.Grow(w.buffer, n)
			w.buffer = w.buffer[:cap(w.buffer)]
		}
	}
}

// readLarge includes a file above the size limit if it is unchanged, and fails
// otherwise.
func (w *walker) readLarge(f io.Reader, path, mode string, size int64, was git.Entry) error {
	if was.ID != "" && was.Mode == mode {
		w.sum.Reset()
		w.sum.Write(blobHead(size))
		if _, err := io.Copy(w.sum, io.LimitReader(f, size)); err != nil {
			return moving(path, err)
		}
		if hex.EncodeToString(w.sum.Sum(nil)) == was.ID {
			w.files[path] = true
			return nil
		}
	}
	return fault.New(pawl.ErrInvalid, "%q is larger than %d bytes: let git ignore it, or remove it", path, w.maxFile())
}

// take includes a file with this content, and stores the content if it differs from
// the commit.
func (w *walker) take(path, mode string, data []byte, was git.Entry) error {
	w.sum.Reset()
	w.sum.Write(blobHead(int64(len(data))))
	w.sum.Write(data)
	id := hex.EncodeToString(w.sum.Sum(nil))
	w.files[path] = true
	if was.ID == id && was.Mode == mode {
		return nil
	}
	w.fresh = append(w.fresh, git.Entry{Mode: mode, ID: id, Path: path})
	if was.ID == id {
		return nil
	}
	return w.store.add(id, data)
}

// moving turns an error of reading an entry into one that says what to do.
func moving(path string, err error) error {
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return fault.New(pawl.ErrDenied, "%q cannot be read: make it readable, or remove it: %w", path, err)
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EFBIG):
		return fault.New(pawl.ErrConflict, "%q changes while it is read: stop what is running in the worktree, and try again: %w", path, err)
	}
	return &os.PathError{Op: "read", Path: path, Err: err}
}
