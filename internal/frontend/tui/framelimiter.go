package tui

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

const (
	activeInterval = time.Second / 60       // between two frames, as the library has it
	idleAfter      = 250 * time.Millisecond // without a message, before frames become rare
	idleInterval   = 5 * time.Second        // between two frames while nothing moves
)

// frames makes the library look for something to draw only while something moves:
// by itself it looks sixty times a second, for as long as the program runs. Frames
// that are rare, and not gone, would show what was drawn too late to be seen.
type frameLimiter struct {
	mu     sync.Mutex
	ticker *time.Ticker // the library's; nil if it is not found: then it does as it does
	timer  *time.Timer
	last   time.Time
	slow   bool
}

// find takes the library's ticker, which has no other way to be reached. It is
// there once the program runs.
func (f *frameLimiter) findTicker(p *tea.Program) {
	if p == nil {
		return
	}
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() {
		return
	}
	f.ticker = *(**time.Ticker)(unsafe.Pointer(field.UnsafeAddr())) //nolint:gosec // its type was checked
}

// move says that something may be drawn now.
func (f *frameLimiter) activity(p *tea.Program) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ticker == nil {
		f.findTicker(p)
	}
	if f.ticker == nil {
		return
	}
	f.last = time.Now()
	if f.timer == nil {
		f.timer = time.AfterFunc(idleAfter, f.slowDown)
	}
	if f.slow {
		f.slow = false
		f.ticker.Reset(activeInterval)
		f.timer.Reset(idleAfter)
	}
}

// rest makes frames rare if nothing has moved for a while.
func (f *frameLimiter) slowDown() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if left := idleAfter - time.Since(f.last); left > 0 {
		f.timer.Reset(left)
		return
	}
	f.slow = true
	f.ticker.Reset(idleInterval)
}
