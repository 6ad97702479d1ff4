package doctor

import (
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
func (v *inventory) absPath(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(v.dir, file)
}

// programItem returns the item for a program that sessions start.
func (v *inventory) programItem(name, origin, file string, used bool) item {
	i := item{Name: name, Origin: origin, File: v.absPath(file), InEffect: used}
	if !used {
		i.Why, i.Fix = v.distrust(v.dir)
	}
	return i
}

// servers lists the MCP servers without starting any. checkConfig and checkTrust report files that
// cannot be read.
func (v *inventory) servers(ctx context.Context) itemGroup {
	g := itemGroup{Kind: "mcp", Items: []item{}}
	found, faults, _ := app.MCPServersOf(ctx, v.guard, v.dir, false)
	all, _, _ := app.MCPServersOf(ctx, v.trusted, v.dir, true)
	g.Faults = faults
	for _, s := range all {
		origin := string(config.LayerUser)
		if s.Project {
			origin = string(config.LayerProject)
		}
		used := slices.ContainsFunc(found, func(f app.MCPServer) bool { return f.Name == s.Name && f.File == s.File })
		i := v.programItem(s.Name, origin, s.File, used)
		if s.Disabled {
			i.InEffect, i.Why, i.Fix = false, "it is turned off there", ""
		}
		g.Items = append(g.Items, i)
	}
	return g
}

// languages lists the installed language servers and those that the user has configured, without
// starting any.
func (v *inventory) languages() itemGroup {
	g := itemGroup{Kind: "lsp", Items: []item{}}
	user, err := v.guard.User()
	var table []lsp.Spec
	if err == nil {
		table, err = app.LanguageServers(user)
	}
	if err != nil {
		return g // checkConfig reports the error
	}
	installed := lsp.Look(table, v.dir, os.Getenv("PATH"))
	for _, s := range installed {
		origin := builtIn
		if _, mine := user.LSP[s.Name]; mine {
			origin = string(config.LayerUser)
		}
		g.Items = append(g.Items, v.programItem(s.Name, origin, s.Path, v.guard.Trusted(v.dir)))
	}
	for _, name := range slices.Sorted(maps.Keys(user.LSP)) {
		i := item{Name: name, Origin: string(config.LayerUser), Why: "its program is not installed"}
		if user.LSP[name].Disabled {
			i.Why = "it is turned off in your configuration"
		}
		if !slices.ContainsFunc(installed, func(s lsp.Installed) bool { return s.Name == name }) {
			g.Items = append(g.Items, i)
		}
	}
	return g
}

// hooks lists the built-in hooks and the configured commands without running any. checkConfig and
// checkTrust report files that cannot be read.
func (v *inventory) hooks(ctx context.Context) itemGroup {
	g := itemGroup{Kind: "hooks", Items: []item{}}
	for _, h := range (hook.Builtins{Activity: &hook.Activity{}}).Hooks() {
		g.Items = append(g.Items, item{Name: h.Name, Origin: builtIn, InEffect: true})
	}
	found, faults, _ := v.guard.HookCommands(ctx, v.dir, pawl.Settings{})
	all, _, _ := v.trusted.HookCommands(ctx, v.dir, pawl.Settings{Trusted: true})
	for _, f := range faults {
		g.Faults = append(g.Faults, f.String())
	}
	for _, x := range all {
		used := slices.ContainsFunc(found, func(f hook.External) bool { return f.Origin == x.Origin && hookName(f) == hookName(x) })
		g.Items = append(g.Items, v.programItem(hookName(x), string(x.Origin.Layer), x.Origin.File, used))
	}
	return g
}

// hookName returns the event, the matcher and the command of a hook.
func hookName(x hook.External) string {
	when := strings.TrimSpace(x.Event + " " + x.Matcher)
	if len(x.Args) > 0 {
		return fmt.Sprintf("%s: %s", when, strings.Join(x.Args, " "))
	}
	return fmt.Sprintf("%s: %s", when, x.Command)
}
