package tool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// output stores what a command prints: in memory while it is short, then in a
// temporary file. Of output that exceeds both limits it keeps the beginning
// and the end.
type output struct {
	progress *progress

	memory int64 // bytes kept in memory
	disk   int64 // bytes kept in the file

	mu     sync.Mutex
	total  int64
	ends   ends     // the beginning and the end, in memory
	file   *os.File // the beginning, once ends is too small for it
	filed  int64    // bytes in the file
	failed error    // why the file cannot be extended
	closed bool
	news   chan struct{} // closed at the next write; nil if nobody waits
}

func newOutput(memory, disk int64, show func(string)) *output {
	return &output{memory: memory, disk: disk, ends: ends{half: int(memory / 2)}, progress: &progress{show: show}}
}

// Write never fails. It drops what is written after close.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return len(p), nil
	}
	if o.total+int64(len(p)) > o.memory {
		o.spool(p)
	}
	_, _ = o.ends.Write(p)
	o.total += int64(len(p))
	if o.news != nil {
		close(o.news)
		o.news = nil
	}
	o.mu.Unlock()
	o.progress.add(p)
	return len(p), nil
}

// spool appends p to the file, preceded by what is in memory if the file is
// new.
func (o *output) spool(p []byte) {
	write := func(p []byte) {
		p = p[:min(int64(len(p)), o.disk-o.memory/2-o.filed)]
		if o.failed == nil && len(p) > 0 {
			var n int
			n, o.failed = o.file.Write(p)
			o.filed += int64(n)
		}
	}
	if o.file == nil && o.failed == nil {
		if o.file, o.failed = passingFile(); o.failed == nil {
			write(o.ends.head)
			write(o.ends.last())
		}
	}
	write(p)
}

// passingFile returns a temporary file that is already unlinked: no other
// process can open it, and it disappears when it is closed or pawl ends.
func passingFile() (*os.File, error) {
	dir, err := os.MkdirTemp("", "pawl-output-") // with mode 0700
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "output"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if rmErr := os.RemoveAll(dir); rmErr != nil && f != nil {
		return nil, errors.Join(rmErr, f.Close())
	}
	return f, err
}

// since returns the output from an offset on, and the offset of its end.
func (o *output) since(from int64) (r io.Reader, end int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return bytes.NewReader(nil), from
	}
	var parts []io.Reader
	switch head := int64(len(o.ends.head)); {
	case o.filed >= head && from < o.filed:
		parts = append(parts, io.NewSectionReader(o.file, from, o.filed-from))
		from = o.filed
	case from < head:
		parts = append(parts, bytes.NewReader(o.ends.head[from:]))
		from = head
	}
	tail := o.ends.last()
	if gap := o.total - int64(len(tail)) - from; gap > 0 {
		mark := fmt.Sprintf("\n… %d bytes dropped …\n", gap)
		if o.failed != nil {
			mark = fmt.Sprintf("\n… %d bytes dropped, which could not be kept: %v …\n", gap, o.failed)
		}
		parts = append(parts, bytes.NewReader([]byte(mark)))
		from += gap
	}
	parts = append(parts, bytes.NewReader(tail[int64(len(tail))-(o.total-from):]))
	return io.MultiReader(parts...), o.total
}

// after returns a channel that is closed when there is output beyond the
// offset.
func (o *output) after(offset int64) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.news == nil {
		o.news = make(chan struct{})
	}
	news := o.news
	if o.total > offset {
		close(news)
		o.news = nil
	}
	return news
}

// close releases memory and file. The output cannot be read after it.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	if o.file != nil {
		_ = o.file.Close()
	}
	o.ends = ends{}
}
