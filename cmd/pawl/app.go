package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/runner/local"
	"github.com/pawl-dev/pawl/internal/service"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/tool"
)

// app is everything, wired together in this process.
type app struct {
	pawl.Service
	runner *local.Runner
	store  pawl.Store
}

func openApp(ctx context.Context) (*app, error) {
	ref, err := config.Store()
	if err != nil {
		return nil, err
	}
	st, err := store.Open(ctx, ref)
	if err != nil {
		return nil, err
	}
	st = instrument(st)
	tools, err := tool.Builtin(st)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	events := bus.New(st, bus.Config{})
	models, err := newModels()
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	runner := local.New(local.Config{Stepper: agent.NewStepper(agent.Config{
		Store: st, Bus: events, Model: models.Open, Tools: tools,
	})})
	svc := service.New(service.Config{Store: st, Bus: events, Runner: runner, Check: func(s pawl.Settings) error {
		return checkSettings(models, s)
	}})
	return &app{Service: svc, runner: runner, store: st}, nil
}

// checkSettings refuses a prompt that could not be worked on.
func checkSettings(models *model.Opener, s pawl.Settings) error {
	if _, err := agent.Lookup(s.Agent); err != nil {
		return err
	}
	_, err := models.Open(s.Model)
	return err
}

// Close stops all work, leaving open turns to be resumed, and closes the store.
func (a *app) Close() error {
	a.runner.Close()
	return a.store.Close()
}

// session finds a session by its id, or the newest one of dir for "last".
func (a *app) session(ctx context.Context, name, dir string) (pawl.Session, error) {
	if name != "last" {
		s, err := a.Get(ctx, pawl.SessionID(name))
		if errors.Is(err, pawl.ErrNotFound) {
			return s, fmt.Errorf("there is no session %q: 'pawl session list' shows them: %w", name, err)
		}
		return s, err
	}
	list, err := a.List(ctx, pawl.Filter{Dir: dir, Limit: 1})
	if err != nil {
		return pawl.Session{}, err
	}
	if len(list) == 0 {
		return pawl.Session{}, fmt.Errorf("there is no session in %s yet: %w", dir, pawl.ErrNotFound)
	}
	return list[0], nil
}
