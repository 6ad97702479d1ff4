package acp

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// Limits of reading the editor's buffers.
const (
	reloadTime  = 5 * time.Second // how long an editor may take to reload a file that changed on disk
	maxFiles    = 1000            // files whose earlier contents are remembered
	maxVersions = 8               // contents per file
)

// buffers reads a session's files as the editor has them, with unsaved changes.
type buffers struct {
	id           pawl.SessionID
	editor       editor
	seen         *diskHistory
	now          func() time.Time
	unresponsive atomic.Bool // it did not answer in time; it is not asked again until the next prompt
}

var _ toolapi.Buffers = (*buffers)(nil)

// Unsaved returns the editor's text of a file if it has unsaved changes. If the editor
// has an earlier content of the file, it has not reloaded it yet: that does not count
// as unsaved.
func (b *buffers) Unsaved(ctx context.Context, f toolapi.OnDisk) (text string, ok bool, err error) {
	b.seen.add(f)
	if text, err = b.read(ctx, f.Path); err != nil {
		return "", false, err
	}
	if text == "" && f.Text != "" {
		return "", false, errors.New("it handed over nothing")
	}
	text = matchFormat(text, f.Text)
	late := b.now().Sub(f.Changed) < reloadTime && b.seen.contains(f.Path, text)
	if text == f.Text || late {
		return "", false, nil
	}
	return text, true, nil
}

// read returns the editor's text of a file. It gives up after readTime, even if the
// request cannot be written.
func (b *buffers) read(ctx context.Context, path string) (string, error) {
	if b.unresponsive.Load() {
		return "", errors.New("it did not answer before")
	}
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	var text string
	answered := make(chan error, 1)
	go func() {
		var err error
		text, err = b.editor.read(ctx, b.id, path, 0)
		answered <- err
	}()
	var err error
	select {
	case err = <-answered:
	case <-ctx.Done():
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		b.unresponsive.Store(true)
		return "", fmt.Errorf("it did not answer within %s", readTime)
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", fmt.Errorf("it says: %s", line(err.Error()))
	}
	return text, nil
}

// matchFormat converts a buffer's text to the line endings, the final newline and the
// byte order mark of the file on disk, which editors do not keep in the text.
func matchFormat(text, disk string) string {
	const mark = "\ufeff"
	if strings.HasPrefix(disk, mark) && !strings.HasPrefix(text, mark) {
		text = mark + text
	}
	end := "\n"
	if n := strings.Count(disk, "\r\n"); n > 0 && n == strings.Count(disk, "\n") {
		end = "\r\n"
		if !strings.Contains(text, "\r") {
			text = strings.ReplaceAll(text, "\n", end)
		}
	}
	if text+end == disk || strings.HasSuffix(disk, end) && !strings.HasSuffix(text, end) {
		text += end
	}
	return text
}

// diskHistory remembers the hashes of file contents that pawl has seen on disk. All
// sessions of a connection share it.
type diskHistory struct {
	mu    sync.Mutex
	files map[string][][sha256.Size]byte // newest last
}

// add records the current content of a file.
func (m *diskHistory) add(f toolapi.OnDisk) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files == nil || len(m.files) == maxFiles && m.files[f.Path] == nil {
		m.files = map[string][][sha256.Size]byte{} // forgetting is harmless: until it reloads, a buffer looks unsaved
	}
	sum := sha256.Sum256([]byte(f.Text))
	list := slices.DeleteFunc(m.files[f.Path], func(s [sha256.Size]byte) bool { return s == sum })
	if len(list) == maxVersions {
		list = slices.Delete(list, 0, 1)
	}
	m.files[f.Path] = append(list, sum)
}

// contains reports whether the file has had this text.
func (m *diskHistory) contains(path, text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Contains(m.files[path], sha256.Sum256([]byte(text)))
}
