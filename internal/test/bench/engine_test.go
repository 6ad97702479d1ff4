//go:build bench

package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/model/provider"
	"github.com/pawl-dev/pawl/internal/service"
	"github.com/pawl-dev/pawl/internal/service/local"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/backend"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/tool"
)

// engine is everything in this process, on a store of its own.
type engine struct {
	pawl.Service
	store  store.Store
	runner *local.Runner
	dir    string
}

func newEngine(ctx context.Context, dir, ref string) (*engine, error) {
	st, err := backend.Open(ctx, ref)
	if err != nil {
		return nil, err
	}
	tools, err := tool.Builtin(tool.Config{Blobs: st, Jobs: tool.NewJobs(st, tool.Unsandboxed{})})
	if err != nil {
		return nil, err
	}
	events := bus.New(st, bus.Config{})
	models := &provider.Opener{}
	runner := local.New(local.Config{Stepper: agent.NewStepper(agent.Config{Store: st, Bus: events, Model: models.Open, Tools: tools, Authority: &harness.Authority{}})})
	svc := service.New(service.Config{Store: st, Bus: events, Runner: runner, Check: func(context.Context, string, pawl.Settings) error { return nil }})
	return &engine{svc, st, runner, dir}, nil
}

func (e *engine) close() error {
	e.runner.Close()
	return e.store.Close()
}

// turn runs a script in a new session to its end.
func (e *engine) turn(ctx context.Context, script string) (pawl.Session, error) {
	s, err := e.Create(ctx, pawl.NewSession{Dir: e.dir})
	if err != nil {
		return s, err
	}
	if _, err := e.Send(ctx, s.ID, pawl.Prompt{
		Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: "script:" + script},
	}); err != nil {
		return s, err
	}
	for ev, err := range e.Events(ctx, s.ID, 0) {
		if err != nil {
			return s, err
		}
		switch b := ev.Body.(type) {
		case pawl.Status:
			return s, fmt.Errorf("session %s: %s", s.ID, b.Message)
		case pawl.TurnFinished:
			if b.Reason != pawl.ReasonEndTurn {
				return s, fmt.Errorf("session %s ended with %s %s", s.ID, b.Reason, b.Message)
			}
			return e.Get(ctx, s.ID)
		default: // not the end
		}
	}
	return s, ctx.Err()
}

// writeScript writes a script of steps that each make the given call, with STEP
// for its number: the same call again and again would be a loop.
func writeScript(dir string, steps int, call string) (string, error) {
	path := filepath.Join(dir, fmt.Sprintf("script%d.jsonl", steps))
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	for i := range steps - 1 {
		fmt.Fprintf(f, `{"text":"a step","calls":[%s],"usage":{"input":1,"output":1}}`+"\n", strings.ReplaceAll(call, "STEP", strconv.Itoa(i+1)))
	}
	fmt.Fprintln(f, `{"text":"done","usage":{"input":1,"output":1}}`)
	return path, f.Close()
}
