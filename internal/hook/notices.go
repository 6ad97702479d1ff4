package hook

import (
	"context"
	"fmt"
)

// Notice is a message for the user about hooks.
type Notice struct {
	Point   Point
	Warning bool // something failed or was refused
	Text    string
}

// AgentUI runs hooks like its Registry and shows notices about the outcomes.
type AgentUI struct {
	Registry *Registry
	Show     func(Notice)
}

// Run runs the hooks of an event and shows the notices.
func (ui AgentUI) Run(ctx context.Context, e Event) (Outcome, error) {
	o, err := ui.Registry.Run(ctx, e)
	if err != nil {
		return o, err // canceled: whoever did it knows
	}
	for _, n := range Notices(e, o) {
		ui.Show(n)
	}
	return o, nil
}

// Notices returns the messages for the user about an outcome.
func Notices(e Event, o Outcome) []Notice {
	var list []Notice
	add := func(warning bool, text string) { list = append(list, Notice{e.Point, warning, text}) }
	for _, text := range o.Messages {
		add(false, text)
	}
	for _, fault := range o.Faults {
		add(true, fault.String())
	}
	switch {
	case e.Point == ChatMessage && !e.Steers: // the end of the turn reports it
	case o.Stop:
		add(true, fmt.Sprintf("hook %s ended the turn: %s", o.By, o.StopReason))
	case o.Block && e.Point == ChatMessage:
		add(true, fmt.Sprintf("hook %s blocked the prompt: %s", o.By, o.Reason))
	case o.Block:
		add(true, fmt.Sprintf("hook %s blocked %s: %s", o.By, e.Tool, o.Reason))
	}
	if o.Input != nil && !o.Block {
		add(false, "hooks changed the input of "+e.Tool)
	}
	if o.Continue {
		add(false, "hooks continue the turn: "+o.Injection)
	}
	return list
}
