package inventory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/tool/lsp"
)

// absPath returns the absolute path of a file that may be relative to the directory.
func (v *collector) absPath(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(v.dir, file)
}

// programItem returns the item for a program that sessions start.
func (v *collector) programItem(kind, name, source, file string, used bool) Item {
	i := Item{Kind: kind, Name: name, Source: source, File: v.absPath(file), Active: used}
	if !used {
		i.Reason, i.Fix = v.distrust(v.dir)
	}
	return i
}

// servers adds the MCP servers without starting any. 'pawl doctor' reports files that cannot be
// read.
func (v *collector) servers(ctx context.Context) {
	found, faults, _ := app.MCPServersOf(ctx, v.guard, v.dir, false)
	all, _, _ := app.MCPServersOf(ctx, v.trusted, v.dir, true)
	for _, f := range faults {
		v.Faults = append(v.Faults, Fault{MCP, f})
	}
	for _, s := range all {
		source := string(config.LayerUser)
		if s.Project {
			source = string(config.LayerProject)
		}
		used := slices.ContainsFunc(found, func(f app.MCPServer) bool { return f.Name == s.Name && f.File == s.File })
		i := v.programItem(MCP, s.Name, source, s.File, used)
		if s.Disabled {
			i.Active, i.Reason, i.Fix = false, "disabled", ""
		}
		v.Items = append(v.Items, i)
	}
}

// languages adds the installed language servers and those that the user has configured, without
// starting any.
func (v *collector) languages() {
	user, err := v.guard.User()
	var table []lsp.Spec
	if err == nil {
		table, err = app.LanguageServers(user)
	}
	if err != nil {
		return // 'pawl doctor' reports the error
	}
	installed := lsp.Look(table, v.dir, os.Getenv("PATH"))
	for _, s := range installed {
		source := BuiltIn
		if _, mine := user.LSP[s.Name]; mine {
			source = string(config.LayerUser)
		}
		v.Items = append(v.Items, v.programItem(LSP, s.Name, source, s.Path, v.guard.Trusted(v.dir)))
	}
	for _, name := range slices.Sorted(maps.Keys(user.LSP)) {
		i := Item{Kind: LSP, Name: name, Source: string(config.LayerUser), Reason: "not installed"}
		if user.LSP[name].Disabled {
			i.Reason = "disabled"
		}
		if !slices.ContainsFunc(installed, func(s lsp.Installed) bool { return s.Name == name }) {
			v.Items = append(v.Items, i)
		}
	}
}

// Hook has the details of a hook.
type Hook struct {
	Points   []hook.Point `json:"points"`
	Priority int          `json:"priority"` // lower runs first
	Event    string       `json:"event,omitempty"`
	Matcher  string       `json:"matcher,omitempty"`
	Command  string       `json:"command,omitempty"`
	Args     []string     `json:"args,omitempty"`
	CanAllow bool         `json:"may_allow,omitempty"`
}

// hooks adds the built-in hooks and the configured commands without running any. 'pawl doctor'
// reports files that cannot be read.
func (v *collector) hooks(ctx context.Context) {
	v.guard.Builtins = app.BuiltinHooks()
	for _, h := range v.guard.OwnHooks() {
		v.addHook(Item{Name: h.Name, Source: BuiltIn, Active: true}, Hook{Points: h.Points, Priority: h.Priority})
	}
	found, faults, _ := v.guard.HookCommands(ctx, v.dir, pawl.Settings{})
	all, _, _ := v.trusted.HookCommands(ctx, v.dir, pawl.Settings{Trusted: true})
	for _, f := range faults {
		v.Faults = append(v.Faults, Fault{Hooks, f.String()})
	}
	for n, x := range all {
		used := slices.ContainsFunc(found, func(f hook.External) bool { return f.Origin == x.Origin && hookName(f) == hookName(x) })
		v.addHook(v.programItem(Hooks, hookName(x), string(x.Origin.Layer), x.Origin.File, used), Hook{
			Points: []hook.Point{x.Point}, Priority: hook.PriorityOutside + n, Event: x.Event, Matcher: x.Matcher, Command: x.Command, Args: x.Args, CanAllow: x.CanAllow,
		})
	}
}

func (v *collector) addHook(i Item, h Hook) {
	var points []string
	for _, p := range h.Points {
		points = append(points, string(p))
	}
	i.Kind, i.Hook = Hooks, &h
	i.Description = fmt.Sprintf("%s, priority %d", strings.Join(points, ", "), h.Priority)
	v.Items = append(v.Items, i)
}

// hookName returns the event, the matcher and the command of a hook.
func hookName(x hook.External) string {
	return strings.TrimSpace(x.Event+" "+x.Matcher) + ": " + HookLine(x.Command, x.Args)
}

// HookLine returns the command of a hook as one string.
func HookLine(command string, args []string) string {
	return cmp.Or(command, strings.Join(args, " "))
}
