// Package history stores the prompt history across sessions.
package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl/internal/config/userfile"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
)

// Store stores prompts. Its methods may block.
type Store interface {
	// Load returns the prompts, oldest first.
	Load() ([]Entry, error)
	// Add appends a prompt.
	Add(e Entry) error
}

// Entry is a prompt as typed and pasted pieces, so that a pasted name does not become
// a command when the prompt is used again.
type Entry []textinput.Piece

// Text returns the whole text.
func (e Entry) Text() string {
	var b bytes.Buffer
	for _, p := range e {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Limits of the history.
const (
	maxEntries = 1000
	maxEntry   = 32 << 10 // bytes of a prompt; longer ones are not stored
	maxFile    = 4 << 20
)

// File stores the history in a file of the user, one JSON line per prompt.
type File struct{ Path string }

var _ Store = File{}

// Load reads the file. It skips invalid lines.
func (f File) Load() ([]Entry, error) {
	data, err := userfile.Read(f.Path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("read the prompt history: %w", err)
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

// Add appends a prompt and removes the oldest beyond the limit. A repeated prompt is
// moved to the end. It is safe for concurrent use by several processes.
func (f File) Add(e Entry) error {
	if n := len(e.Text()); n == 0 || n > maxEntry {
		return nil
	}
	unlock, err := userfile.Lock(f.Path)
	if err != nil {
		return fmt.Errorf("write the prompt history: %w", err)
	}
	defer unlock()
	entries, err := f.Load()
	if err != nil {
		return err
	}
	if err := userfile.ReplaceText(f.Path, encode(Append(entries, e))); err != nil {
		return fmt.Errorf("write the prompt history: %w", err)
	}
	return nil
}

// Append appends a prompt as a store does.
func Append(entries []Entry, e Entry) []Entry {
	words := e.Text()
	entries = slices.DeleteFunc(slices.Clone(entries), func(o Entry) bool { return o.Text() == words })
	entries = append(entries, e)
	return entries[max(0, len(entries)-maxEntries):]
}

// encode returns the newest prompts that fit.
func encode(entries []Entry) []byte {
	var lines [][]byte
	size := 0
	for _, e := range slices.Backward(entries) {
		line, err := json.Marshal(e)
		if err != nil {
			continue // cannot happen: strings only
		}
		if size += len(line) + 1; size > maxFile {
			break
		}
		lines = append(lines, append(line, '\n'))
	}
	slices.Reverse(lines)
	return bytes.Join(lines, nil)
}
