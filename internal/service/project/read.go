package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/workspace"
	"github.com/pawl-dev/pawl/internal/workspace/ignore"
)

// The limits of reading a session's files.
const (
	maxEntries = 5000    // of a directory
	maxRead    = 1 << 20 // bytes of a file at once
	maxIgnore  = 1 << 20 // bytes of an ignore file
)

// ListDir returns the entries of a directory of a session, sorted by name.
func (d *Local) ListDir(ctx context.Context, id pawl.SessionID, dir string) (entries []pawl.FileInfo, more bool, err error) {
	s, err := d.session(ctx, id)
	if err != nil {
		return nil, false, fmt.Errorf("list: %w", err)
	}
	w, real, err := s.open(cmp.Or(dir, "."))
	if err != nil {
		return nil, false, fmt.Errorf("list %.200q: %w", dir, err)
	}
	defer w.Close()
	if entries, more, err = s.list(w, real); err != nil {
		return nil, false, fmt.Errorf("list %.200q: %w", dir, err)
	}
	return entries, more, nil
}

// open opens the directories of a session, and returns the real name of a path in them that the session
// may read.
func (s sessionFiles) open(path string) (*workspace.Workspace, string, error) {
	rel, err := s.path(path)
	if err != nil {
		return nil, "", err
	}
	if !s.readAllowed(rel) {
		return nil, "", fault.New(pawl.ErrDenied, "%s", notReadable)
	}
	w, err := workspace.Open(s.policy.Dir, s.policy.Dirs...)
	if err != nil {
		return nil, "", readError(err)
	}
	real, err := workspace.Readable(s.policy.Dir, rel, s.readAllowed, s.policy.Dirs...)
	if err != nil {
		return nil, "", errors.Join(readError(err), w.Close())
	}
	return w, real, nil
}

// readError returns an error of the file system as one of the caller.
func readError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(pawl.ErrNotFound, "file not found")
	default:
		return fault.New(pawl.ErrDenied, "%w", err)
	}
}

func (s sessionFiles) list(w *workspace.Workspace, dir string) ([]pawl.FileInfo, bool, error) {
	root, err := w.RealFolder(dir)
	if err != nil {
		return nil, false, readError(err)
	}
	defer root.Close()
	f, err := root.Open(".")
	if err != nil {
		return nil, false, readError(err)
	}
	defer f.Close()
	found, err := f.ReadDir(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	more := len(found) > maxEntries
	ignored := s.ignored(w, dir)
	entries := []pawl.FileInfo{}
	for _, e := range found[:min(len(found), maxEntries)] {
		info := pawl.FileInfo{Name: e.Name(), Type: typeOf(e.Type()), Ignored: ignored(e.Name(), e.IsDir())}
		if stat, err := e.Info(); err == nil && e.Type().IsRegular() {
			info.Size = stat.Size()
		}
		entries = append(entries, info)
	}
	slices.SortFunc(entries, func(a, b pawl.FileInfo) int { return strings.Compare(a.Name, b.Name) })
	return entries, more, nil
}

func typeOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeSymlink != 0:
		return "link"
	default:
		return "other"
	}
}

// ignored returns a function that reports whether git ignores an entry of a directory.
func (s sessionFiles) ignored(w *workspace.Workspace, dir string) func(name string, folder bool) bool {
	top, rel := "", filepath.ToSlash(dir)
	if added, below, ok := workspace.Locate(dir, s.policy.Dirs...); ok {
		top, rel = added, filepath.ToSlash(below)
	}
	read := func(name string) []byte { return readIgnore(w, filepath.Join(top, name)) }
	var rules *ignore.Rules
	rules = rules.In(".", ignore.Files{Git: read(".git/info/exclude")})
	inside := false
	at := "."
	rules = rules.In(at, ignore.Files{Git: read(".gitignore"), Ignore: read(".ignore")})
	for part := range strings.SplitSeq(rel, "/") {
		if part == "." {
			continue
		}
		at = path.Join(at, part)
		inside = inside || part == ".git" || rules.Ignored(at, true)
		rules = rules.In(at, ignore.Files{Git: read(at + "/.gitignore"), Ignore: read(at + "/.ignore")})
	}
	return func(name string, folder bool) bool {
		return inside || name == ".git" || rules.Ignored(path.Join(at, name), folder)
	}
}

// readIgnore returns the content of an ignore file; nil if it cannot be read.
func readIgnore(w *workspace.Workspace, name string) []byte {
	f, err := w.OpenReal(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, maxIgnore))
	if err != nil {
		return nil
	}
	return text
}

// ReadFile returns a part of a file of a session, and the size of the whole file. Its media type is plain text,
// an image or unknown, whatever its name says.
func (d *Local) ReadFile(ctx context.Context, id pawl.SessionID, name string, offset, length int64) (part pawl.File, size int64, err error) {
	if offset < 0 || length < 0 {
		return part, 0, fault.New(pawl.ErrInvalid, "offset and length must not be negative")
	}
	s, err := d.session(ctx, id)
	if err != nil {
		return part, 0, fmt.Errorf("read: %w", err)
	}
	w, real, err := s.open(name)
	if err != nil {
		return part, 0, fmt.Errorf("read %.200q: %w", name, err)
	}
	defer w.Close()
	f, err := w.OpenReal(real)
	if err != nil {
		return part, 0, fmt.Errorf("read %.200q: %w", name, readError(err))
	}
	defer f.Close()
	part = pawl.File{Name: filepath.Base(real)}
	if size, err = readPart(f, &part, offset, min(cmp.Or(length, maxRead), maxRead)); err != nil {
		return pawl.File{}, 0, fmt.Errorf("read %.200q: %w", name, err)
	}
	return part, size, nil
}

// readPart reads a part of an open file, and its type.
func readPart(f *os.File, part *pawl.File, offset, length int64) (size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fault.New(pawl.ErrInvalid, "not a regular file")
	}
	head := make([]byte, 512)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	part.MediaType = safeType(head[:n])
	part.Data, err = io.ReadAll(io.NewSectionReader(f, offset, length))
	return info.Size(), err
}

// safeType returns a media type that no browser runs scripts of, by the beginning of a file.
func safeType(head []byte) string {
	kind := http.DetectContentType(head)
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return kind
	}
	for i := 0; i < utf8.UTFMax-1 && len(head) > utf8.UTFMax && !utf8.Valid(head); i++ {
		head = head[:len(head)-1] // its last character may be incomplete
	}
	if utf8.Valid(head) && !slices.Contains(head, 0) {
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}
