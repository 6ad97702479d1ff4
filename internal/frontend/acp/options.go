package acp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// The settings of a session that the user can choose in the editor.
const (
	optionMode   = "mode"
	optionModel  = "model"
	optionEffort = "effort"
	optionAgent  = "agent"
)

// modes are the permission modes that can be chosen.
var modes = []sessionMode{
	{"plan", "Plan", "Read and plan, change nothing"},
	{"ask", "Ask", "Ask before every change and command"},
	{"guard", "Guard", "Work in the sandbox, ask before leaving it"},
	{"auto", "Auto", "Work in the sandbox, deny everything outside it"},
	{"yolo", "Yolo", "Allow everything, without a sandbox"},
}

// state returns the options of a session and their values.
func (a *agent) state(ctx context.Context, s *session) (sessionResponse, error) {
	s.mu.Lock()
	settings, model := s.settings, cmp.Or(s.settings.Model, s.model, s.lastModel)
	s.mu.Unlock()
	mode, err := a.Mode(ctx, s.dir, settings)
	if err != nil {
		return sessionResponse{}, err
	}
	r := sessionResponse{Modes: modeState{CurrentModeID: mode}}
	option := configOption{ID: optionMode, Name: "Permission mode", Category: "mode", Type: "select", CurrentValue: mode}
	for _, m := range a.modes(mode) {
		r.Modes.AvailableModes = append(r.Modes.AvailableModes, m)
		option.Options = append(option.Options, configValue{m.ID, m.Name, m.Description})
	}
	r.ConfigOptions = append(r.ConfigOptions, option)
	r.ConfigOptions = append(r.ConfigOptions, a.modelOptions(ctx, model, settings.Effort)...)
	r.ConfigOptions = append(r.ConfigOptions, a.agentOption(ctx, s.dir, settings.Agent)...)
	return r, nil
}

// modes returns the modes that can be chosen, and the current one.
func (a *agent) modes(current string) []sessionMode {
	return slices.DeleteFunc(slices.Clone(modes), func(m sessionMode) bool {
		return m.ID == "yolo" && a.Settings.Mode != "yolo" && m.ID != current
	})
}

// defaultEffort is the model's own reasoning effort.
const defaultEffort = "default"

// modelOptions returns the models that can be chosen, and the efforts of the current one
// if it has some.
func (a *agent) modelOptions(ctx context.Context, model, effort string) []configOption {
	models, err := a.Service.Models(ctx)
	if err != nil {
		fmt.Fprintf(a.Log, "pawl: list the models: %v\n", err)
	}
	option := configOption{ID: optionModel, Name: "Model", Category: "model", Type: "select", CurrentValue: model}
	var efforts []string
	if i := slices.IndexFunc(models, func(m pawl.ModelInfo) bool { return m.Ref == model }); i >= 0 {
		efforts = models[i].Efforts
	} else {
		option.Options = []configValue{{Value: model, Name: model}}
	}
	for _, m := range models {
		option.Options = append(option.Options, configValue{m.Ref, m.Name, m.Provider})
	}
	if len(efforts) == 0 {
		return []configOption{option}
	}
	level := configOption{ID: optionEffort, Name: "Reasoning effort", Category: "thought_level", Type: "select", CurrentValue: defaultEffort}
	for _, e := range append([]string{defaultEffort}, efforts...) {
		level.Options = append(level.Options, configValue{Value: e, Name: strings.ToUpper(e[:1]) + e[1:]})
		if e == effort {
			level.CurrentValue = e
		}
	}
	return []configOption{option, level}
}

// agentOption returns the agents that can be chosen in a directory, or nothing if they
// are unknown.
func (a *agent) agentOption(ctx context.Context, dir, current string) []configOption {
	if a.Agents == nil {
		return nil
	}
	agents, err := a.Agents(ctx, dir)
	if err != nil {
		fmt.Fprintf(a.Log, "pawl: list the agents of %s: %v\n", dir, err)
		return nil
	}
	option := configOption{
		ID: optionAgent, Name: "Agent", Category: "_agent", Type: "select", CurrentValue: cmp.Or(current, defaultAgent),
		Meta: map[string]any{"pawl": map[string]any{"agents": agents}},
	}
	for _, g := range agents {
		if g.Offered() || g.Name == option.CurrentValue {
			option.Options = append(option.Options, configValue{g.Name, g.Name, g.Description})
		}
	}
	return []configOption{option}
}

// Agents that are built in.
const (
	defaultAgent = "build"
	planAgent    = "plan" // has its own mode
)

// setOption sets a setting of the next prompt. Whether a model or an effort exists is
// checked when the prompt is sent.
func (a *agent) setOption(ctx context.Context, s *session, id, value string) error {
	switch id {
	case optionMode:
		return a.setMode(s, value)
	case optionModel:
		s.set(func(c *pawl.Settings) { c.Model = value })
		return nil
	case optionEffort:
		if value == defaultEffort {
			value = ""
		}
		s.set(func(c *pawl.Settings) { c.Effort = value })
		return nil
	case optionAgent:
		return a.setAgent(ctx, s, value)
	default:
		return fault.New(pawl.ErrInvalid, "unknown option %q: use mode, model, effort or agent", id)
	}
}

func (a *agent) setMode(s *session, mode string) error {
	var ids []string
	for _, m := range a.modes("") {
		ids = append(ids, m.ID)
	}
	switch {
	case slices.Contains(ids, mode):
		s.set(func(c *pawl.Settings) { c.Mode = mode })
		return nil
	case mode == "yolo":
		return fault.New(pawl.ErrInvalid, "the mode yolo is not enabled").Hint("Start `pawl acp --mode yolo` to enable it.")
	default:
		return fault.New(pawl.ErrInvalid, "unknown mode %q: use %s", mode, humanize.Join(ids, "or"))
	}
}

func (a *agent) setAgent(ctx context.Context, s *session, name string) error {
	for _, option := range a.agentOption(ctx, s.dir, "") {
		if !slices.ContainsFunc(option.Options, func(v configValue) bool { return v.Value == name }) {
			return fault.New(pawl.ErrInvalid, "unknown agent %q", name)
		}
	}
	s.set(func(c *pawl.Settings) {
		c.Agent = name
		if name == planAgent {
			c.Mode = ""
		}
	})
	return nil
}

// lastMode returns the last mode that the user chose, or "" if none exists or it is
// not available here.
func (a *agent) lastMode(events []pawl.Event) string {
	mode := ""
	for _, e := range events {
		switch b := e.Body.(type) {
		case pawl.Prompted:
			mode = cmp.Or(b.Mode, mode)
		case pawl.ModeChanged:
			mode = b.Mode
		default: // no mode
		}
	}
	if !slices.ContainsFunc(a.modes(""), func(m sessionMode) bool { return m.ID == mode }) {
		return ""
	}
	return mode
}
