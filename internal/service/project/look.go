package project

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/security/trust"
)

// The limits of Look.
const (
	maxNotes = 100 // notes
	builtIn  = "built-in"
)

// Look returns what sessions in a directory can use: agents, commands, skills, MCP servers, modes, and the
// trust state of the project.
func (d *Local) Look(ctx context.Context, dir string) (pawl.Project, error) {
	spelled := dir // as sessions have it, which identifies servers
	dir, err := realDir(dir)
	if err != nil {
		return pawl.Project{}, fmt.Errorf("look: %w", err)
	}
	f := pawl.Project{Agents: []pawl.AgentInfo{}, Commands: []pawl.CommandInfo{}, Skills: []pawl.SkillInfo{}, Servers: []pawl.ServerInfo{}, Notes: []string{}}
	d.Safety.LookAgain() // show the current state, not a cached one
	if err := d.describeTrust(ctx, dir, &f); err != nil {
		return pawl.Project{}, fmt.Errorf("look: %w", err)
	}
	if err := d.describeModes(ctx, dir, &f); err != nil {
		return pawl.Project{}, fmt.Errorf("look: %w", err)
	}
	backend, _ := sandbox.Detect(ctx)
	f.Sandbox = backend.Name()
	found := d.Places.Look(ctx, dir)
	f.Dir, f.Top, f.Branch = found.Dir, found.Top, found.Branch
	describe(found, &f)
	if d.Servers != nil {
		servers, faults := d.Servers.Status(ctx, spelled)
		f.Servers = append(f.Servers, servers...)
		f.Commands = append(f.Commands, d.Servers.Commands(spelled)...)
		f.Notes = append(f.Notes, faults...)
	}
	f.Notes = bounded(f.Notes)
	return f, context.Cause(ctx)
}

// describeTrust adds what trusting the directory would enable. A directory that cannot be read is not
// trusted, and a note says so.
func (d *Local) describeTrust(ctx context.Context, dir string, f *pawl.Project) error {
	f.Trust = pawl.TrustInfo{State: string(trust.Unknown), Parts: []string{}}
	seen, err := d.Safety.LookAt(ctx, dir)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		f.Notes = append(f.Notes, fmt.Sprintf("the project configuration is not used: %v", err))
		return nil
	}
	f.Trust.State, f.Trust.Hash = string(seen.State), seen.Hash
	for _, p := range seen.Parts {
		f.Trust.Parts = append(f.Trust.Parts, fmt.Sprintf("%s %s: %s", p.Kind, trust.Quote(p.Path), trust.Quote(p.Does)))
	}
	if d.Safety.Trusted(dir) { // the user may trust it for this run only
		f.Trust.State = string(trust.Trusted)
	}
	_, ignored, _ := d.Safety.Project(ctx, dir, false) // its faults are reported with the policy
	for _, i := range ignored {
		f.Notes = append(f.Notes, fmt.Sprintf("project configuration: %s is ignored: %s", i.Key, i.Why))
	}
	return nil
}

// describeModes adds the default model and mode. If the host's policy or the directory's configuration
// allows no work at all, a note says so.
func (d *Local) describeModes(ctx context.Context, dir string, f *pawl.Project) error {
	user, err := d.Safety.User()
	if err != nil {
		return err
	}
	f.Model = user.Model
	modes, err := d.Safety.Modes()
	if err != nil {
		return err
	}
	for _, m := range modes {
		f.Modes = append(f.Modes, string(m))
	}
	policy, err := d.Safety.Policy(ctx, "", dir, pawl.Settings{})
	if err != nil {
		f.Notes = append(f.Notes, fmt.Sprintf("sessions cannot run here: %v", err))
		return nil
	}
	f.Mode = string(policy.Mode)
	return nil
}

// builtInDescriptions describes the built-in agents.
var builtInDescriptions = map[string]string{
	"build": "Works on tasks: edits files and runs commands.",
	"plan":  "Explores and plans. Changes nothing until you approve the plan.",

	"explore": "Searches the project and answers questions about it. Changes nothing.",
	"general": "Works on a part of a task by itself.",
}

// describe adds the agents, commands and skills that were found.
func describe(found *extension.Found, f *pawl.Project) {
	for _, name := range agent.Offered() {
		mode := "primary"
		if def, err := agent.Lookup(name); err == nil && def.Subagent {
			mode = "subagent"
		}
		f.Agents = append(f.Agents, pawl.AgentInfo{Name: name, Description: builtInDescriptions[name], Origin: builtIn, Mode: mode, Native: true})
	}
	for _, a := range found.Agents.Agents {
		f.Agents = append(f.Agents, pawl.AgentInfo{
			Name: a.Name, Description: a.Description, Origin: string(a.Origin.Layer), Mode: a.Mode, Hidden: a.Hidden, Color: sanitize.Line(a.Color), Model: a.Model,
		})
	}
	for _, c := range found.Commands.Commands {
		f.Commands = append(f.Commands, pawl.CommandInfo{Name: c.Name, Description: c.Description, Arguments: c.Hint, Origin: string(c.Origin.Layer)})
	}
	for _, s := range found.Skills.Skills {
		f.Skills = append(f.Skills, pawl.SkillInfo{Name: s.Name, Description: s.Description, Origin: string(s.Origin.Layer)})
	}
	for _, fault := range found.Faults() {
		f.Notes = append(f.Notes, fmt.Sprintf("%s: %s", fault.File, fault.Text))
	}
}

// bounded returns the notes sanitized for display, at most maxNotes.
func bounded(notes []string) []string {
	if more := len(notes) - maxNotes; more > 0 {
		notes = append(slices.Clone(notes[:maxNotes]), fmt.Sprintf("and %d more: run `pawl doctor` to see all", more))
	}
	for i, note := range notes {
		notes[i] = sanitize.Line(note)
	}
	return notes
}

// Trust trusts the configuration of a project, as Look has shown it: hash must match.
func (d *Local) Trust(ctx context.Context, dir, hash string) error {
	real, err := realDir(dir)
	if err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	if hash == "" {
		return fault.New(pawl.ErrInvalid, "trust: the hash of the project configuration is missing")
	}
	seen, err := d.Safety.LookAt(ctx, real)
	if err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	if seen.Hash != hash {
		return fault.New(pawl.ErrConflict, "the project configuration of %s has changed since it was shown: review it again", trust.Quote(real))
	}
	return d.Safety.TrustAs(ctx, dir, seen, d.Clock())
}
