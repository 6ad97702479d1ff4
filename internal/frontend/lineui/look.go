package lineui

import (
	"context"
	"io"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

func (t *talk) sayLast(context.Context, string) error {
	if t.teller.last == "" {
		return slip("there is no reply yet: send a prompt first")
	}
	s := newSpeech(t.voice, "pawl")
	s.add(t.teller.last)
	s.end()
	return nil
}

// maxOutput bounds how much of a kept output is read.
const maxOutput = 1 << 20

// sayOutput says what a call gave back, whole if it is kept beside the log.
func (t *talk) sayOutput(ctx context.Context, argument string) error {
	if argument == "" {
		argument = "1"
	}
	outputs := t.teller.outputs
	if len(outputs) == 0 {
		return slip("no tool has given anything back yet")
	}
	n, err := numbered(argument, len(outputs), "/output")
	if err != nil {
		return err
	}
	out := outputs[len(outputs)-1-n]
	text := out.result.Content
	for _, p := range out.result.Display {
		if patch, ok := p.(pawl.Patch); ok && !strings.Contains(text, strings.TrimSpace(patch.Diff)) {
			text = strings.TrimRight(text, "\n") + "\n" + patch.Diff
		}
	}
	if out.result.Spill != nil {
		if text, err = t.kept(ctx, out); err != nil {
			return err
		}
	}
	t.voice.say("output: %s, %s", out.title, lineCount(text))
	if strings.TrimSpace(text) != "" {
		t.voice.block(text)
	}
	return nil
}

// kept reads an output that is kept beside the log.
func (t *talk) kept(ctx context.Context, out output) (text string, err error) {
	err = t.do(ctx, func(ctx context.Context) error {
		r, err := t.Service.Output(ctx, out.session, out.result.Spill.ID)
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

// showAll says the whole session.
func (t *talk) showAll(ctx context.Context, _ string) error {
	if t.Show == nil {
		return slip("it cannot be shown here: 'pawl session show' does it")
	}
	var b strings.Builder
	err := t.order(ctx, func(ctx context.Context, id pawl.SessionID) error {
		s, err := t.Service.Get(ctx, id)
		if err != nil {
			return err
		}
		return t.Show(ctx, &b, s)
	})
	if err != nil {
		return err
	}
	t.voice.block(b.String())
	return nil
}

func (t *talk) stats(ctx context.Context, _ string) error {
	var rows []pawl.UsageRow
	err := t.order(ctx, func(ctx context.Context, id pawl.SessionID) (err error) {
		rows, err = t.Service.Usage(ctx, pawl.UsageFilter{Session: id})
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
	said := "replies"
	if replies == 1 {
		said = "reply"
	}
	t.voice.say("stats: %d %s, %d tokens read, %d from the cache, %d written, %s; 'pawl stats' says more",
		replies, said, sum.Input+sum.CacheWrite, sum.CacheRead, sum.Output, humanize.Dollars(sum.Cost))
	return nil
}
