package lsp

import (
	"context"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// stamp distinguishes states of a file.
type stamp struct {
	size int64
	time int64
}

// watch finds the changes in a directory since its last scan. Commands change
// files too, and servers rely on notifications. It scans on demand, so that
// nothing runs in between and the result is never late.
type watch struct {
	root     string
	reads    func(name string) bool
	seen     map[string]stamp
	pending  map[string]int // pending changes by path, until notified is called
	failures int
}

// look scans for changes since the last scan. It finds none in a directory
// that is too large.
func (w *watch) look(ctx context.Context) {
	if w.failures >= scanFailures {
		return
	}
	now, whole := w.scan(ctx)
	if !whole {
		if ctx.Err() == nil {
			w.failures++
		}
		return
	}
	before := w.seen
	w.seen = now
	if before == nil {
		return
	}
	for path, s := range now {
		if old, known := before[path]; !known {
			w.note(path, fileCreated)
		} else if old != s {
			w.note(path, fileChanged)
		}
	}
	for path := range before {
		if _, still := now[path]; !still {
			w.note(path, fileDeleted)
		}
	}
}

func (w *watch) note(path string, kind int) {
	if w.pending == nil {
		w.pending = map[string]int{}
	}
	w.pending[path] = kind
}

// events returns the changes that the server has not been notified of.
func (w *watch) events() []fileEvent {
	var events []fileEvent
	for _, path := range slices.Sorted(maps.Keys(w.pending)) {
		events = append(events, fileEvent{toURI(path), w.pending[path]})
	}
	return events
}

// notified records that the server was notified.
func (w *watch) notified() { w.pending = nil }

// scan returns the files that the server reads, and whether the scan was
// complete.
func (w *watch) scan(ctx context.Context) (map[string]stamp, bool) {
	short, cancel := context.WithTimeout(ctx, scanTime)
	defer cancel()
	found, entries := map[string]stamp{}, 0
	err := filepath.WalkDir(w.root, func(path string, d fs.DirEntry, err error) error {
		if entries++; entries > scanFiles || short.Err() != nil {
			return fs.SkipAll
		}
		switch {
		case err != nil && path == w.root:
			return err
		case err != nil:
			return nil // unreadable directories cannot be checked anyway
		case path == w.root:
			return nil
		case d.IsDir() && strings.HasPrefix(d.Name(), "."), d.Name() == "node_modules" && !w.reads("package.json"):
			return fs.SkipDir
		case d.IsDir() && isPackage(path):
			found[path] = stamp{}
			return fs.SkipDir
		case d.IsDir() || !w.reads(d.Name()):
			return nil
		}
		info, err := d.Info()
		if err == nil {
			found[path] = stamp{info.Size(), info.ModTime().UnixNano()}
		}
		return nil
	})
	return found, err == nil && entries <= scanFiles && short.Err() == nil
}

// isPackage reports whether a directory is an npm package, which changes as a
// whole: …/node_modules/name or …/node_modules/@owner/name.
func isPackage(path string) bool {
	parent, name := filepath.Split(path)
	parent = filepath.Clean(parent)
	if strings.HasPrefix(filepath.Base(parent), "@") {
		parent = filepath.Dir(parent)
	}
	return filepath.Base(parent) == "node_modules" && !strings.HasPrefix(name, "@")
}
