package lsp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/pawl-dev/pawl/internal/workspace"
)

// question is the set of documents for which a Check waits.
type question struct {
	docs    map[string]int  // versions of open documents, by path
	same    map[string]bool // documents whose text has not changed
	other   bool            // other files have changed
	changes int             // the server's change count, including the latest
	since   uint64          // the server's publication count before
	at      time.Time
}

// update sends the server what has changed on disk and returns the question
// for the diagnostics of the files; without paths, of the open documents. It
// does not repeat what the server already knows. A second attempt sends what
// the first could not.
func (s *server) update(ctx context.Context, w *workspace.Workspace, paths []string) (question, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return question{}, context.Cause(ctx)
	case <-s.ended:
		return question{}, s.err
	}
	s.mu.Lock()
	q := question{docs: map[string]int{}, same: map[string]bool{}, since: s.news, at: time.Now()}
	s.mu.Unlock()

	texts, closed := s.read(w, paths)
	s.watch.look(ctx)
	for _, path := range slices.Sorted(maps.Keys(closed)) {
		if err := s.closeDoc(ctx, path, true); err != nil {
			return q, err
		}
		if errors.Is(closed[path], fs.ErrNotExist) {
			s.watch.note(path, fileDeleted)
		}
	}
	for path, text := range texts {
		sent, open := s.isSent(path, text)
		if sent {
			delete(texts, path)
		}
		if open {
			delete(s.watch.pending, path) // the server has the text from us
		}
	}
	if events := s.watch.events(); len(events) > 0 {
		if err := s.conn.notify(ctx, "workspace/didChangeWatchedFiles", map[string]any{"changes": events}); err != nil {
			return q, err
		}
		s.watch.notified()
		q.other = true
		s.mu.Lock()
		s.changes++
		s.mu.Unlock()
	}
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		if err := errors.Join(s.sendText(ctx, path, texts[path]), s.sendSaved(ctx, path, texts[path])); err != nil {
			return q, err
		}
	}
	if err := s.closeOld(ctx, paths); err != nil {
		return q, err
	}
	return q, s.aim(ctx, w, &q, paths, len(texts) > 0)
}

// isSent reports whether the server already has the text, and whether the
// document is open. It records that the file has changed.
func (s *server) isSent(path string, c content) (sent, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.docs[path]
	if d == nil || d.sum != sha256.Sum256([]byte(c.text)) {
		return false, d != nil
	}
	d.stamp = c.stamp
	return true, true
}

// aim determines the documents of the question. Documents for which the server
// answered before something else changed are sent again, so that its next
// answer names the new version.
//
// A server that always answers gets the last document once more at the very
// end: it may abort an answer when something follows the question, and then
// diagnostics of other files would be missing.
func (s *server) aim(ctx context.Context, w *workspace.Workspace, q *question, paths []string, changed bool) error {
	var again []string
	s.mu.Lock()
	for path, d := range s.docs {
		asked := slices.Contains(paths, path)
		switch {
		case !d.done && (asked || len(paths) == 0):
			q.docs[path] = d.version
		case d.done && asked && d.changes < s.changes:
			again = append(again, path)
		}
	}
	if len(again) == 0 && (len(q.docs) == 0 && q.other || len(q.docs) > 0 && changed && s.spec.Always) {
		again = s.witness(paths)
	}
	s.mu.Unlock()
	slices.Sort(again)
	for _, path := range again {
		text, err := readText(w, s.dir, path)
		if err != nil {
			continue // it was just deleted: the next scan finds that
		}
		if err := s.sendText(ctx, path, text); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q.changes = s.changes
	for _, path := range again {
		if d := s.docs[path]; d != nil {
			q.docs[path], q.same[path] = d.version, true
		}
	}
	if len(q.docs) > 0 && s.askedAt.IsZero() {
		s.askedAt = q.at
	}
	return nil
}

// witness returns a document whose answer shows that the server has processed
// other changes: the one that was sent last, or else a file in the directory
// of the deleted ones that were requested. It may return none.
func (s *server) witness(paths []string) []string {
	best := ""
	for path, d := range s.docs {
		if best == "" || d.version > s.docs[best].version {
			best = path
		}
	}
	if best != "" {
		return []string{best}
	}
	distance := func(path string) int {
		if slices.ContainsFunc(paths, func(p string) bool { return filepath.Dir(p) == filepath.Dir(path) }) {
			return 0
		}
		return 1
	}
	for path := range s.watch.seen {
		if s.spec.language(path) != "" && (best == "" || cmp.Or(distance(path)-distance(best), cmp.Compare(path, best)) < 0) {
			best = path
		}
	}
	if best == "" {
		return nil
	}
	return []string{best}
}

// sendText opens the document or replaces its text.
func (s *server) sendText(ctx context.Context, path string, c content) error {
	s.mu.Lock()
	s.versions++
	s.changes++
	d, old := &document{version: s.versions, stamp: c.stamp, sum: sha256.Sum256([]byte(c.text))}, s.docs[path]
	s.docs[path] = d // before it is sent: the answer may be quick
	s.mu.Unlock()

	doc := textDocument{URI: toURI(path), Version: d.version}
	var err error
	if old == nil {
		item := textItem{doc.URI, s.spec.language(path), d.version, c.text}
		err = s.conn.notify(ctx, "textDocument/didOpen", map[string]any{"textDocument": item})
	} else {
		change := map[string]any{"text": c.text}
		err = s.conn.notify(ctx, "textDocument/didChange", map[string]any{"textDocument": doc, "contentChanges": []any{change}})
	}
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.docs[path] = old; old == nil {
			delete(s.docs, path)
		}
		return fmt.Errorf("send %s: %w", path, err)
	}
	return nil
}

// sendSaved notifies the server that the document was saved, if it wants that.
func (s *server) sendSaved(ctx context.Context, path string, c content) error {
	if !s.save {
		return nil
	}
	saved := map[string]any{"textDocument": textDocument{URI: toURI(path)}}
	if s.full {
		saved["text"] = c.text
	}
	return s.conn.notify(ctx, "textDocument/didSave", saved)
}
