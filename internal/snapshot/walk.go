package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/ignore"
	"github.com/pawl-dev/pawl/internal/weak"
)

const (
	maxDepth   = 200     // of folders: each is open while those in it are read
	maxIgnore  = 1 << 20 // bytes of an ignore file that are heeded
	tempPrefix = ".pawl-"

	// A file that was changed this short before it was read may be changed again
	// without a new time: the kernel's clock for files ticks every 10 ms or
	// faster, and some file systems count seconds.
	young     = 50 * time.Millisecond
	youngSlow = 2 * time.Second
)

// Why something is left out. Each has an id, so that a tree can hold it.
const (
	outIgnored = "ignored by git"
	outLarge   = "too large"
	outSpecial = "neither file, link nor folder"
	outNested  = "a repository of its own"
	outMount   = "on another file system"
	outDeep    = "too many folders deep"
	outUnread  = "not readable"
	outOwn     = "pawl's own"
)

// outIDs are the ids of the reasons, and outReasons the reverse.
var outIDs, outReasons = func() (map[string]oid, map[oid]string) {
	ids, reasons := map[string]oid{}, map[oid]string{}
	for _, why := range []string{outIgnored, outLarge, outSpecial, outNested, outMount, outDeep, outUnread, outOwn} {
		id := idOf(kindBlob, []byte("pawl leaves this out: "+why))
		ids[why], reasons[id] = id, why
	}
	return ids, reasons
}()

// walker reads a folder and all below it, and compares it with a table.
type walker struct {
	*folder

	old   *table
	next  *table
	pack  pack
	start time.Time
	dev   uint64
	own   []identity // folders of pawl's own
	count int
	bytes int64
	fresh bool // the table is to be written: something looks different
}

// identity tells one file from all others.
type identity struct{ dev, ino uint64 }

// number is for fields whose type differs between systems.
func number[T ~int16 | ~int32 | ~int64 | ~uint16 | ~uint32 | ~uint64](v T) uint64 { return uint64(v) }

func (f *folder) newWalker() *walker {
	w := &walker{folder: f, old: f.readTable(), start: time.Now()}
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

// walk reads the folder itself.
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
	var rules *ignore.Rules
	rules = rules.In(".", ignore.Files{Git: readRules(fd, ".git/info/exclude")})
	t, _, err := w.readFolder(ctx, fd, "", rules, 0)
	if err != nil {
		return err
	}
	if t == nil { // nothing in it: git has a tree for that too
		t = &tree{id: idOf(kindTree, nil)}
		if err := w.keep("", t); err != nil {
			return err
		}
	}
	w.next.id = ID(t.id.String())
	w.fresh = w.fresh || w.next.id != w.old.id || len(w.next.trees) != len(w.old.trees)
	return nil
}

// openAt opens something in an open folder, and follows no link.
func openAt(fd int, name string, flags int) (int, error) {
	for {
		opened, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return opened, err
		}
	}
}

// readFolder reads an open folder, which it closes, and all below it. A folder
// without entries is nil; one that is left out says why.
func (w *walker) readFolder(ctx context.Context, fd int, path string, rules *ignore.Rules, depth int) (_ *tree, out string, _ error) {
	dir := os.NewFile(uintptr(fd), path)
	defer dir.Close()
	if err := ctx.Err(); err != nil {
		return nil, "", context.Cause(ctx)
	}
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, "", err
	}
	slices.Sort(names)
	if _, found := slices.BinarySearch(names, ".git"); found && depth > 0 {
		return nil, outNested, nil
	}
	if _, found := slices.BinarySearch(names, ".gitignore"); found {
		at := path
		if at == "" {
			at = "."
		}
		rules = rules.In(at, ignore.Files{Git: readRules(fd, ".gitignore")})
	}
	t := &tree{entries: make([]entry, 0, len(names))}
	before := w.old.trees[path]
	var rest []entry
	if before != nil {
		rest = before.entries
	}
	for _, name := range names {
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
		e, there, err := w.readEntry(ctx, fd, name, join(path, name), rules, depth, was)
		if err != nil {
			return nil, "", err
		}
		if there {
			t.entries = append(t.entries, e)
		}
	}
	if len(t.entries) == 0 {
		return nil, "", nil
	}
	return w.same(path, before, t)
}

// same returns the tree as it was before if it looks the same.
func (w *walker) same(path string, before, t *tree) (*tree, string, error) {
	if before != nil && slices.Equal(before.entries, t.entries) {
		w.next.trees[path] = before
		return before, "", nil
	}
	w.fresh = true
	data := t.encode()
	t.id = idOf(kindTree, data)
	if before != nil && before.id == t.id {
		w.next.trees[path] = t
		return t, "", nil
	}
	w.next.trees[path] = t
	return t, "", w.pack.add(w.at, kindTree, t.id, data)
}

// keep takes an empty tree in.
func (w *walker) keep(path string, t *tree) error {
	w.next.trees[path] = t
	if before := w.old.trees[path]; before != nil && before.id == t.id {
		return nil
	}
	w.fresh = true
	return w.pack.add(w.at, kindTree, t.id, nil)
}

// readEntry reads what is in an open folder by a name. It is not there if it is
// gone, or a folder without entries.
func (w *walker) readEntry(ctx context.Context, fd int, name, path string, rules *ignore.Rules, depth int, was *entry) (entry, bool, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		e, there := missed(name, err)
		return e, there, unexpected(path, err)
	}
	kind := uint32(number(st.Mode)) & modeTypes
	why := w.leftOut(&st, kind)
	if why == "" && rules.Ignored(path, kind == unix.S_IFDIR) {
		why = outIgnored
	}
	if w.count++; w.count > w.MaxFiles {
		return entry{}, false, fmt.Errorf("%s has more than %d files: have git ignore what is generated, or work in a folder further down: %w", w.dir, w.MaxFiles, ErrTooLarge)
	}
	switch {
	case why != "":
		return left(name, why), true, nil
	case kind == unix.S_IFDIR:
		return w.readBelow(ctx, fd, name, path, rules, depth+1)
	}
	if w.bytes += st.Size; w.bytes > w.MaxBytes {
		return entry{}, false, fmt.Errorf("the files of %s have more than %d bytes: have git ignore what is generated, or work in a folder further down: %w", w.dir, w.MaxBytes, ErrTooLarge)
	}
	e := entry{name: name, mode: modeOf(&st), look: w.lookOf(&st)}
	if was != nil && was.mode == e.mode && was.look == e.look && !e.look.racy {
		e.id = was.id
		return e, true, nil
	}
	return w.readFile(fd, path, e, was)
}

// leftOut says why something is left out by what it is, or "".
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

// left is the entry of what is left out.
func left(name, why string) entry { return entry{name: name, mode: modeOut, id: outIDs[why]} }

// missed is the entry of what could not be looked at, if it is there.
func missed(name string, err error) (entry, bool) {
	if errors.Is(err, unix.ENOENT) {
		return entry{}, false
	}
	return left(name, outUnread), true
}

// unexpected returns an error that no change of the folder explains.
func unexpected(path string, err error) error {
	for _, known := range []error{unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.EACCES, unix.EPERM, unix.ENXIO, unix.EINVAL} {
		if errors.Is(err, known) {
			return nil
		}
	}
	return &os.PathError{Op: "read", Path: path, Err: err}
}

// readBelow reads a folder in an open folder.
func (w *walker) readBelow(ctx context.Context, fd int, name, path string, rules *ignore.Rules, depth int) (entry, bool, error) {
	if depth > maxDepth {
		return left(name, outDeep), true, nil
	}
	below, err := openAt(fd, name, unix.O_DIRECTORY)
	if err != nil {
		e, there := missed(name, err)
		return e, there, unexpected(path, err)
	}
	t, why, err := w.readFolder(ctx, below, path, rules, depth)
	switch {
	case err != nil:
		return entry{}, false, err
	case why != "":
		return left(name, why), true, nil
	case t == nil:
		return entry{}, false, nil
	}
	return entry{name: name, mode: modeTree, id: t.id}, true, nil
}

// readFile reads a file or link that looks different from what it was.
func (w *walker) readFile(fd int, path string, e entry, was *entry) (entry, bool, error) {
	data, why, err := readAt(fd, e.name, e.mode, w.MaxFile)
	if err != nil {
		e, there := missed(e.name, err)
		return e, there, unexpected(path, err)
	}
	if why != "" {
		return left(e.name, why), true, nil
	}
	e.id = idOf(kindBlob, data)
	if was != nil && was.id == e.id && was.mode != modeOut && was.mode != modeTree {
		return e, true, nil
	}
	return e, true, w.pack.add(w.at, kindBlob, e.id, data)
}

// readAt returns the content of a file or link, or why it is left out.
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

// readSized reads all of a file, or one byte more than the limit.
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
	l.racy = max(l.mtime, l.ctime) >= w.start.Add(-slack).UnixNano() && !weak.On("snapshot.racy")
	return l
}

// readRules returns an ignore file's text, or nil. One that cannot be read, or
// is no file, ignores nothing.
func readRules(fd int, path string) []byte {
	dirs := strings.Split(path, "/")
	for _, dir := range dirs[:len(dirs)-1] {
		next, err := openAt(fd, dir, unix.O_DIRECTORY)
		if err != nil {
			return nil
		}
		defer unix.Close(next) //nolint:errcheck,gocritic // it was only looked through; there are two at most
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
