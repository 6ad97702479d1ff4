package app

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/extension/definition"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/security/egress"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/websearch"
)

// newTools returns the built-in tools, with the configured search services.
func newTools(c tool.Config) (*tool.Registry, error) {
	user, err := LoadUser()
	if err != nil {
		return nil, err
	}
	keys, err := OpenKeys()
	if err != nil {
		return nil, err
	}
	c.Web = &egress.Guard{}
	services := websearch.Opener{Guard: c.Web, Keys: keys}
	if c.WebSearch, err = services.Web(websearch.Config(user.WebSearch)); err != nil {
		return nil, err
	}
	if c.CodeSearch, err = services.Code(websearch.Config(user.CodeSearch)); err != nil {
		return nil, err
	}
	return tool.Builtin(c)
}

// checkSettings returns an error if a turn in dir cannot run with the settings s.
func checkSettings(ctx context.Context, models Models, loop *agent.Config, dir string, s pawl.Settings) error {
	if _, err := agent.Lookup(s.Agent); errors.Is(err, pawl.ErrNotFound) {
		found, err := loop.Extensions(ctx, dir, s)
		if err != nil {
			return err
		}
		if _, err := agent.Find(s.Agent, found); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	for _, name := range s.Tools {
		if _, ok := loop.Tools.Tool(name); !ok && !definition.OfServers(name) { // a server may not be up yet
			return fault.New(pawl.ErrInvalid, "unknown tool %q: use one of %s", name, strings.Join(loop.Tools.Names(), ", "))
		}
	}
	if s.Effort != "" && !slices.Contains(catalog.Efforts, s.Effort) {
		return fault.New(pawl.ErrInvalid, "unknown effort %q: use %s", s.Effort, humanize.Join(catalog.Efforts, "or"))
	}
	return models.Check(ctx, s.Model)
}
