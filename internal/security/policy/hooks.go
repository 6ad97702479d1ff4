package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// claudeSettings is where a repository keeps hooks for Claude Code.
const claudeSettings = ".claude/settings.json"

// hookList collects the hooks of several configurations.
type hookList struct {
	commands []hook.External
	faults   []hook.Fault
}

// add adds the hooks of a configuration: a JSON object with the key hooks.
func (l *hookList) add(text json.RawMessage, origin hook.Origin) error {
	commands, faults, err := hook.ParseConfig(text, origin)
	if err != nil {
		return fault.New(pawl.ErrInvalid, "%w", err)
	}
	l.commands, l.faults = append(l.commands, commands...), append(l.faults, faults...)
	return nil
}

// addKey adds the hooks in the value of the key hooks.
func (l *hookList) addKey(value json.RawMessage, origin hook.Origin) error {
	if value == nil {
		return nil
	}
	text, err := json.Marshal(map[string]json.RawMessage{"hooks": value})
	if err != nil {
		return err
	}
	return l.add(text, origin)
}

// addProject adds the hooks of a trusted project, from its configurations for pawl
// and for Claude Code.
func (l *hookList) addProject(c config.Project, read func(name string) ([]byte, error)) error {
	if err := l.addKey(c.Hooks, hook.Origin{File: config.ProjectFile, Layer: hook.LayerProject}); err != nil {
		return err
	}
	text, err := read(claudeSettings)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, pawl.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", claudeSettings, err)
	}
	return l.add(text, hook.Origin{File: claudeSettings, Layer: hook.LayerProject})
}

// HookCommands returns the hook commands for sessions in a directory, and why others
// are left out. A project that is not trusted has none; if the administrator permits
// only managed hooks, only those are returned. After an error the hooks are unknown,
// so nothing may run that one of them might deny.
func (s *Safety) HookCommands(ctx context.Context, dir string, settings pawl.Settings) ([]hook.External, []hook.Fault, error) {
	policy, err := s.Managed()
	if err != nil {
		return nil, nil, err
	}
	managed, err := ManagedHooks(policy)
	if err != nil {
		return nil, nil, err
	}
	if policy.OnlyManaged {
		return managed, nil, nil
	}
	list, err := s.openHooks(ctx, dir, settings)
	return append(list.commands, managed...), list.faults, err
}

// openHooks are those of a trusted directory and the user's own.
func (s *Safety) openHooks(ctx context.Context, dir string, settings pawl.Settings) (hookList, error) {
	known, err := s.projects.of(ctx, s, dir, settings.Trusted)
	if err != nil {
		return hookList{}, err
	}
	user, err := s.User()
	if err != nil {
		return hookList{}, err
	}
	path, err := config.UserFile()
	if err != nil {
		return hookList{}, err
	}
	list := hookList{slices.Clone(known.hooks.commands), slices.Clone(known.hooks.faults)}
	return list, list.addKey(user.Hooks, hook.Origin{File: path, Layer: hook.LayerUser})
}

// Hooks returns the hooks for sessions in a directory as they are now.
func (s *Safety) Hooks(ctx context.Context, dir string, settings pawl.Settings) (*hook.Registry, []hook.Fault, error) {
	commands, faults, err := s.HookCommands(ctx, dir, settings)
	if err != nil {
		return nil, nil, err
	}
	// An untrusted project has no hooks among the commands.
	hooks, more := hook.Outside{Runner: hookRunner{s}, Trusted: true}.Hooks(commands)
	registry, err := hook.New(slices.Concat(hooks, s.OwnHooks())...)
	return registry, append(faults, more...), err
}

// OwnHooks returns pawl's own hooks, which run everywhere.
func (s *Safety) OwnHooks() []hook.Hook {
	own := s.Builtins
	own.Activity = &s.activity
	return own.Hooks()
}

// hookRunner runs the commands of hooks: the user's own and the administrator's
// as they are, those of a project in a sandbox, as commands of the model.
type hookRunner struct{ s *Safety }

var _ hook.Runner = hookRunner{}

// Run runs the command and kills the processes that it leaves behind.
func (r hookRunner) Run(ctx context.Context, c hook.Command) (code int, err error) {
	w, err := r.s.wrapHook(ctx, c)
	if err != nil {
		return -1, err
	}
	defer w.Close()
	p, err := proc.Start(proc.Command{
		Args: w.Args, Dir: c.Dir, Env: w.Env, Bare: true, Files: w.Files, Attr: w.Attr,
		Stdin: bytes.NewReader(c.Stdin), Output: c.Stdout, Stderr: c.Stderr,
	})
	if err != nil {
		return -1, err
	}
	select {
	case <-p.Done():
		p.Kill() // what it has left behind
	case <-ctx.Done():
		p.Kill()
		return -1, context.Cause(ctx)
	}
	exit, err := p.Wait()
	if err != nil {
		return -1, err
	}
	return exit.Code, applyHook(ctx, w)
}

// applyHook applies what the command of a hook has changed.
func applyHook(ctx context.Context, w sandbox.Wrapped) error {
	if w.Finish == nil {
		news, err := w.Check()
		if err == nil && len(news) > 0 {
			err = fmt.Errorf("the hook changed files that other programs read their configuration from: %s: review and revert them", strings.Join(news, ", "))
		}
		return err
	}
	out, err := w.Finish(ctx, nil)
	if err == nil && len(out.Refused) > 0 {
		r := out.Refused[0]
		err = fmt.Errorf("%d changes of the hook were not applied, such as %s: %s", len(out.Refused), r.Path, r.Reason)
	}
	return err
}

// wrapHook puts the command of a project's hook into a sandbox. Hooks of the user
// and the administrator run without one.
func (s *Safety) wrapHook(ctx context.Context, c hook.Command) (sandbox.Wrapped, error) {
	own := c.Origin.Layer == hook.LayerUser || c.Origin.Layer == hook.LayerManaged
	if own || c.Mode == string(permission.ModeYolo) {
		return sandbox.Unwrapped(c.Args, c.Env), nil
	}
	p, err := s.sessionProfile(ctx, c.Dir, nil, c.Session)
	if err != nil {
		return sandbox.Wrapped{}, err
	}
	p.Work, p.ReadOnly, p.Pass = c.Dir, c.Mode == string(permission.ModePlan), proc.Marks()
	for _, entry := range c.Env { // the rest is the sandbox's own
		if strings.HasPrefix(entry, "CLAUDE_") || strings.HasPrefix(entry, "PAWL_") {
			p.Env = append(p.Env, entry)
		}
	}
	if g, ok, err := s.guardsOf(c.Dir); err != nil {
		return sandbox.Wrapped{}, err
	} else if ok {
		p.Env = append(p.Env, baseVariable+"="+g.base())
		p.Readable = append(p.Readable, g.Checkout)
	}
	backend, _ := s.detect(ctx)
	wrap := func(p sandbox.Profile) (sandbox.Wrapped, error) {
		return s.withCaches(ctx, p, true, func(p sandbox.Profile) (sandbox.Wrapped, error) { return backend.Wrap(c.Args, p) })
	}
	if p.ReadOnly {
		return wrap(p)
	}
	w, _, err := s.withView(ctx, p, wrap)
	if err != nil {
		return w, fmt.Errorf("the project hook cannot run in the sandbox: %w", err)
	}
	return w, nil
}
