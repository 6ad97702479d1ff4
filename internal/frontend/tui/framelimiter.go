package tui

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

const (
	activeInterval = time.Second / 60       // frame interval, as Bubble Tea has it
	idleAfter      = 250 * time.Millisecond // without messages for this long, frames become rare
	idleInterval   = 5 * time.Second        // frame interval while idle
)

// frameLimiter slows Bubble Tea's renderer while nothing changes: it would otherwise
// check for changes 60 times a second for as long as the program runs. Frames are
// slowed rather than stopped, so that a late change is still drawn.
type frameLimiter struct {
	mu     sync.Mutex
	ticker *time.Ticker // Bubble Tea's ticker; nil if it is not found, then nothing is slowed
	timer  *time.Timer
	last   time.Time
	slow   bool
}

// findTicker gets Bubble Tea's ticker by reflection: there is no API for it. It exists
// once the program runs.
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

// activity restores the fast interval.
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

// slowDown makes frames rare if there was no activity for a while.
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
