package acp

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
)

func unmasked(show func(string)) func(string) { return show }

// replyRenderer returns a renderer to which a reply with Seq 7 is streamed.
func replyRenderer(t interface{ Context() context.Context }, p *paper, mask Mask) *renderer {
	r := newRenderer(&session{editor: p, svc: &records{}, mask: mask, waiters: map[pawl.Seq]*waiter{}})
	r.event(t.Context(), pawl.Event{Seq: 7, Body: pawl.ReplyStarted{Step: 1}})
	return r
}

// blankless returns a text without white space: a blank text is not an item.
func blankless(text string) string { return strings.Join(strings.Fields(text), "") }

// TestStreamEndsComplete checks that each text of a reply is shown exactly once, in
// whatever pieces it comes and whichever of them are lost or come twice.
func TestStreamEndsComplete(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var parts pawl.Parts
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			text := rapid.StringOf(rapid.SampledFrom([]rune("ab ü世🙂\n"))).Draw(t, "text")
			if rapid.Bool().Draw(t, "reasoning") {
				parts = append(parts, pawl.Reasoning{Text: text})
			} else {
				parts = append(parts, pawl.Text{Text: text})
			}
		}
		p := &paper{}
		r := replyRenderer(t, p, unmasked)
		at := map[pawl.Channel]int{}
		want := map[role]string{}
		for _, part := range parts {
			channel, as, text := pawl.ChannelText, roleAgent, ""
			switch part := part.(type) {
			case pawl.Text:
				text = part.Text
			case pawl.Reasoning:
				channel, as, text = pawl.ChannelReasoning, roleThought, part.Text
			default:
			}
			want[as] += text
			for len(text) > 0 {
				n := rapid.IntRange(1, len(text)).Draw(t, "piece")
				for range rapid.SampledFrom([]int{1, 1, 1, 1, 2, 0}).Draw(t, "times") {
					r.event(t.Context(), pawl.Event{Body: pawl.Delta{Reply: 7, Channel: channel, Offset: at[channel], Text: text[:n]}})
				}
				at[channel] += n
				text = text[n:]
			}
		}
		for role, text := range p.said {
			if strings.ToValidUTF8(text, "?") != text {
				t.Fatalf("a part of a character was shown by %d: %q", role, text)
			}
		}
		r.event(t.Context(), pawl.Event{Seq: 8, Body: pawl.Replied{Parts: parts}})
		for role := range want {
			if diff := cmp.Diff(blankless(want[role]), blankless(p.said[role])); diff != "" {
				t.Fatalf("said and shown by %d:\n%s", role, diff)
			}
		}
	})
}

// TestStreamHoldsBack checks that text which a mask holds back comes with the end, once.
func TestStreamHoldsBack(t *testing.T) {
	t.Parallel()
	held := ""
	mask := func(show func(string)) func(string) {
		return func(text string) {
			held += text
			if i := strings.LastIndexByte(held, ' '); i >= 0 {
				show(strings.ReplaceAll(held[:i+1], "secret", "***"))
				held = held[i+1:]
			}
		}
	}
	for name, c := range map[string]struct {
		end  pawl.Body
		want string
	}{
		"complete":     {pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "the *** is ***"}}}, "the *** is ***"},
		"not complete": {pawl.TurnFinished{Reason: pawl.ReasonCanceled}, "the *** is "},
	} {
		t.Run(name, func(t *testing.T) {
			held = ""
			p := &paper{}
			r := replyRenderer(t, p, mask)
			r.event(t.Context(), pawl.Event{Body: pawl.Delta{Reply: 7, Channel: pawl.ChannelText, Text: "the sec"}})
			r.event(t.Context(), pawl.Event{Body: pawl.Delta{Reply: 7, Channel: pawl.ChannelText, Offset: 7, Text: "ret is sec"}})
			if got := p.said[roleAgent]; got != "the *** is " {
				t.Errorf("shown %q", got)
			}
			r.event(t.Context(), pawl.Event{Seq: 8, Body: c.end})
			if got := p.said[roleAgent]; got != c.want {
				t.Errorf("shown %q, want %q", got, c.want)
			}
		})
	}
}

// TestStreamOtherwise checks that a reply that differs from what was streamed is shown
// again with a note, and that deltas of another reply are ignored.
func TestStreamOtherwise(t *testing.T) {
	t.Parallel()
	p := &paper{}
	r := replyRenderer(t, p, unmasked)
	r.event(t.Context(), pawl.Event{Body: pawl.Delta{Reply: 2, Channel: pawl.ChannelText, Text: "not mine"}})
	r.event(t.Context(), pawl.Event{Body: pawl.Delta{Reply: 7, Channel: pawl.ChannelText, Text: "one"}})
	r.event(t.Context(), pawl.Event{Seq: 8, Body: pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "two"}}}})
	if p.said[roleAgent] != "onetwo" || strings.Count(p.said[roleThought], "pawl: ") != 1 {
		t.Errorf("shown %v", p.said)
	}
}
