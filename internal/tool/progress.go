package tool

import (
	"fmt"
	"sync"
	"time"
	"unicode/utf8"
)

// The limits of progress output: at most 160 KB per second, however much a
// command prints.
const (
	progressEvery = 50 * time.Millisecond
	progressBytes = 8 << 10
)

// progress reports output while a command runs, in pieces of readable text. It
// reports the first piece at once and collects what follows for a while. If
// more comes than fits into a piece, it keeps the newest.
type progress struct {
	show func(string)

	mu      sync.Mutex
	clean   cleaner
	waiting []byte
	skipped int64
	timer   *time.Timer // nil if nothing is pending
	shown   time.Time
	stopped bool
}

// add appends output.
func (p *progress) add(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped || len(b) == 0 {
		return
	}
	if over := len(p.waiting) + len(b) - progressBytes; over > 0 {
		p.skipped += int64(over)
		k := min(over, len(p.waiting))
		p.waiting = append(p.waiting[:0], p.waiting[k:]...)
		b = b[over-k:]
	}
	p.waiting = append(p.waiting, b...)
	if p.timer != nil {
		return
	}
	if wait := progressEvery - time.Since(p.shown); wait > 0 {
		p.timer = time.AfterFunc(wait, p.onTime)
		return
	}
	p.flush(false)
}

func (p *progress) onTime() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = nil
	if !p.stopped {
		p.flush(false)
	}
}

func (p *progress) flush(last bool) {
	var text []byte
	if p.skipped > 0 {
		for range utf8.UTFMax - 1 { // it may begin within a character
			if len(p.waiting) > 0 && !utf8.RuneStart(p.waiting[0]) {
				p.waiting = p.waiting[1:]
				p.skipped++
			}
		}
		p.skipped += int64(len(p.clean.held))
		text = fmt.Appendf(nil, "\n… %d bytes …\n", p.skipped)
		p.clean, p.skipped = cleaner{}, 0
	}
	if text = p.clean.clean(text, p.waiting, last); len(text) > 0 {
		p.show(string(text))
	}
	p.waiting = p.waiting[:0]
	p.shown = time.Now()
}

// stop reports what is pending. Nothing is reported after it returns.
func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	p.flush(true)
	p.stopped = true
}
