package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// firstPrompt is a prompt to send at the start: after the onboarding, and when the configured session
// is open.
type firstPrompt struct {
	text      string
	onboarded bool
}

// onboardedMsg reports that the dialogs of the onboarding are open, if there are any.
type onboardedMsg struct{}

// firstPromptMsg asks to send the first prompt if nothing stands in the way.
type firstPromptMsg struct{}

// afterOnboarding returns cmd followed by an onboardedMsg, if there is a first prompt.
func (a *app) afterOnboarding(cmd tea.Cmd) tea.Cmd {
	if a.first.text == "" {
		return cmd
	}
	return tea.Sequence(cmd, ui.Send(onboardedMsg{}))
}

// beforeFirstPrompt returns cmd followed by a firstPromptMsg, if the first prompt waits.
func (a *app) beforeFirstPrompt(cmd tea.Cmd) tea.Cmd {
	if a.first.text == "" {
		return cmd
	}
	return tea.Sequence(cmd, ui.Send(firstPromptMsg{}))
}

// sendFirstPrompt sends the first prompt, unless a dialog is open or the session is not. If the user
// has typed something already, the prompt is not sent.
func (a *app) sendFirstPrompt() tea.Cmd {
	opening := a.session.ID != "" && a.feed == nil
	if a.first.text == "" || !a.first.onboarded || opening || len(a.dialogs) > 0 {
		return nil
	}
	text := a.first.text
	a.first.text = ""
	if !a.editor.Empty() {
		return ui.Send(ui.Notice{Text: "The prompt of the command line was not sent, because the composer is not empty"})
	}
	a.editor.SetText(text)
	return a.editor.Submit()
}
