package agent

import (
	"context"
	"fmt"

	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/service/access"
)

// projectConfig is the project's configuration for the open turn. It is read when this
// process first works on the turn and kept until the turn ends: a file that changes in
// the meantime must not change what the provider has cached. A process that resumes the
// turn reads it again, and sends the same prompt if nothing has changed.
type projectConfig struct {
	turn    int
	found   *extension.Found // nil without Config.Extensions
	claimed map[string]bool  // rule files that calls of this step show to the model; guarded by journal.mu
}

// loadProject reads the project's configuration, once per turn. Between turns, that of the
// last turn stays in effect.
func (s *Stepper) loadProject(ctx context.Context, j *journal) error {
	turn := j.history.Turns()
	j.project.claimed = map[string]bool{}
	if s.Extensions == nil || j.project.found != nil && j.project.turn == turn {
		return nil
	}
	settings := j.settings()
	settings.Trusted = settings.Trusted && access.Authorize(j.history.Created().Dir, settings, j.actors()...) == nil
	found, err := s.Extensions(ctx, j.history.Created().Dir, settings)
	if err != nil {
		return fmt.Errorf("read the project configuration: %w", err)
	}
	j.project = projectConfig{turn: turn, found: found, claimed: map[string]bool{}}
	return nil
}

// agent returns the agent of that name in the open turn.
func (j *journal) agent(name string) (Definition, error) { return Find(name, j.project.found) }
