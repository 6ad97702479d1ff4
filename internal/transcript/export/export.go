// Package export writes a session as Markdown or as one HTML page for people, and as
// JSON lines for another pawl to import.
//
// The parts of the conversation that were undone are not shown, except in JSON lines.
//
// The contents of a session come from models, tools and files, and an export is opened
// with other programs than pawl. So no text in it can imitate a part of the document
// or become active.
package export

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// Document is a session to export.
type Document struct {
	Session pawl.Session
	Events  iter.Seq2[pawl.Event, error] // its log
}

// Limits of what is shown, in bytes.
const (
	maxSaid   = 1 << 20 // of a message
	maxDetail = 20_000  // of a call's input, a result, a diff or reasoning
	maxImage  = 2 << 20 // of an image
	maxImages = 20 << 20
)

// writer writes a document in one of the formats.
type writer interface {
	begin(h header) error
	block(b block) error
	end() error
}

// header is what precedes the conversation.
type header struct {
	Title     string
	Facts     []fact
	Summary   string
	Subagents []string
}

// fact is a line about the session.
type fact struct{ Label, Value string }

// kind says how a block is shown.
type kind int

const (
	turnBlock kind = iota // a heading
	sayBlock              // a message
	foldBlock             // details, folded
	noteBlock             // a line about an event
)

// block is a piece of the document. Only its Label is pawl's own text; everything else
// is untrusted.
type block struct {
	Kind   kind
	Label  string
	Mark   string
	Name   string // one line
	Who    string // of a message: you, pawl, system
	Failed bool
	Text   excerpt
	Parts  []part
	Files  []file
}

// part is a labeled text of a folded block.
type part struct {
	Label, Name string
	Lang        string // json, diff or ""
	Text        excerpt
}

// excerpt is a sanitized text, perhaps truncated.
type excerpt struct {
	Text string
	Left int // bytes that are omitted
}

// file is an attachment.
type file struct {
	Name string
	Size int
	pawl.File
}

// write writes a document.
func write(w writer, d Document) error {
	h, t := header{}, transcript.New()
	for e, err := range d.Events {
		if err != nil {
			return err
		}
		h.add(e)
		t.Apply(e)
	}
	h.describe(d.Session)
	if err := w.begin(h); err != nil {
		return err
	}
	turn := 0
	for _, it := range t.Items() {
		if it.Turn > turn {
			turn = it.Turn
			if err := w.block(block{Kind: turnBlock, Label: fmt.Sprintf("Turn %d", turn), Mark: stamp(it.At)}); err != nil {
				return err
			}
		}
		for _, b := range blocks(it) {
			if err := w.block(b); err != nil {
				return err
			}
		}
	}
	return w.end()
}

// add adds what an event says about the session.
func (h *header) add(e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.SessionCreated:
		if b.Forked != nil {
			h.Facts = append(h.Facts, fact{"Forked from", fmt.Sprintf("%s, before event %d", line(string(b.Forked.Session), 100), b.Forked.At)})
		}
	case pawl.SessionSummarized:
		h.Summary = line(b.Summary, 2000)
	case pawl.Spawned, pawl.TaskStarted, pawl.ReviewStarted:
		c, _ := e.Subagent()
		h.Subagents = append(h.Subagents, line(fmt.Sprintf("%s %s: %s", c.Subagent, c.Agent, c.Title), 300))
	default: // an item
	}
}

// describe adds the title of the session and the facts about it.
func (h *header) describe(s pawl.Session) {
	h.Title = line(s.Name(), 200)
	if h.Title == "" {
		h.Title = line(string(s.ID), 100)
	}
	facts := []fact{
		{"Session", line(string(s.ID), 100)}, {"Directory", line(s.Dir, 1000)}, {"Model", line(s.Model, 300)},
		{"Created", stamp(s.Created)}, {"Updated", stamp(s.Updated)}, {"State", string(s.State())},
		{"Turns", fmt.Sprint(s.Turns)}, {"Usage", used(s.Usage)},
	}
	if s.Owner != "" {
		facts = append(facts, fact{"Owner", line(string(s.Owner), 100)})
	}
	if s.Parent != "" {
		facts = append(facts, fact{"Subagent of", line(string(s.Parent), 100)})
	}
	h.Facts = slices.DeleteFunc(append(facts, h.Facts...), func(f fact) bool { return f.Value == "" })
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// used formats the usage of model calls.
func used(u pawl.Usage) string {
	text := fmt.Sprintf("%d tokens in, %d out", u.Input, u.Output)
	if cached := u.CacheRead + u.CacheWrite; cached > 0 {
		text += fmt.Sprintf(", %d cached", cached)
	}
	return text + fmt.Sprintf(", $%.4f", u.Cost.Dollars())
}

// line returns a text as one line of at most n characters.
func line(s string, n int) string {
	s = sanitize.Line(strings.Join(strings.Fields(s), " "))
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return s
}

// cut sanitizes and truncates a text.
func cut(s string, n int) excerpt {
	left := 0
	if len(s) > n {
		end := n
		for end > n-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		s, left = s[:end], len(s)-end
	}
	return excerpt{strings.TrimRight(shown(s), "\n"), left}
}

// leftOut says how much of a text is omitted, or returns "".
func (e excerpt) leftOut() string {
	if e.Left == 0 {
		return ""
	}
	return fmt.Sprintf("%d more bytes omitted", e.Left)
}
