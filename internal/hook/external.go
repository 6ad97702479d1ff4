package hook

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

const (
	defaultTimeout = 60 * time.Second
	maxTimeout     = 10 * time.Minute
	maxOutput      = 64 << 10 // bytes that are read of each output of a command
)

// MaxStopBlocks is how often in a row commands can continue a turn.
const MaxStopBlocks = 8

// Layer says where a configuration comes from.
type Layer string

// The layers. Any other value counts as the project's.
const (
	LayerProject Layer = "project"
	LayerUser    Layer = "user"
	LayerManaged Layer = "managed"
)

// rank orders layers. Commands of a stronger layer run later: they see what
// weaker ones have changed and have the last word.
func (l Layer) rank() int {
	switch l {
	case LayerManaged:
		return 2
	case LayerUser:
		return 1
	default:
		return 0
	}
}

// Origin is where a command was configured.
type Origin struct {
	File  string
	Layer Layer
}

// claude reports whether the file belongs to Claude Code: its commands use
// that program's names of tools and inputs.
func (o Origin) claude() bool {
	return slices.Contains(strings.Split(filepath.ToSlash(o.File), "/"), ".claude")
}

// External is a command that runs at a point.
type External struct {
	Point   Point
	Event   string   // the point as the file names it; the command gets the same name
	Matcher string   // tools, sources or triggers; "" and * mean all
	Command string   // a command line for sh, or
	Args    []string // a program and its arguments, without a shell

	Timeout        time.Duration // 0 means 60 seconds
	AllowOnTimeout bool          // on a timeout the call continues; otherwise it is refused

	// CanAllow makes an allow of the command answer a permission prompt. It is
	// ignored in the project's layer.
	CanAllow bool

	Origin Origin
}

// Runner runs commands: in a sandbox, or without one for the user's layer.
type Runner interface {
	// Run runs the command and returns its exit code, or -1 if a signal ended
	// it. When it returns, all processes of the command have ended. After ctx
	// ends, it returns within a second, with ctx's cause. An error means that
	// the command could not be run, or not to its end.
	Run(ctx context.Context, c Command) (code int, err error)
}

// Outside configures external commands. Without a Runner none run.
type Outside struct {
	Runner  Runner
	Trusted bool // the project is trusted: otherwise no command of its layer runs

	// Transcript returns the path of a session's log as a file, or ""; nil
	// means none.
	Transcript func(pawl.SessionID) string
}

// Hooks returns the commands as hooks, ordered by layer and then as given. It
// reports commands that it leaves out as faults.
func (out Outside) Hooks(list []External) (hooks []Hook, faults []Fault) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b External) int { return cmp.Compare(a.Origin.Layer.rank(), b.Origin.Layer.rank()) })
	var commands []*command
	for i, x := range list {
		c, why := out.command(x)
		if c == nil {
			faults = append(faults, Fault{Hook: x.title(), Text: why})
			continue
		}
		c.name = fmt.Sprintf("%s #%d", x.title(), i+1)
		if why != "" {
			faults = append(faults, Fault{Hook: c.name, Text: why})
		}
		commands = append(commands, c)
	}
	for i, c := range commands {
		hooks = append(hooks, Hook{
			Name:     c.name,
			Priority: PriorityOutside + i,
			Points:   []Point{c.Point},
			Match:    c.onlyOnce(commands[i+1:]),
			Run:      c.run,
		})
	}
	return hooks, faults
}

// command is a checked External.
type command struct {
	External
	name    string
	outside Outside
	matches matcher
}

// command checks an External. Without a command, why is the reason; with one,
// a warning.
func (out Outside) command(x External) (c *command, why string) {
	_, known := powers[x.Point]
	switch {
	case x.Origin.Layer.rank() == 0 && !out.Trusted:
		return nil, "not run: the project is not trusted (run `pawl trust`)"
	case out.Runner == nil:
		return nil, "not run: commands cannot be run here"
	case !known:
		return nil, fmt.Sprintf("not run: unknown event %q", x.Point)
	case x.Command == "" && (len(x.Args) == 0 || x.Args[0] == ""):
		return nil, "not run: the hook has no command"
	}
	x.Event = cmp.Or(x.Event, string(x.Point))
	if x.Timeout <= 0 {
		x.Timeout = defaultTimeout
	}
	x.Timeout = min(x.Timeout, maxTimeout)
	if x.Origin.Layer.rank() == 0 {
		x.CanAllow = false
	}
	matches, err := parseMatcher(x.Matcher)
	if err != nil {
		why = err.Error()
	}
	return &command{External: x, outside: out, matches: matches}, why
}

// onlyOnce returns the hook's Match: if the same command is configured again
// later, only that one runs.
func (c *command) onlyOnce(following []*command) func(Event) bool {
	var same []*command
	for _, l := range following {
		if l.Command == c.Command && slices.Equal(l.Args, c.Args) && l.Point == c.Point && l.Origin.claude() == c.Origin.claude() {
			same = append(same, l)
		}
	}
	return func(e Event) bool {
		return c.concerns(e) && !slices.ContainsFunc(same, func(l *command) bool { return l.concerns(e) })
	}
}

// concerns reports whether the command runs for the event.
func (c *command) concerns(e Event) bool {
	names := subjects(e)
	return names == nil || c.matches(names)
}

// title identifies a command for people: its event and where it is configured.
func (x External) title() string {
	return sanitize.Line(cmp.Or(x.Event, string(x.Point)) + " in " + cmp.Or(x.Origin.File, "the "+string(x.Origin.Layer)+" configuration"))
}
