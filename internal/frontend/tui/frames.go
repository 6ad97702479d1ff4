package tui

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

const (
	often = time.Second / 60       // between two frames, as the library has it
	calm  = 250 * time.Millisecond // without a message, before frames become rare
	rarer = 5 * time.Second        // between two frames while nothing moves
)

// frames makes the library look for something to draw only while something moves:
// by itself it looks sixty times a second, for as long as the program runs. Frames
// that are rare, and not gone, would show what was drawn too late to be seen.
type frames struct {
	mu     sync.Mutex
	ticker *time.Ticker // the library's; nil if it is not found: then it does as it does
	timer  *time.Timer
	last   time.Time
	rests  bool
}

// find takes the library's ticker, which has no other way to be reached. It is
// there once the program runs.
func (f *frames) find(p *tea.Program) {
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
func (f *frames) move(p *tea.Program) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ticker == nil {
		f.find(p)
	}
	if f.ticker == nil {
		return
	}
	f.last = time.Now()
	if f.timer == nil {
		f.timer = time.AfterFunc(calm, f.rest)
	}
	if f.rests {
		f.rests = false
		f.ticker.Reset(often)
		f.timer.Reset(calm)
	}
}

// rest makes frames rare if nothing has moved for a while.
func (f *frames) rest() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if left := calm - time.Since(f.last); left > 0 {
		f.timer.Reset(left)
		return
	}
	f.rests = true
	f.ticker.Reset(rarer)
}
