package lineui

import (
	"context"
	"io"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

func (u *ui) printLast(context.Context, string) error {
	text := u.renderer.lastReply()
	if text == "" {
		return usagef("no reply yet: send a prompt first")
	}
	u.out.text("pawl", text)
	return nil
}

// maxOutput bounds how much of a stored output is read, in bytes.
const maxOutput = 1 << 20

// printOutput prints the output of a tool call, in full if it is stored beside the
// log.
func (u *ui) printOutput(ctx context.Context, argument string) error {
	if argument == "" {
		argument = "1"
	}
	calls := u.renderer.finishedCalls()
	if len(calls) == 0 {
		return usagef("no tool output yet")
	}
	n, err := parseIndex(argument, len(calls), "/output")
	if err != nil {
		return err
	}
	call := calls[n].Call
	text := call.Result.Content
	for _, p := range call.Result.Display {
		if patch, ok := p.(pawl.Patch); ok && !strings.Contains(text, strings.TrimSpace(patch.Diff)) {
			text = strings.TrimRight(text, "\n") + "\n" + patch.Diff
		}
	}
	if full := call.Result.Full; full != nil {
		if text, err = u.readOutput(ctx, full.ID); err != nil {
			return err
		}
	}
	title := sanitizeLine(call.Tool)
	if call.User {
		title = "your command"
	}
	u.out.printf("output: %s, %s", title, lineCount(text))
	if strings.TrimSpace(text) != "" {
		u.out.block(text)
	}
	return nil
}

// readOutput reads an output that is stored beside the log.
func (u *ui) readOutput(ctx context.Context, id string) (text string, err error) {
	err = u.runInterruptible(ctx, func(ctx context.Context) error {
		r, err := u.Service.Output(ctx, u.session.ID, id)
		if err != nil {
			return err
		}
		defer r.Close()
		data, err := io.ReadAll(io.LimitReader(r, maxOutput))
		text = string(data)
		return err
	})
	return text, err
}

// showAll prints the whole session.
func (u *ui) showAll(ctx context.Context, _ string) error {
	if u.Show == nil {
		return usagef("cannot print the session here: run `pawl session show`")
	}
	var b strings.Builder
	err := u.withSession(ctx, func(ctx context.Context, id pawl.SessionID) error {
		s, err := u.Service.Get(ctx, id)
		if err != nil {
			return err
		}
		return u.Show(ctx, &b, s)
	})
	if err != nil {
		return err
	}
	u.out.block(b.String())
	return nil
}

func (u *ui) stats(ctx context.Context, _ string) error {
	var rows []pawl.UsageRow
	err := u.withSession(ctx, func(ctx context.Context, id pawl.SessionID) (err error) {
		rows, err = u.Service.Usage(ctx, pawl.UsageFilter{Session: id})
		return err
	})
	if err != nil {
		return err
	}
	var sum pawl.Usage
	replies := 0
	for _, r := range rows {
		sum = sum.Add(r.Usage)
		replies += r.Replies
	}
	u.out.printf("stats: %s, %s tokens in, %s from the cache, %s out, %s; run `pawl stats` for more", humanize.Plural(replies, "reply"),
		humanize.Number(sum.Input+sum.CacheWrite), humanize.Number(sum.CacheRead), humanize.Number(sum.Output), humanize.Dollars(sum.Cost))
	return nil
}
