package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
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

	out      runOutput
	writes   transcript.Writes
	tools    map[pawl.CallID]string
	children []pawl.SessionID

	mu   sync.Mutex
	asks map[askID]context.CancelFunc // asks that were forwarded
}

// follow follows the session until the turn of the prompt has ended. That is
// the first to end after the prompt, because the session was idle.
func (f *follower) follow(ctx context.Context, id pawl.SessionID, prompt pawl.Seq) error {
	ended, err := f.watch(ctx, id, prompt, func(ctx context.Context, e pawl.Event) {
		f.hear(ctx, "", e)
		f.progress(ctx, e.Body)
		f.take(e.Body)
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

// take adds an event to the result.
func (f *follower) take(body pawl.Body) {
	f.writes.Add(body)
	switch b := body.(type) {
	case pawl.Replied:
		if text := b.Parts.Text(); text != "" {
			f.out.Text = text
		}
		for _, c := range b.Parts.Calls() {
			f.tools[c.ID] = c.Name
		}
	case pawl.CallFinished:
		if b.Status == pawl.CallDenied {
			f.out.Denials = append(f.out.Denials, denial{Tool: f.tools[b.Call], Reason: b.Result.Content})
		}
	case pawl.Spawned, pawl.TaskStarted, pawl.ReviewStarted:
		c, _ := pawl.Event{Body: body}.Subagent()
		f.children = append(f.children, c.Subagent)
	case pawl.TurnFinished:
		f.out.Reason, f.out.Error, f.out.Steps = b.Reason, b.Message, b.Steps
		f.out.CostUSD = b.Usage.Cost.Dollars()
		f.out.FilesChanged = append(f.out.FilesChanged, f.writes.Paths()...)
	default: // not part of the result
	}
}

// takeChildren adds the denied calls of subagents to the result.
func (f *follower) takeChildren(ctx context.Context) error {
	for _, id := range f.children {
		row, err := f.Service.Get(ctx, id)
		if errors.Is(err, pawl.ErrNotFound) {
			continue // it was announced but never created
		}
		if err != nil {
			return err
		}
		child := &follower{server: f.server, tools: map[pawl.CallID]string{}}
		for e, err := range f.log(ctx, row) {
			if err != nil {
				return err
			}
			child.take(e.Body)
		}
		for _, d := range child.out.Denials {
			d.Task = id
			f.out.Denials = append(f.out.Denials, d)
		}
	}
	return nil
}

// progress reports progress to the host.
func (f *follower) progress(ctx context.Context, body pawl.Body) {
	word := ""
	switch b := body.(type) {
	case pawl.Replied:
		word = b.Parts.Text()
	case pawl.CallStarted:
		word = b.Tool
		for _, a := range b.Access {
			word += " " + a.Target
		}
	case pawl.Retried:
		word = fmt.Sprintf("%s: %s; retrying", b.Kind, b.Message)
	case pawl.Spawned:
		word = fmt.Sprintf("task for %s: %s", b.Agent, b.Title)
	default:
		word, _ = humanize.Mission(body) // other events are not worth a message
	}
	if f.token == nil || strings.TrimSpace(word) == "" {
		return
	}
	f.sent++
	params := &sdk.ProgressNotificationParams{ProgressToken: f.token, Progress: float64(f.sent), Message: line(word)}
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
