package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// follower follows a turn for a request: it reports progress to the host,
// forwards asks to the user, and collects the result.
type follower struct {
	*server
	host  *sdk.ServerSession
	token any // the host's progress token; nil means no progress
	sent  int // progress notifications sent

	items    *transcript.Transcript
	reported map[string]transcript.State // of the items, as they were reported last
	outcome  transcript.Outcome

	mu   sync.Mutex
	asks map[askID]context.CancelFunc // asks that were forwarded
}

// follow follows the session until the turn of the prompt has ended. That is
// the first to end after the prompt, because the session was idle.
func (f *follower) follow(ctx context.Context, id pawl.SessionID, prompt pawl.Seq) error {
	ended, err := f.watch(ctx, id, prompt, func(ctx context.Context, e pawl.Event) {
		f.hear(ctx, "", e)
		f.progress(ctx, f.items.Apply(e))
		f.outcome.Add(e)
	})
	switch {
	case ended || err != nil:
		return err
	case !errors.Is(context.Cause(ctx), context.Canceled): // the host has disconnected, or pawl is exiting
		return fmt.Errorf("%w: run `pawl resume %s` to continue", context.Cause(ctx), id)
	}
	// The host has canceled the request. Wait for the turn to end, so that it
	// is not left open if the host exits now.
	late, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelWait)
	defer stop()
	if err := f.Service.Cancel(late, id); err != nil {
		return err
	}
	if _, err := f.watch(late, id, prompt, func(context.Context, pawl.Event) {}); err != nil {
		return err
	}
	return context.Canceled
}

// watch processes events until the turn has ended, and reports whether it has.
// What seen starts ends with its context.
func (f *follower) watch(ctx context.Context, id pawl.SessionID, prompt pawl.Seq, seen func(context.Context, pawl.Event)) (ended bool, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for e, err := range f.Service.Events(ctx, id, prompt) {
		if err != nil {
			return false, err
		}
		seen(ctx, e)
		switch b := e.Body.(type) {
		case pawl.TurnFinished:
			return true, nil
		case pawl.Withdrawn:
			if b.Prompt == prompt {
				return false, errors.New("the prompt was withdrawn")
			}
		case pawl.Status:
			if b.State == "interrupted" {
				return false, fmt.Errorf("the session was interrupted: %s: run `pawl resume %s` to continue", b.Message, id)
			}
		default: // not an end
		}
	}
	return false, nil
}

// addSubagents adds the denied calls of subagents to the outcome.
func (f *follower) addSubagents(ctx context.Context) error {
	for _, id := range f.outcome.Subagents {
		row, err := f.Service.Get(ctx, id)
		if errors.Is(err, pawl.ErrNotFound) {
			continue // it was announced but never created
		}
		if err != nil {
			return err
		}
		var log []pawl.Event
		for e, err := range f.log(ctx, row) {
			if err != nil {
				return err
			}
			log = append(log, e)
		}
		f.outcome.AddSubagent(id, log)
	}
	return nil
}

// progress reports changed items to the host.
func (f *follower) progress(ctx context.Context, c transcript.Change) {
	for _, it := range c.Items {
		if f.reported[it.ID] == it.State {
			continue
		}
		f.reported[it.ID] = it.State
		f.report(ctx, progressText(it))
	}
}

// progressText returns what is reported of an item, or "".
func progressText(it transcript.Item) string {
	switch {
	case it.Kind == transcript.KindText && it.State == transcript.StateDone, it.Kind == transcript.KindNote, it.Kind == transcript.KindMission:
		return it.Text
	case it.Kind == transcript.KindCall && it.State == transcript.StateRunning:
		return it.Call.Tool + " " + strings.Join(it.Call.Targets, " ")
	case it.Kind == transcript.KindSubagent && it.State == transcript.StateRunning:
		return fmt.Sprintf("task for %s: %s", it.Subagent.Agent, it.Text)
	}
	return ""
}

// report sends a progress notification to the host.
func (f *follower) report(ctx context.Context, text string) {
	if f.token == nil || strings.TrimSpace(text) == "" {
		return
	}
	f.sent++
	params := &sdk.ProgressNotificationParams{ProgressToken: f.token, Progress: float64(f.sent), Message: line(text)}
	if err := f.host.NotifyProgress(ctx, params); err != nil {
		f.Log.Debug("cannot report progress to the host", "error", err) // progress is optional
	}
}

// line returns a text on one line, with special characters made visible.
func line(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return cut(sanitize.Line(text), progressChars)
}

// cut truncates a text to a number of characters.
func cut(text string, chars int) string {
	if runes := []rune(text); len(runes) > chars {
		return string(runes[:chars-1]) + "…"
	}
	return text
}
