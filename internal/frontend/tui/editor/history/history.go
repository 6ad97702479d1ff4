// Package history keeps the prompts that were sent, across sessions.
package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/config/userfile"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
)

// Store keeps prompts. What it does may take time.
type Store interface {
	// Load returns the prompts, the oldest first.
	Load() ([]Entry, error)
	// Add keeps one more.
	Add(e Entry) error
}

// Entry is a prompt, by what was typed and what was pasted: a name that came with
// a paste does not become an order by being sent again.
type Entry []textinput.Piece

// Text is all of it.
func (e Entry) Text() string {
	var b bytes.Buffer
	for _, p := range e {
		b.WriteString(p.Text)
	}
	return b.String()
}

// The bounds of what is kept.
const (
	maxEntries = 1000
	maxEntry   = 32 << 10 // bytes of a prompt; a longer one is not kept
	maxFile    = 4 << 20
)

// File keeps prompts in a file of the user's own: a line of JSON for each.
type File struct{ Path string }

var _ Store = File{}

// Load reads the file. A line that is no prompt is passed over: it is lost anyway,
// and the others are not.
func (f File) Load() ([]Entry, error) {
	data, err := userfile.Read(f.Path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("earlier prompts: %w", err)
	}
	var entries []Entry
	for line := range bytes.Lines(data) {
		var e Entry
		if json.Unmarshal(line, &e) == nil && len(e) > 0 {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// Add writes one more, and leaves out the oldest beyond the bound. The same prompt
// is kept once, at its newest place. Two terminals may do so at once.
func (f File) Add(e Entry) error {
	if n := len(e.Text()); n == 0 || n > maxEntry {
		return nil
	}
	unlock, err := userfile.Lock(f.Path)
	if err != nil {
		return fmt.Errorf("keep the prompt: %w", err)
	}
	defer unlock()
	entries, err := f.Load()
	if err != nil {
		return err
	}
	if err := userfile.ReplaceText(f.Path, encode(Append(entries, e))); err != nil {
		return fmt.Errorf("keep the prompt: %w", err)
	}
	return nil
}

// Append adds a prompt to others as a store does.
func Append(entries []Entry, e Entry) []Entry {
	words := e.Text()
	entries = slices.DeleteFunc(slices.Clone(entries), func(o Entry) bool { return o.Text() == words })
	entries = append(entries, e)
	return entries[max(0, len(entries)-maxEntries):]
}

// encode writes the newest prompts that fit.
func encode(entries []Entry) []byte {
	var lines [][]byte
	size := 0
	for _, e := range slices.Backward(entries) {
		line, err := json.Marshal(e)
		if err != nil {
			continue // texts alone: it cannot be
		}
		if size += len(line) + 1; size > maxFile {
			break
		}
		lines = append(lines, append(line, '\n'))
	}
	slices.Reverse(lines)
	return bytes.Join(lines, nil)
}
