// Package onboarding shows the dialogs before the first prompt: trusting the project,
// and choosing a model and a mode.
package onboarding

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// Options configures the onboarding.
type Options struct {
	Chosen bool // a model is configured
	// Help returns instructions for getting a model, and what was found; nil means a
	// generic text.
	Help func(context.Context) (string, error)
	// Save stores the choice in the user's configuration; nil keeps it for this
	// process only.
	Save func(model, mode string) error
}

// Chosen reports the user's choice.
type Chosen struct{ Model, Mode string }

// Begin loads the project, and opens the first dialog.
func Begin(s *ui.Shared, o Options) tea.Cmd {
	return func() tea.Msg {
		folder, err := s.Service.Look(s.Context, s.Dir)
		if err != nil && !errors.Is(err, pawl.ErrUnavailable) { // a service without projects is not an error
			return ui.Failed{Err: err}
		}
		var open []tea.Cmd
		if !o.Chosen && folder.Model == "" {
			open = append(open, ui.Send(ui.Open{Dialog: newWelcome(s, o, find(s, o, folder))}))
		}
		if brings(folder) { // on top: trust comes first
			open = append(open, ui.Send(ui.Open{Dialog: dialog.NewTrust(s, folder)}))
		}
		if len(open) == 0 {
			return nil
		}
		return tea.Sequence(open...)()
	}
}

// brings reports whether a project has configuration that is not trusted.
func brings(f pawl.Project) bool { return f.Trust.State != "trusted" && len(f.Trust.Parts) > 0 }

// AskTrust opens the trust dialog on request.
func AskTrust(s *ui.Shared) tea.Cmd {
	return func() tea.Msg {
		folder, err := s.Service.Look(s.Context, s.Dir)
		switch {
		case err != nil:
			return ui.Failed{Err: err}
		case len(folder.Trust.Parts) == 0:
			return ui.Notice{Text: "This project has no configuration that needs trust"}
		case !brings(folder):
			return ui.Notice{Text: "This project is trusted. Run `pawl trust --revoke` to distrust it."}
		default:
			return ui.Open{Dialog: dialog.NewTrust(s, folder)}
		}
	}
}

// found is what can be chosen.
type found struct {
	models []pawl.ModelInfo
	folder pawl.Project
	help   string // how to get a model
	err    error  // why the models are unknown
}

// foundMsg is the result of another search.
type foundMsg struct{ found found }

// noHelp is used if Options.Help is nil.
const noHelp = "Pawl needs a model: an API key of a provider, or a local model.\n\n" +
	"  export ANTHROPIC_API_KEY=…    or OPENAI_API_KEY, GEMINI_API_KEY, …\n" +
	"  pawl auth login anthropic     prompts for the key and stores it\n\n" +
	"Then run `pawl --model sonnet`. Run `pawl models` to list all models."

// find looks for models. It may block.
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
