// Package onboarding shows the dialogs before the first prompt: connecting to a model and trusting
// the project. /login and /logout use the same ones.
package onboarding

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// Options configures the onboarding.
type Options struct {
	Chosen   bool     // a model is configured
	Title    string   // of the list of sources; "" means "Log in"
	Accounts Accounts // nil means the models of the service
	// Save makes a model the user's default, unless one is configured, and reports whether it did. nil
	// saves nothing.
	Save func(model string) (saved bool, err error)
}

// Chosen reports the user's choice, with a text for the user.
type Chosen struct{ Model, Note string }

// Left reports that the user has left without a choice.
type Left struct{}

// Begin loads the project, and opens the first dialog.
func Begin(s *ui.Shared, o Options) tea.Cmd {
	return func() tea.Msg {
		folder, err := s.Service.Look(s.Context, s.Dir)
		if err != nil && !errors.Is(err, pawl.ErrUnavailable) { // a service without projects is not an error
			return ui.Failed{Err: err}
		}
		var open []tea.Cmd
		if !o.Chosen && folder.Model == "" {
			open = append(open, ui.Send(ui.Open{Dialog: New(s, o, "")}))
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

// serverModels offers the models of a service whose keys are out of reach.
type serverModels struct{ service pawl.Service }

var _ Accounts = serverModels{}

// errOfServer explains why there is no login.
var errOfServer = fault.New(pawl.ErrUnavailable, "the API keys are on the server").Hint("Run `pawl auth login` there.")

// Sources returns the models.
func (m serverModels) Sources(ctx context.Context) ([]Source, error) {
	models, err := m.service.Models(ctx)
	var sources []Source
	for _, info := range models {
		sources = append(sources, Source{Kind: Ready, Provider: info.Provider, Name: info.Ref, Detail: info.Provider, Model: info.Ref})
	}
	return sources, err
}

// Connect returns the model that was chosen.
func (serverModels) Connect(_ context.Context, l Login) (Connected, error) {
	return Connected{Models: []string{l.Model}}, nil
}

// Stored returns an error.
func (serverModels) Stored(context.Context) ([]Source, error) { return nil, errOfServer }

// Logout returns an error.
func (serverModels) Logout(context.Context, string) (string, error) { return "", errOfServer }
