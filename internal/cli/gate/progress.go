package gate

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mission/gate"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Intervals between two lines of progress. Without a terminal, a line is printed only if nothing else was.
const (
	redrawEvery = time.Second
	printEvery  = 1500 * time.Millisecond
)

// progress displays what the gate does: on a terminal in one line that it rewrites, otherwise in lines.
type progress struct {
	out    io.Writer
	screen *cli.Screen // nil if out is not a terminal
	start  time.Time
	ticker *time.Ticker
	done   chan struct{}
	ended  sync.WaitGroup

	mu    sync.Mutex
	now   experiment.Progress
	drawn bool // the terminal's last line is the progress
}

// newProgress starts to display progress. Call stop at the end.
func newProgress(out io.Writer) *progress {
	p := &progress{out: out, start: time.Now(), done: make(chan struct{})}
	every := printEvery
	if s, ok := out.(*cli.Screen); ok && cli.IsTerminal(s) && os.Getenv("TERM") != "dumb" {
		p.screen, every = s, redrawEvery
	}
	p.ticker = time.NewTicker(every)
	p.ended.Go(p.run)
	return p
}

func (p *progress) run() {
	for {
		select {
		case <-p.done:
			return
		case <-p.ticker.C:
			p.mu.Lock()
			p.draw()
			p.mu.Unlock()
		}
	}
}

// stop ends the display and removes the line from the terminal.
func (p *progress) stop() {
	close(p.done)
	p.ended.Wait()
	p.ticker.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

// update is called if something else is done.
func (p *progress) update(now experiment.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stage := now.Stage != p.now.Stage
	p.now = now
	if stage {
		p.draw()
	}
}

// ran prints the result of a run. The terminal shows only those of the change itself.
func (p *progress) ran(r pawl.CheckRun) {
	if p.screen != nil && r.On != "base" && r.On != "candidate" {
		return
	}
	fmt.Fprint(p, sanitize.CILog(fmt.Sprintf("pawl: %s on %s: %s\n", sanitize.Line(r.Check), sanitize.Line(r.On), gate.Summary(r))))
	if p.screen == nil {
		p.ticker.Reset(printEvery)
	}
}

// Write prints lines that stay.
func (p *progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	n, err := p.out.Write(text)
	if p.screen != nil && err == nil {
		p.draw()
	}
	return n, err
}

// erase removes the line of progress. Errors are ignored, here and in draw: the verdict does not depend on the display.
func (p *progress) erase() {
	if p.drawn {
		_ = p.screen.EraseLines(1)
		p.drawn = false
	}
}

func (p *progress) draw() {
	line := "pawl: " + sanitize.CILog(describe(p.now, time.Since(p.start), time.Now()))
	if p.screen == nil {
		_, _ = fmt.Fprintln(p.out, line)
		return
	}
	p.erase()
	_, _ = fmt.Fprintln(p.out, humanize.FirstLine(line, cli.Columns(p.screen.File)-1))
	p.drawn = p.screen.Flush() == nil
}

// describe returns the progress in a line: the elapsed time, what is left, and what runs.
func describe(p experiment.Progress, elapsed time.Duration, now time.Time) string {
	parts := []string{humanize.Clock(elapsed)}
	if p.Steps == 0 {
		return parts[0] + ", " + cmp.Or(p.Stage, "preparing")
	}
	parts = append(parts, fmt.Sprintf("stage %d of %d, %s", p.Step, p.Steps, p.Stage))
	if p.Total > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d tried, %s left", p.Tried, p.Total, humanize.Clock(p.Until.Sub(now))))
	}
	if n := len(p.Running); n > 0 {
		text := sanitize.Line(p.Running[0])
		if n > 1 {
			text += fmt.Sprintf(" and %d more", n-1)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ": ")
}
