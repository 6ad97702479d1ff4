package mcpclient

import (
	"context"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// Offer is what a server offers, for display.
type Offer struct {
	Tools     []toolapi.Spec // with the names that the model uses and the full descriptions
	Prompts   []Prompt
	Resources []Resource
}

// Test starts a server once and returns its status.
func (s *Servers) Test(ctx context.Context, dir string, server Server) (Status, error) {
	status, _, err := s.Look(ctx, dir, server)
	return status, err
}

// Look is Test, and also returns what the server offers.
func (s *Servers) Look(ctx context.Context, dir string, server Server) (Status, Offer, error) {
	if err := server.Check(); err != nil {
		return Status{}, Offer{}, fault.New(pawl.ErrInvalid, "test MCP server %q: %w", short(server.Name, nameBytes), err)
	}
	l := newLink(s.config, dir, server)
	l.once = true
	go l.run()
	defer l.end()
	for {
		status, news := l.status()
		if status.State != Starting {
			return status, l.offer(), nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return status, Offer{}, context.Cause(ctx)
		}
	}
}

// offer returns what a ready server offers.
func (l *link) offer() Offer {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := Offer{Prompts: slices.Clone(l.prompts), Resources: slices.Clone(l.resources)}
	for _, t := range l.tools {
		o.Tools = append(o.Tools, toolapi.Spec{Name: t.public, Description: t.description, Schema: t.schema})
	}
	return o
}
