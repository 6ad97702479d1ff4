package editor

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/frontend/tui/editor/history"
	"github.com/pawl-dev/pawl/internal/frontend/tui/picker"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// recallID is the ID of the history picker.
const recallID = "prompts"

// recall navigates the prompt history.
type recall struct {
	store   history.Store
	entries []history.Entry   // oldest first
	offset  int               // how many prompts back the shown one is
	current []textinput.Piece // the draft from before
}

// loadedMsg is the stored history.
type loadedMsg struct {
	entries []history.Entry
	err     error
}

func (r *recall) load() tea.Cmd {
	if r.store == nil {
		return nil
	}
	store := r.store
	return func() tea.Msg {
		entries, err := store.Load()
		return loadedMsg{entries, err}
	}
}

// loaded puts the stored history before this run's prompts.
func (r *recall) loaded(m loadedMsg) tea.Cmd {
	if m.err != nil {
		return ui.Send(ui.Failed{Err: m.err})
	}
	now := r.entries
	r.entries = m.entries
	for _, e := range now {
		r.entries = history.Append(r.entries, e)
	}
	return nil
}

// add adds a sent prompt.
func (r *recall) add(e history.Entry) tea.Cmd {
	r.reset()
	if strings.TrimSpace(e.Text()) == "" {
		return nil
	}
	r.entries = history.Append(r.entries, e)
	if r.store == nil {
		return nil
	}
	store := r.store
	return ui.Run(func() error { return store.Add(e) })
}

// reset ends the navigation.
func (r *recall) reset() { r.offset, r.current = 0, nil }

// step shows an earlier or later prompt; after the latest comes the draft.
func (r *recall) step(by int, b *textinput.Buffer) {
	to := min(max(r.offset-by, 0), len(r.entries))
	if to == r.offset {
		return
	}
	if r.offset == 0 {
		r.current = b.Pieces()
	}
	if r.offset = to; to == 0 {
		b.Set(r.current)
		r.current = nil
		return
	}
	b.Set(r.entries[len(r.entries)-to])
	if by < 0 {
		b.Move(0, false) // the next key goes further back
	}
}

// search opens a picker with the history, newest first.
func (r *recall) search(s *ui.Shared) tea.Cmd {
	items := make([]picker.Item, 0, len(r.entries))
	for i, e := range slices.Backward(r.entries) {
		text := e.Text()
		first, rest, _ := strings.Cut(text, "\n")
		detail := ""
		if n := strings.Count(rest, "\n") + 1; rest != "" {
			detail = "+" + strconv.Itoa(n)
		}
		items = append(items, picker.Item{ID: strconv.Itoa(i), Title: first, Detail: detail, Preview: preview(text)})
	}
	return ui.Send(ui.Open{Dialog: picker.New(s, "Previous prompts", items, picker.Options{ID: recallID, Empty: "No prompts yet"})})
}

func preview(text string) func(width, height int) string {
	return func(width, height int) string {
		if most := width * height; len(text) > most*4 {
			text = text[:most*4]
		}
		return ansi.Wrap(strings.ReplaceAll(sanitize.Marked(text), "\t", "    "), width, "")
	}
}

// entry returns a prompt by its ID in the picker.
func (r *recall) entry(id string) (history.Entry, bool) {
	i, err := strconv.Atoi(id)
	if err != nil || i < 0 || i >= len(r.entries) {
		return nil, false
	}
	r.reset()
	return r.entries[i], true
}
