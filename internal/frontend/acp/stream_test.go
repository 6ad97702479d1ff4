package acp

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
)

// spoken joins what was shown, by who said it.
type spoken map[role]string

func (s spoken) add(role role, text string) { s[role] += text }

func unmasked(show func(string)) func(string) { return show }

// TestStreamEndsWhole: whatever pieces a reply comes in, in the middle of
// characters too, and whatever is lost of them or comes twice, in the end each
// channel was shown exactly once.
func TestStreamEndsWhole(t *testing.T) {
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
		shown := spoken{}
		s := newReplyStream(7, unmasked, shown.add)
		at := map[pawl.Channel]int{}
		for _, p := range parts {
			name, text := pawl.ChannelText, ""
			switch p := p.(type) {
			case pawl.Text:
				text = p.Text
			case pawl.Reasoning:
				name, text = pawl.ChannelReasoning, p.Text
			default:
			}
			for len(text) > 0 {
				n := rapid.IntRange(1, len(text)).Draw(t, "piece")
				for range rapid.SampledFrom([]int{1, 1, 1, 1, 2, 0}).Draw(t, "times") {
					s.delta(pawl.Delta{Reply: 7, Channel: name, Offset: at[name], Text: text[:n]})
				}
				at[name] += n
				text = text[n:]
			}
		}
		for role, text := range shown {
			if strings.ToValidUTF8(text, "?") != text {
				t.Fatalf("half a character was shown by %d: %q", role, text)
			}
		}
		s.end(parts, func(note string) { t.Fatalf("note: %s", note) })
		want := spoken{roleAgent: parts.Text(), roleThought: reasoning(parts)}
		for role := range want {
			if diff := cmp.Diff(want[role], shown[role]); diff != "" {
				t.Fatalf("said and shown by %d:\n%s", role, diff)
			}
		}
	})
}

// TestStreamHoldsBack: what a mask holds back comes with the end, once.
func TestStreamHoldsBack(t *testing.T) {
	t.Parallel()
	shown := spoken{}
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
	s := newReplyStream(1, mask, shown.add)
	s.delta(pawl.Delta{Reply: 1, Channel: pawl.ChannelText, Text: "the sec"})
	s.delta(pawl.Delta{Reply: 1, Channel: pawl.ChannelText, Offset: 7, Text: "ret is sec"})
	if got := shown[roleAgent]; got != "the *** is " {
		t.Errorf("shown %q", got)
	}
	s.end(pawl.Parts{pawl.Text{Text: "the *** is ***"}}, func(note string) { t.Errorf("note: %s", note) })
	if got := shown[roleAgent]; got != "the *** is ***" {
		t.Errorf("shown %q", got)
	}
}

// TestStreamOtherwise: a reply that is not what was shown is shown anew, and that
// is said; deltas of another reply are none of this one.
func TestStreamOtherwise(t *testing.T) {
	t.Parallel()
	shown := spoken{}
	s := newReplyStream(1, unmasked, shown.add)
	s.delta(pawl.Delta{Reply: 2, Channel: pawl.ChannelText, Text: "not mine"})
	s.delta(pawl.Delta{Reply: 1, Channel: pawl.ChannelText, Text: "one"})
	notes := 0
	s.end(pawl.Parts{pawl.Text{Text: "two"}}, func(string) { notes++ })
	if shown[roleAgent] != "onetwo" || notes != 1 {
		t.Errorf("shown %q, %d notes", shown[roleAgent], notes)
	}
}
