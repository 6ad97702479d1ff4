package mission

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
)

// redrawEvery is how often the board is redrawn in a terminal without an event: times change, and what workers spend is
// not in the mission's own log.
const redrawEvery = 5 * time.Second

// watcher displays a mission until it ends.
type watcher struct {
	out    io.Writer
	svc    pawl.Service
	json   bool
	screen *cli.Screen // the terminal to redraw the board in; nil if the output is not a terminal
	drawn  int         // number of lines of the board that is displayed
}

func newWatcher(w io.Writer, svc pawl.Service, json bool) *watcher {
	v := &watcher{out: w, svc: svc, json: json}
	if s, ok := w.(*cli.Screen); ok && cli.IsTerminal(s) && !json {
		v.screen = s
	}
	return v
}

// update is an event of the mission, or the error that ended the stream.
type update struct {
	event pawl.Event
	err   error
}

// run displays the board and its changes until the mission ends, and returns the outcome as an ExitError.
func (v *watcher) run(ctx context.Context, b board) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := v.show(b); err != nil || b.State != pawl.MissionWorking {
		return orEnd(err, b)
	}
	heard := make(chan update)
	go v.listen(ctx, b.Session, heard)
	tick := time.NewTicker(redrawEvery)
	defer tick.Stop()
	for {
		changed := true
		select {
		case n := <-heard:
			if n.err != nil {
				return n.err
			}
			if err := v.printLine(n.event); err != nil {
				return err
			}
			changed = changes(n.event.Body)
		case <-tick.C:
			changed = v.screen != nil
		}
		if !changed {
			continue
		}
		var err error
		if b, err = boardOf(ctx, v.svc, b.Session.ID); err != nil {
			return err
		}
		if err := v.show(b); err != nil || b.State != pawl.MissionWorking {
			return orEnd(err, b)
		}
	}
}

func orEnd(err error, b board) error {
	if err != nil {
		return err
	}
	return endError(b.Board)
}

// listen sends the events after the session's head to a channel.
func (v *watcher) listen(ctx context.Context, s pawl.Session, to chan<- update) {
	for e, err := range v.svc.Events(ctx, s.ID, s.Head) {
		select {
		case to <- update{e, err}:
		case <-ctx.Done():
			return
		}
	}
}

// changes reports whether an event changes the board.
func changes(b pawl.Body) bool {
	switch b.(type) {
	case pawl.TurnStarted, pawl.TurnFinished, pawl.Withdrawn:
		return true
	default:
		return missionapi.IsEvent(b)
	}
}

// show prints the board. In a terminal it replaces the previous board, with --json it prints one line, and otherwise it
// prints the board only the first time.
func (v *watcher) show(b board) error {
	switch {
	case v.json:
		return cli.WriteJSON(v.out, b.Board)
	case v.screen != nil:
		text := b.text()
		if err := v.screen.EraseLines(v.drawn); err != nil {
			return err
		}
		v.drawn = cli.CountLines(text, cli.Columns(v.screen.File))
		_, err := io.WriteString(v.screen, text)
		return err
	case v.drawn == 0:
		v.drawn = 1
		_, err := io.WriteString(v.out, b.text())
		return err
	}
	return nil
}

// printLine prints a line about an event, unless the output is a terminal or JSON.
func (v *watcher) printLine(e pawl.Event) error {
	line, _ := humanize.Mission(e.Body)
	if v.json || v.screen != nil || line == "" {
		return nil
	}
	_, err := fmt.Fprintf(v.out, "%s  %s\n", e.At.Local().Format("15:04:05"), line)
	return err
}
