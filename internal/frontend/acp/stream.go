package acp

import (
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
)

// replyStream shows a reply while it is streamed, and in the end the complete reply:
// no text is shown twice, and missed deltas are shown with the complete reply.
type replyStream struct {
	reply    pawl.Seq // Seq of its ReplyStarted
	show     func(role role, text string)
	mask     Mask
	channels map[pawl.Channel]*channel
}

// channel is one of the texts of a reply.
type channel struct {
	read    int // bytes of the model's text so far, without a gap
	shown   strings.Builder
	partial string // first bytes of an incomplete character
	add     func(text string)
}

func newReplyStream(reply pawl.Seq, mask Mask, show func(role role, text string)) *replyStream {
	return &replyStream{reply: reply, show: show, mask: mask, channels: map[pawl.Channel]*channel{}}
}

func (s *replyStream) channel(name pawl.Channel) *channel {
	c := s.channels[name]
	if c == nil {
		c = &channel{}
		c.add = s.mask(func(text string) { s.showPiece(name, c, text) })
		s.channels[name] = c
	}
	return c
}

// delta adds a piece. After a gap it ignores the rest: end shows it.
func (s *replyStream) delta(d pawl.Delta) {
	if d.Reply != s.reply {
		return
	}
	c := s.channel(d.Channel)
	if d.Offset > c.read || d.Offset+len(d.Text) <= c.read {
		return
	}
	text := d.Text[c.read-d.Offset:]
	c.read += len(text)
	c.add(text)
}

// showPiece shows text up to its last complete character.
func (s *replyStream) showPiece(name pawl.Channel, c *channel, text string) {
	text = c.partial + text
	end := completeRunes(text)
	text, c.partial = text[:end], text[end:]
	if text != "" {
		c.shown.WriteString(text)
		s.show(roles[name], text)
	}
}

// completeRunes returns the length of the text without an incomplete last character.
func completeRunes(text string) int {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if utf8.FullRuneInString(text[i:]) {
				return len(text)
			}
			return i
		}
	}
	return len(text)
}

var roles = map[pawl.Channel]role{pawl.ChannelText: roleAgent, pawl.ChannelReasoning: roleThought}

// end shows the rest of the complete reply. If the text shown differs from it, the
// reply is shown again.
func (s *replyStream) end(parts pawl.Parts, note func(string)) {
	shown := map[pawl.Channel]int{}
	texts := map[pawl.Channel]string{pawl.ChannelText: parts.Text(), pawl.ChannelReasoning: reasoning(parts)}
	for name, c := range s.channels {
		had := c.shown.String()
		switch {
		case strings.HasPrefix(texts[name], had):
			shown[name] = len(had)
		case name == pawl.ChannelText:
			note("The reply differs from what was streamed. The complete reply:")
		}
	}
	at := map[pawl.Channel]int{}
	for _, p := range parts {
		name, text := pawl.ChannelText, ""
		switch p := p.(type) {
		case pawl.Text:
			text = p.Text
		case pawl.Reasoning:
			name, text = pawl.ChannelReasoning, p.Text
		default: // no text
		}
		from := min(max(shown[name]-at[name], 0), len(text))
		at[name] += len(text)
		if text[from:] != "" {
			s.show(roles[name], text[from:])
		}
	}
}

func reasoning(parts pawl.Parts) string {
	var b strings.Builder
	for _, p := range parts {
		if r, ok := p.(pawl.Reasoning); ok {
			b.WriteString(r.Text)
		}
	}
	return b.String()
}
