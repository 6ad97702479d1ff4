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
)

// The bounds of what is asked of the editor's buffers.
const (
	reloadTime  = 5 * time.Second // that the editor may take to notice that a file has changed on the disk
	maxFiles    = 1000            // files whose former contents are remembered
	maxVersions = 8               // contents of one
)

// buffers are the files of a session as the editor has them.
type buffers struct {
	id           pawl.SessionID
	editor       editor
	seen         *diskHistory
	now          func() time.Time
	unresponsive atomic.Bool // it did not answer in time: it is not asked again before the next prompt
}

var _ pawl.Buffers = (*buffers)(nil)

// Unsaved asks the editor what it has of a file. An editor that still has what was
// on the disk before has only not looked again.
func (b *buffers) Unsaved(ctx context.Context, f pawl.OnDisk) (text string, ok bool, err error) {
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

// read returns what the editor has of a file. It is not waited for when it hangs,
// be it that it does not even take the question.
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

// spelled writes the text of a buffer as the file on the disk is written. Editors
// keep lines apart from how they end, some without the last end, and without the
// mark of the byte order.
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

// former remembers what files had on the disk when pawl looked at them. All
// sessions of an editor share it.
type diskHistory struct {
	mu    sync.Mutex
	files map[string][][sha256.Size]byte // the latest last
}

// add remembers what a file has now.
func (m *diskHistory) add(f pawl.OnDisk) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files == nil || len(m.files) == maxFiles && m.files[f.Path] == nil {
		m.files = map[string][][sha256.Size]byte{} // to forget is harmless: what an editor has late seems not saved, for a moment
	}
	sum := sha256.Sum256([]byte(f.Text))
	list := slices.DeleteFunc(m.files[f.Path], func(s [sha256.Size]byte) bool { return s == sum })
	if len(list) == maxVersions {
		list = slices.Delete(list, 0, 1)
	}
	m.files[f.Path] = append(list, sum)
}

// had reports whether a file had this text when pawl looked.
func (m *diskHistory) contains(path, text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Contains(m.files[path], sha256.Sum256([]byte(text)))
}
