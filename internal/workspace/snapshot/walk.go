package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/workspace/ignore"
)

const (
	maxDepth   = 200     // nesting of directories; the walk keeps all of them open
	maxIgnore  = 1 << 20 // bytes of an ignore file; larger ones are not used
	tempPrefix = ".pawl-"

	// A file that changed less than this before it was read may change again
	// without a new time: the kernel's clock for files ticks every 10 ms or faster,
	// but some file systems count seconds.
	young     = 50 * time.Millisecond
	youngSlow = 2 * time.Second
)

// Reasons for leaving out an entry. Each has an object id, so that a tree can
// record it.
const (
	outIgnored = "ignored by git"
	outLarge   = "too large"
	outSpecial = "not a file, link or directory"
	outNested  = "a repository of its own"
	outMount   = "on another file system"
	outDeep    = "too many directories deep"
	outUnread  = "not readable"
	outOwn     = "pawl's own"
)

// outIDs maps reasons to their object ids, and outReasons the reverse.
var outIDs, outReasons = func() (map[string]oid, map[oid]string) {
	ids, reasons := map[string]oid{}, map[oid]string{}
	for _, why := range []string{outIgnored, outLarge, outSpecial, outNested, outMount, outDeep, outUnread, outOwn} {
		id := idOf(kindBlob, []byte("pawl leaves this out: "+why))
		ids[why], reasons[id] = id, why
	}
	return ids, reasons
}()

// walker reads a directory recursively, with several goroutines, and compares it
// with a table.
type walker struct {
	*folder

	old   *table
	start time.Time
	dev   uint64
	own   []identity    // directories of pawl
	slots chan struct{} // semaphore of goroutines beyond the first
	count atomic.Int64
	bytes atomic.Int64

	mu    sync.Mutex
	next  *table
	pack  pack
	fresh bool // the table must be written because something differs
}

// maxReaders bounds the goroutines that read directories.
const maxReaders = 4

// identity identifies a file on this machine.
type identity struct{ dev, ino uint64 }

// number converts fields whose type differs between platforms.
func number[T ~int16 | ~int32 | ~int64 | ~uint16 | ~uint32 | ~uint64](v T) uint64 { return uint64(v) }

func (f *folder) newWalker() *walker {
	w := &walker{folder: f, old: f.readTable(), start: time.Now(), slots: make(chan struct{}, maxReaders-1)}
	if w.old == nil {
		w.old, w.fresh = &table{}, true
	}
	w.next = &table{trees: make(map[string]*tree, len(w.old.trees))}
	for _, dir := range append([]string{f.Dir}, f.Except...) {
		var st unix.Stat_t
		if unix.Stat(dir, &st) == nil {
			w.own = append(w.own, identity{number(st.Dev), st.Ino})
		}
	}
	return w
}

// walk reads the whole directory and sets next, pack and fresh.
func (w *walker) walk(ctx context.Context) error {
	fd, err := openAt(unix.AT_FDCWD, w.dir, unix.O_DIRECTORY)
	if err != nil {
		return &os.PathError{Op: "open", Path: w.dir, Err: err}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return errors.Join(err, unix.Close(fd))
	}
	w.dev = number(st.Dev)
	top := spot{fd: fd}
	top.rules = top.rules.In(".", ignore.Files{Git: readRules(fd, ".git/info/exclude")})
	t, _, err := w.readFolder(ctx, top)
	if err != nil {
		return err
	}
	if t == nil { // empty: git has a tree for that too
		if t, err = w.keep("", w.old.trees[""], &tree{}); err != nil {
			return err
		}
	}
	w.next.id = ID(t.id.String())
	w.fresh = w.fresh || w.next.id != w.old.id || len(w.next.trees) != len(w.old.trees)
	return nil
}

// openAt opens an entry of an open directory. It fails for a symbolic link.
func openAt(fd int, name string, flags int) (int, error) {
	for {
		opened, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return opened, err
		}
	}
}

// spot is an open directory: its path, the ignore rules for its entries, and its
// depth.
type spot struct {
	fd    int
	path  string
	rules *ignore.Rules
	depth int
}

// found is the result of reading one name. there is false if the entry was deleted
// or is an empty directory.
type found struct {
	entry entry
	there bool
	err   error
}

// readFolder reads an open directory recursively and closes it. It returns nil for
// a directory without entries. out is the reason if the directory is left out.
func (w *walker) readFolder(ctx context.Context, at spot) (_ *tree, out string, _ error) {
	defer unix.Close(at.fd) //nolint:errcheck // it is only read
	if ctx.Err() != nil {
		return nil, "", context.Cause(ctx)
	}
	names, err := readNames(at.fd)
	if err != nil {
		return nil, "", &os.PathError{Op: "read", Path: at.path, Err: err}
	}
	slices.Sort(names)
	if _, found := slices.BinarySearch(names, ".git"); found && at.depth > 0 {
		return nil, outNested, nil
	}
	if _, found := slices.BinarySearch(names, ".gitignore"); found {
		at.rules = at.rules.In(cmp.Or(at.path, "."), ignore.Files{Git: readRules(at.fd, ".gitignore")})
	}
	before := w.old.trees[at.path]
	t := &tree{entries: make([]entry, 0, len(names))}
	for _, f := range w.readEntries(ctx, at, names, before) {
		if f.err != nil {
			return nil, "", f.err
		}
		if f.there {
			t.entries = append(t.entries, f.entry)
		}
	}
	if len(t.entries) == 0 {
		return nil, "", nil
	}
	t, err = w.keep(at.path, before, t)
	return t, "", err
}

// buffers holds buffers for directory entries. os.File would do more work than
// needed here.
var buffers = sync.Pool{New: func() any { return new([16 << 10]byte) }}

// readNames returns the names in an open directory, unsorted.
func readNames(fd int) (names []string, err error) {
	buffer := buffers.Get().(*[16 << 10]byte)
	defer buffers.Put(buffer)
	for {
		n, err := unix.ReadDirent(fd, buffer[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.ENOENT) {
			return nil, nil // it was removed just now
		}
		if err != nil || n <= 0 {
			return names, err
		}
		_, _, names = unix.ParseDirent(buffer[:n], -1, names)
	}
}

// readEntries reads the named entries of an open directory, and those below them.
func (w *walker) readEntries(ctx context.Context, at spot, names []string, before *tree) []found {
	all := make([]found, len(names))
	var rest []entry
	if before != nil {
		rest = before.entries
	}
	var below sync.WaitGroup
	defer below.Wait()
	for i, name := range names {
		if name == ".git" || strings.HasPrefix(name, tempPrefix) {
			continue
		}
		for len(rest) > 0 && rest[0].name < name {
			rest = rest[1:]
		}
		var was *entry
		if len(rest) > 0 && rest[0].name == name {
			was = &rest[0]
		}
		folder := false
		if all[i], folder = w.readEntry(at, name, was); !folder {
			continue
		}
		select {
		case w.slots <- struct{}{}:
			below.Go(func() {
				defer func() { <-w.slots }()
				all[i] = w.readBelow(ctx, at, name)
			})
		default:
			all[i] = w.readBelow(ctx, at, name)
		}
	}
	return all
}

// keep adds a tree to the next table, and to the pack if it is new.
func (w *walker) keep(path string, before, t *tree) (*tree, error) {
	if before != nil && slices.Equal(before.entries, t.entries) {
		t = before
	}
	var data []byte
	if t != before {
		data = t.encode()
		t.id = idOf(kindTree, data)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next.trees[path] = t
	w.fresh = w.fresh || t != before
	if before != nil && before.id == t.id {
		return t, nil
	}
	return t, w.pack.add(w.at, kindTree, t.id, data)
}

// readEntry reads one entry of an open directory. The second result is true for a
// directory that readBelow has to read.
func (w *walker) readEntry(at spot, name string, was *entry) (_ found, folder bool) {
	var st unix.Stat_t
	if err := unix.Fstatat(at.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return missed(name, join(at.path, name), err), false
	}
	kind := uint32(number(st.Mode)) & modeTypes
	why := w.leftOut(&st, kind)
	if why == "" && at.rules != nil && at.rules.Ignored(join(at.path, name), kind == unix.S_IFDIR) {
		why = outIgnored
	}
	if w.count.Add(1) > int64(w.MaxFiles) {
		return found{err: fmt.Errorf("%s has more than %d files: let git ignore generated files, or work in a subdirectory: %w", w.dir, w.MaxFiles, ErrTooLarge)}, false
	}
	switch {
	case why != "":
		return left(name, why), false
	case kind == unix.S_IFDIR:
		return found{}, true
	}
	if w.bytes.Add(st.Size) > w.MaxBytes {
		return found{err: fmt.Errorf("the files of %s have more than %d bytes: let git ignore generated files, or work in a subdirectory: %w", w.dir, w.MaxBytes, ErrTooLarge)}, false
	}
	e := entry{name: name, mode: modeOf(&st), look: w.lookOf(&st)}
	if was != nil && was.mode == e.mode && was.look == e.look && !e.look.racy {
		e.id = was.id
		return found{entry: e, there: true}, false
	}
	return w.readFile(at.fd, join(at.path, name), e, was), false
}

// leftOut returns why an entry is left out because of its type, size or location,
// or "".
func (w *walker) leftOut(st *unix.Stat_t, kind uint32) string {
	switch {
	case kind == unix.S_IFDIR && slices.Contains(w.own, identity{number(st.Dev), st.Ino}):
		return outOwn
	case kind == unix.S_IFDIR && number(st.Dev) != w.dev:
		return outMount
	case kind == unix.S_IFREG && st.Size > w.MaxFile:
		return outLarge
	case kind != unix.S_IFDIR && kind != unix.S_IFREG && kind != unix.S_IFLNK:
		return outSpecial
	}
	return ""
}

// left returns the entry for something that is left out.
func left(name, why string) found {
	return found{entry: entry{name: name, mode: modeOut, id: outIDs[why]}, there: true}
}

// missed handles an error of reading an entry: a deleted entry does not count, and
// one that is not readable or was just replaced is left out. Other errors are
// returned.
func missed(name, path string, err error) found {
	if errors.Is(err, unix.ENOENT) {
		return found{}
	}
	for _, known := range []error{unix.ENOTDIR, unix.ELOOP, unix.EACCES, unix.EPERM, unix.ENXIO, unix.EINVAL} {
		if errors.Is(err, known) {
			return left(name, outUnread)
		}
	}
	return found{err: &os.PathError{Op: "read", Path: path, Err: err}}
}

// readBelow reads the subdirectory name of an open directory recursively.
func (w *walker) readBelow(ctx context.Context, at spot, name string) found {
	path := join(at.path, name)
	if at.depth == maxDepth {
		return left(name, outDeep)
	}
	fd, err := openAt(at.fd, name, unix.O_DIRECTORY)
	if err != nil {
		return missed(name, path, err)
	}
	t, why, err := w.readFolder(ctx, spot{fd, path, at.rules, at.depth + 1})
	switch {
	case err != nil:
		return found{err: err}
	case why != "":
		return left(name, why)
	case t == nil:
		return found{}
	}
	return found{entry: entry{name: name, mode: modeTree, id: t.id}, there: true}
}

// readFile reads a file or symbolic link whose metadata has changed.
func (w *walker) readFile(fd int, path string, e entry, was *entry) found {
	data, why, err := readAt(fd, e.name, e.mode, w.MaxFile)
	if err != nil {
		return missed(e.name, path, err)
	}
	if why != "" {
		return left(e.name, why)
	}
	e.id = idOf(kindBlob, data)
	if was == nil || was.id != e.id || was.mode == modeOut || was.mode == modeTree {
		w.mu.Lock()
		defer w.mu.Unlock()
		err = w.pack.add(w.at, kindBlob, e.id, data)
	}
	return found{entry: e, there: true, err: err}
}

// readAt returns the content of a file, or the target of a symbolic link. out is
// the reason if it is left out.
func readAt(fd int, name string, mode uint32, limit int64) (data []byte, out string, err error) {
	if mode == modeLink {
		buffer := make([]byte, unix.PathMax+1)
		n, err := unix.Readlinkat(fd, name, buffer)
		if err != nil {
			return nil, "", err
		}
		return buffer[:n], "", nil
	}
	opened, err := openAt(fd, name, 0)
	if err != nil {
		return nil, "", err
	}
	file := os.NewFile(uintptr(opened), name)
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, "", err
	}
	if !info.Mode().IsRegular() {
		return nil, outUnread, nil // it was replaced just now
	}
	data, err = readSized(file, min(info.Size(), limit), limit)
	if err == nil && int64(len(data)) > limit {
		return nil, outLarge, nil
	}
	return data, "", err
}

// readSized reads a file up to one byte beyond limit.
func readSized(file io.Reader, size, limit int64) ([]byte, error) {
	data := make([]byte, 0, size+1)
	r := io.LimitReader(file, limit+1)
	for {
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = slices.Grow(data, len(data)+1)
		}
	}
}

func modeOf(st *unix.Stat_t) uint32 {
	switch mode := uint32(number(st.Mode)); {
	case mode&modeTypes == unix.S_IFLNK:
		return modeLink
	case mode&0o100 != 0:
		return modeExec
	}
	return modeFile
}

func (w *walker) lookOf(st *unix.Stat_t) look {
	l := look{size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), ino: st.Ino}
	slack := young
	if l.ctime%int64(time.Second) == 0 {
		slack = youngSlow
	}
	l.racy = max(l.mtime, l.ctime) >= w.start.Add(-slack).UnixNano()
	return l
}

// readRules returns the content of an ignore file, or nil. An ignore file that is
// not readable, not a regular file or larger than maxIgnore ignores nothing.
func readRules(fd int, path string) []byte {
	dirs := strings.Split(path, "/")
	for _, dir := range dirs[:len(dirs)-1] {
		next, err := openAt(fd, dir, unix.O_DIRECTORY)
		if err != nil {
			return nil
		}
		defer unix.Close(next) //nolint:errcheck,gocritic // nothing is buffered; there are two at most
		fd = next
	}
	data, out, err := readAt(fd, dirs[len(dirs)-1], modeFile, maxIgnore)
	if err != nil || out != "" {
		return nil
	}
	return data
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "/" + name
}
