package root

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/app/inventory"
	"github.com/pawl-dev/pawl/internal/cli"
	configcmd "github.com/pawl-dev/pawl/internal/cli/config"
	"github.com/pawl-dev/pawl/internal/cli/turn"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/model/script"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/store/backend"
	"github.com/pawl-dev/pawl/internal/tool"
)

// values returns what the shell can complete, each perhaps with a tab and a description. It is fast,
// uses no network and returns nothing after an error.
type values func(ctx context.Context) []string

// completeTime is the most that a completion takes.
const completeTime = 2 * time.Second

// maxCompleted is how many sessions are completed.
const maxCompleted = 100

// flagValues maps flags to their values, in every command that has them.
var flagValues = map[string]values{
	"model": modelNames, "worker-model": modelNames, "reviewer": modelNames,
	"agent": agentNames, "mode": fixed(turn.Modes...), "session": sessionNames, "theme": themeNames, "tools": toolNames,
	"provider": modelProviders, "if-busy": fixed("reject", "queue", "steer"), "attach": fixed("unix"),
}

// argValues maps commands to the values of their first argument or, if all is set, of every one.
var argValues = map[string]struct {
	values values
	all    bool
}{
	"extensions list": {fixed(inventory.Kinds...), false},
	"agents show":     {agentNames, false}, "agents prompt": {agentNames, false},
	"skills show": {skillNames, false}, "skills remove": {skillNames, false}, "skills update": {skillNames, true},
	"resume": {sessionNames, true}, "session delete": {sessionNames, true},
	"session show": {sessionNames, false}, "session undo": {sessionNames, false}, "session redo": {sessionNames, false},
	"session rewind": {sessionNames, false}, "session fork": {sessionNames, false}, "session queue": {sessionNames, false},
	"session compact": {sessionNames, false}, "session shell": {sessionNames, false}, "session rename": {sessionNames, false},
	"session export": {sessionNames, false},
	"mission status": {missionNames, false}, "mission show": {missionNames, false}, "mission report": {missionNames, false},
	"mission verify": {missionNames, false}, "mission diff": {missionNames, false}, "mission pr": {missionNames, false}, "mission merge": {missionNames, false},
	"mission resume": {missionNames, false}, "mission stop": {missionNames, false},
	"mission plan": {missionNames, false}, "mission approve": {missionNames, false}, "mission pause": {missionNames, false},
	"auth login": {providerNames, false}, "auth logout": {providerNames, false}, "auth test": {providerNames, false},
	"mcp remove": {serverNames, false}, "mcp enable": {serverNames, false}, "mcp disable": {serverNames, false},
	"mcp login": {serverNames, false}, "mcp logout": {serverNames, false},
	"mcp test": {serverNames, true}, "mcp tools": {serverNames, true}, "mcp prompts": {serverNames, true}, "mcp resources": {serverNames, true},
}

// addCompletions makes the shell complete values of flags and arguments of cmd and the commands below
// it. Arguments and flags that are not listed complete as before.
func addCompletions(cmd *cobra.Command) {
	for name, v := range flagValues {
		if cmd.Flags().Lookup(name) == nil {
			continue
		}
		if err := cmd.RegisterFlagCompletionFunc(name, v.complete); err != nil {
			panic(err) // it was registered before
		}
	}
	path := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	if v, ok := argValues[path]; ok {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 && !v.all {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return v.values.complete(cmd, args, typed)
		}
	}
	for _, c := range cmd.Commands() {
		addCompletions(c)
	}
}

// complete returns the values that begin with what was typed, and are not given yet. The last item of
// a list with commas is completed.
func (v values) complete(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	before := typed[:strings.LastIndex(typed, ",")+1]
	var list []string
	for _, value := range v(ctx) {
		name, _, _ := strings.Cut(value, "\t")
		if !slices.Contains(args, name) && strings.HasPrefix(strings.ToLower(before+name), strings.ToLower(typed)) {
			list = append(list, before+value)
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// fixed returns values that never change.
func fixed(list ...string) values { return func(context.Context) []string { return list } }

func modelNames(context.Context) []string {
	c, err := app.OpenCatalog()
	if err != nil {
		return nil
	}
	names := []string{script.DemoRef + "\tscripted demonstration, no key needed"}
	for _, alias := range catalog.Aliases() {
		if m, err := c.Lookup(alias); err == nil {
			names = append(names, alias+"\t"+m.Name)
		}
	}
	for _, m := range c.Models {
		names = append(names, m.Ref+"\t"+m.Name)
	}
	return names
}

// modelProviders returns the providers of models.
func modelProviders(context.Context) []string {
	c, err := app.OpenCatalog()
	if err != nil {
		return nil
	}
	var names []string
	for _, p := range c.Providers {
		names = append(names, p.ID+"\t"+p.Name)
	}
	return names
}

// providerNames returns the providers that take a key.
func providerNames(ctx context.Context) []string {
	names := modelProviders(ctx)
	for _, p := range app.SearchProviders() {
		names = append(names, p.ID+"\t"+p.Name)
	}
	return names
}

// agentNames returns the agents that can be used in the working directory.
func agentNames(ctx context.Context) []string {
	names := agent.Offered()
	found, err := app.ExtensionsHere(ctx, false)
	if err != nil {
		return names
	}
	for _, a := range found.Agents.Agents {
		if !a.Hidden {
			names = append(names, a.Name+"\t"+humanize.FirstLine(a.Description, 60))
		}
	}
	return names
}

func skillNames(ctx context.Context) []string {
	found, err := app.ExtensionsHere(ctx, false)
	if err != nil {
		return nil
	}
	var names []string
	for _, k := range found.Skills.Skills {
		names = append(names, k.Name+"\t"+humanize.FirstLine(k.Description, 60))
	}
	return names
}

func themeNames(context.Context) []string {
	names := []string{theme.Auto}
	for _, t := range theme.Builtin {
		names = append(names, t.Name)
	}
	own, err := configcmd.UserThemes()
	if err != nil {
		return names
	}
	for _, t := range own {
		names = append(names, t.Name)
	}
	return names
}

func toolNames(context.Context) []string {
	r, err := tool.Builtin(tool.Config{})
	if err != nil {
		return nil
	}
	return r.Names()
}

// serverNames returns the MCP servers of the working directory.
func serverNames(ctx context.Context) []string {
	guard, err := policy.Open()
	if err != nil {
		return nil
	}
	dir, err := app.WorkingDir()
	if err != nil {
		return nil
	}
	servers, _, err := app.MCPServersOf(ctx, guard, dir, false)
	if err != nil {
		return nil
	}
	var names []string
	for _, s := range servers {
		names = append(names, s.Name)
	}
	return names
}

// sessionNames returns the sessions of the working directory.
func sessionNames(ctx context.Context) []string {
	return storedSessions(ctx, pawl.Filter{}, "newest session of this directory")
}

// missionNames returns the missions of the working directory.
func missionNames(ctx context.Context) []string {
	return storedSessions(ctx, pawl.Filter{Missions: true}, "newest mission of this directory")
}

// storedSessions returns the sessions in an SQLite store, without opening anything else.
func storedSessions(ctx context.Context, f pawl.Filter, last string) []string {
	ref, err := config.Store()
	if err != nil || strings.Contains(ref, "://") {
		return nil
	}
	if _, err := os.Stat(strings.TrimPrefix(ref, "sqlite:")); err != nil {
		return nil // opening the store would create it
	}
	if f.Dir, err = os.Getwd(); err != nil {
		return nil
	}
	st, err := backend.Open(ctx, ref)
	if err != nil {
		return nil
	}
	defer st.Close()
	f.Limit = maxCompleted
	page, err := st.Sessions(ctx, f)
	if err != nil || len(page.Sessions) == 0 {
		return nil
	}
	names := []string{cli.Last + "\t" + last}
	short := cli.ShortIDs(page.Sessions)
	for _, s := range page.Sessions {
		names = append(names, short(s.ID)+"\t"+humanize.FirstLine(s.Name(), 60))
	}
	return names
}
