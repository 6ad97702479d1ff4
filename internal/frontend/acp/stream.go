package acp

import (
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
)

// stream shows a reply while it grows, and in the end exactly the reply: what was
// shown of each channel before is never shown twice, and what was missed comes
// with the whole.
type replyStream struct {
	reply    pawl.Seq // its ReplyStarted
	show     func(role role, text string)
	mask     Mask
	channels map[pawl.Channel]*channel
}

// channel is one of a reply's growing texts.
type channel struct {
	read    int             // bytes of what the model wrote, from its beginning without a gap
	shown   strings.Builder // what was shown
	partial string          // the beginning of a character whose end has not come
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

// delta adds a piece. One that was missed leaves a gap: the reply's end fills it.
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

// showPiece shows a text up to its last whole character.
func (s *replyStream) showPiece(name pawl.Channel, c *channel, text string) {
	text = c.partial + text
	end := completeRunes(text)
	text, c.partial = text[:end], text[end:]
	if text != "" {
		c.shown.WriteString(text)
		s.show(roles[name], text)
	}
}

// whole is where the last character that is complete ends.
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

// end shows what is left of the whole reply. A channel that was shown as
// something else is shown anew.
func (s *replyStream) end(parts pawl.Parts, note func(string)) {
	shown := map[pawl.Channel]int{}
	texts := map[pawl.Channel]string{pawl.ChannelText: parts.Text(), pawl.ChannelReasoning: reasoning(parts)}
	for name, c := range s.channels {
		had := c.shown.String()
		switch {
		case strings.HasPrefix(texts[name], had):
			shown[name] = len(had)
		case name == pawl.ChannelText:
			note("What was shown of this reply does not hold. It is:")
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
		default: // no words
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
