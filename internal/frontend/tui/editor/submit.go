package editor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/completion"
	"github.com/pawl-dev/pawl/internal/frontend/tui/editor/history"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// Submit is a prompt to send.
type Submit struct {
	Number   int // counts from 1 over all submissions: messages may overtake each other
	Pieces   []textinput.Piece
	Files    []*Attachment
	Delivery pawl.Delivery // if a turn is running
	Reword   pawl.Seq      // the waiting prompt to change; 0 means a new one
	Kept     pawl.Parts    // parts of that prompt to keep
}

// Shell is a shell command that the user wants to run.
type Shell struct {
	Number  int // as in Submit
	Command string
}

// SendFailed returns a prompt that could not be sent.
type SendFailed struct {
	Submit Submit
	Err    error
}

// Submit sends the text as Enter does.
func (e *Editor) Submit() tea.Cmd { return e.submit(pawl.DeliverSteer) }

// submit sends the prompt, or runs it if it is a command.
func (e *Editor) submit(d pawl.Delivery) tea.Cmd {
	b := e.draft.text
	for _, f := range e.draft.files {
		if !f.shown {
			return nil // a file that was not shown is not sent
		}
	}
	if strings.TrimSpace(b.String()) == "" && len(e.draft.files) == 0 {
		return nil
	}
	switch {
	case b.StartsWith("!"):
		return e.shell()
	case b.StartsWith("/"):
		if cmd, done := e.slash(); done {
			return cmd
		}
	}
	for _, r := range b.Mentions() { // a path that was pasted behind a typed @ counts as typed
		b.Put(r, b.Slice(r.From, r.To))
	}
	e.number++
	s := Submit{Number: e.number, Pieces: b.Pieces(), Files: e.draft.files, Delivery: d, Reword: e.draft.reword, Kept: e.draft.kept}
	return tea.Batch(e.sent(), ui.Send(s))
}

// sent clears the editor and adds the prompt to the history.
func (e *Editor) sent() tea.Cmd {
	entry := history.Entry(e.draft.text.Pieces())
	before := e.draft.saved
	e.draft = newDraft()
	if before != nil {
		e.draft.text.Set(before)
	}
	e.complete.Close()
	e.top = 0
	return e.recall.add(entry)
}

// shell runs the command after "!". A folded paste must be expanded first, so that the
// user sees all of it.
func (e *Editor) shell() tea.Cmd {
	b := e.draft.text
	command := strings.TrimSpace(b.String()[1:])
	switch {
	case len(b.Folds()) > 0:
		return ui.Send(ui.Failed{Err: fault.New(pawl.ErrInvalid, "a command must be fully visible").Hint("Press tab after [pasted …] to expand it.")})
	case command == "":
		return nil
	}
	e.number++
	return tea.Batch(e.sent(), ui.Send(Shell{e.number, command}))
}

// slash runs the slash command that the text begins with. It returns false if the text
// is to be sent: a command of the project, or no command.
func (e *Editor) slash() (tea.Cmd, bool) {
	pieces := e.draft.text.Pieces()
	name, _, ok := completion.Parse(pieces[0].Text)
	if !ok {
		return nil, false
	}
	if _, ok := completion.Find(name); ok {
		arguments := strings.TrimSpace(strings.TrimPrefix(e.draft.text.String(), "/"+name))
		return tea.Batch(e.sent(), e.run(completion.Run{Name: name, Arguments: arguments})), true
	}
	folder, looked := e.complete.Project()
	if looked && !completion.Known(name, folder) {
		return ui.Send(ui.Failed{Err: completion.Unknown(name, folder)}), true
	}
	return nil, false
}

// sendFailed restores a prompt that could not be sent, unless something else was
// typed; then it is in the history.
func (e *Editor) sendFailed(m SendFailed) tea.Cmd {
	if e.draft.empty() {
		e.draft.text.Set(m.Submit.Pieces)
		e.draft.files = m.Submit.Files
	}
	return ui.Send(ui.Failed{Err: m.Err})
}

// Prompt expands commands and mentions, and reads the attachments. It may block. Notes
// are for the user.
func (s Submit) Prompt(ctx context.Context, projects pawl.Projects, dir string, settings pawl.Settings) (p pawl.Prompt, notes []string, err error) {
	text, pasted := mask(s.Pieces)
	p = pawl.Prompt{Delivery: s.Delivery, Settings: settings}
	if strings.TrimSpace(text) != "" {
		p.Parts = pawl.Parts{pawl.Text{Text: strings.TrimRight(text, " \t\n")}}
		expanded, more, err := projects.Expand(ctx, dir, p)
		switch {
		case err == nil:
			p, notes = expanded, more
		case !errors.Is(err, pawl.ErrUnavailable):
			return p, nil, err
		}
	}
	p.Parts = slices.Clone(p.Parts)
	for i, part := range p.Parts {
		if t, ok := part.(pawl.Text); ok {
			p.Parts[i] = pawl.Text{Text: pasted.Replace(t.Text)}
		}
	}
	for _, f := range s.Files {
		file, err := f.read()
		if err != nil {
			return p, nil, err
		}
		p.Parts = append(p.Parts, file)
	}
	p.Parts = append(p.Parts, s.Kept...)
	return p, notes, nil
}

// mask replaces pastes by unguessable markers, so that nothing in them is expanded;
// the replacer restores them. Characters that may precede a mention are left at the
// end of a paste.
func mask(pieces []textinput.Piece) (string, *strings.Replacer) {
	var text strings.Builder
	var pairs []string
	nonce := rand.Text()
	for i, p := range pieces {
		literal := strings.TrimRight(p.Text, " \t\n([{\"'")
		if (!p.Pasted && !p.Folded) || literal == "" {
			text.WriteString(p.Text)
			continue
		}
		mark := fmt.Sprintf("[pasted:%s:%d]", nonce, i)
		pairs = append(pairs, mark, literal)
		text.WriteString(mark + p.Text[len(literal):])
	}
	return text.String(), strings.NewReplacer(pairs...)
}
