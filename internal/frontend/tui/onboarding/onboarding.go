// Package onboarding is what a person sees before their first prompt: whether they
// trust the directory, and how to come by a model.
package onboarding

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// Options say what is known before.
type Options struct {
	Chosen bool // a model is named already
	// Help says how to come by a model and what was found so far; nil means a text
	// that knows nothing of this machine.
	Help func(context.Context) (string, error)
	// Save keeps the choice for the next time; nil means that it holds until pawl ends.
	Save func(model, mode string) error
}

// Chosen is what the person chose to work with.
type Chosen struct{ Model, Mode string }

// Begin looks at the directory, and opens what the person is to see first.
func Begin(s *ui.Shared, o Options) tea.Cmd {
	return func() tea.Msg {
		folder, err := s.Service.Look(s.Context, s.Dir)
		if err != nil && !errors.Is(err, pawl.ErrUnavailable) { // a service without a project is no failure
			return ui.Failed{Err: err}
		}
		var open []tea.Cmd
		if !o.Chosen && folder.Model == "" {
			open = append(open, ui.Send(ui.Open{Dialog: newWelcome(s, o, find(s, o, folder))}))
		}
		if brings(folder) { // above: the directory is asked about first
			open = append(open, ui.Send(ui.Open{Dialog: dialog.NewTrust(s, folder)}))
		}
		if len(open) == 0 {
			return nil
		}
		return tea.Sequence(open...)()
	}
}

// brings reports whether a directory would enable something and is not trusted.
func brings(f pawl.Project) bool { return f.Trust.State != "trusted" && len(f.Trust.Parts) > 0 }

// AskTrust asks about the directory again, whenever the person wants.
func AskTrust(s *ui.Shared) tea.Cmd {
	return func() tea.Msg {
		folder, err := s.Service.Look(s.Context, s.Dir)
		switch {
		case err != nil:
			return ui.Failed{Err: err}
		case len(folder.Trust.Parts) == 0:
			return ui.Notice{Text: "this folder brings nothing that needs trust"}
		case !brings(folder):
			return ui.Notice{Text: "this folder is trusted as it is now; 'pawl trust --revoke' takes it back"}
		default:
			return ui.Open{Dialog: dialog.NewTrust(s, folder)}
		}
	}
}

// found is what there is to choose from.
type found struct {
	models []pawl.ModelInfo
	folder pawl.Project
	help   string // how to come by a model
	err    error  // why the models are not known
}

// foundMsg is found, looked for again.
type foundMsg struct{ found found }

// noHelp is what is said where nothing is known of the machine that works.
const noHelp = `Pawl needs a model: a provider's key, or a model on your machine.

  export ANTHROPIC_API_KEY=…    or OPENAI_API_KEY, GEMINI_API_KEY, …
  pawl auth login anthropic     asks for the key and keeps it

Then begin again with pawl --model sonnet; 'pawl models' lists all models.`

// find looks for models. It takes time, and is not for Update.
func find(s *ui.Shared, o Options, folder pawl.Project) found {
	f := found{folder: folder, help: noHelp}
	f.models, f.err = s.Service.Models(s.Context)
	if errors.Is(f.err, pawl.ErrUnavailable) {
		f.err = nil
	}
	if len(f.models) > 0 || o.Help == nil {
		return f
	}
	help, err := o.Help(s.Context)
	if err != nil {
		f.err = errors.Join(f.err, err)
		return f
	}
	f.help = help
	return f
}
