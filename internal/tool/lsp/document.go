package lsp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/workspace"
)

// document is a file that is open at the server.
type document struct {
	version int // increases over all documents, so it also shows which was used last
	stamp   stamp
	sum     [sha256.Size]byte // of its text
	done    bool              // the server has answered for this version
	changes int               // the server's change count at that time
}

// content is the text of a file.
type content struct {
	stamp stamp
	text  string
}

var errNotText = errors.New("it is not a text file of a size that is checked")

// read returns the texts of the given files and of open documents that have
// changed, and the documents that must be closed, with the reason.
func (s *server) read(w *workspace.Workspace, paths []string) (texts map[string]content, closed map[string]error) {
	s.mu.Lock()
	look := make(map[string]stamp, len(s.docs)+len(paths))
	for path, d := range s.docs {
		look[path] = d.stamp
	}
	s.mu.Unlock()
	for _, path := range paths {
		look[path] = stamp{size: -1}
	}
	texts, closed = map[string]content{}, map[string]error{}
	for path, known := range look {
		rel, err := filepath.Rel(s.dir, path)
		if err != nil {
			closed[path] = err
			continue
		}
		if info, err := w.Stat(rel); err == nil && stampOf(info) == known {
			continue
		}
		if text, err := readText(w, s.dir, path); err != nil {
			closed[path] = err
		} else {
			texts[path] = text
		}
	}
	return texts, closed
}

// readText reads a file through the workspace. It follows no link: diagnostics
// would reveal the content of the target.
func readText(w *workspace.Workspace, dir, path string) (content, error) {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return content{}, err
	}
	f, err := w.OpenReal(rel)
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return content{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > textBytes {
		return content{}, errNotText
	}
	data, err := io.ReadAll(io.LimitReader(f, textBytes))
	return content{stampOf(info), string(data)}, err
}

func stampOf(info fs.FileInfo) stamp { return stamp{info.Size(), info.ModTime().UnixNano()} }

// closeOld closes the least recently sent documents beyond the limit.
func (s *server) closeOld(ctx context.Context, keep []string) error {
	s.mu.Lock()
	old := slices.DeleteFunc(slices.Collect(maps.Keys(s.docs)), func(path string) bool { return slices.Contains(keep, path) })
	slices.SortFunc(old, func(a, b string) int { return cmp.Compare(s.docs[a].version, s.docs[b].version) })
	old = old[:min(len(old), max(len(s.docs)-openDocs, 0))]
	s.mu.Unlock()
	for _, path := range old {
		if err := s.closeDoc(ctx, path, false); err != nil {
			return err
		}
	}
	return nil
}

// closeDoc closes a document if it is open and drops its pulled diagnostics;
// if the file is deleted, also the published ones.
func (s *server) closeDoc(ctx context.Context, path string, deleted bool) error {
	s.mu.Lock()
	open := s.docs[path] != nil
	s.mu.Unlock()
	if open {
		doc := textDocument{URI: toURI(path)}
		if err := s.conn.notify(ctx, "textDocument/didClose", map[string]any{"textDocument": doc}); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.docs, path)
	if v := s.verdicts[path]; v != nil {
		v.pulled = faults{}
		if deleted {
			v.published = faults{}
		}
		s.forget(path)
	}
	return nil
}
