package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
)

// Command is what a [Runner] runs.
type Command struct {
	Args    []string
	Dir     string
	Env     []string // the whole environment
	Stdin   []byte
	Stdout  io.Writer // never blocks or fails
	Stderr  io.Writer
	Session pawl.SessionID
	Mode    string
	Origin  Origin // decides on the sandbox
}

// errTimeout is the cause when a command's time is over.
var errTimeout = errors.New("timeout")

// run is the hook's Run.
func (c *command) run(ctx context.Context, e Event) (Outcome, error) {
	list, err := c.toolCalls(e)
	if err != nil {
		return Outcome{}, err
	}
	all := fold{event: e}
	for _, t := range list {
		o, err := c.once(ctx, e, t)
		if err != nil {
			return Outcome{}, err
		}
		if o.Input != nil && len(list) > 1 {
			return Outcome{}, errors.New("the hook changes the input of one file of a patch: only a hook with the matcher apply_patch can change a patch")
		}
		if all.add(c.name, o); all.out.Block || all.out.Stop {
			break
		}
	}
	return all.out, nil
}

// once runs the command once and interprets its output.
func (c *command) once(ctx context.Context, e Event, t toolCall) (Outcome, error) {
	stdin, err := c.stdin(e, t)
	if err != nil {
		return Outcome{}, fmt.Errorf("encode event: %w", err)
	}
	timed, cancel := context.WithTimeoutCause(ctx, c.Timeout, errTimeout)
	defer cancel()
	stdout, stderr := &bounded{}, &bounded{}
	code, err := c.outside.Runner.Run(timed, Command{
		Args: c.args(e), Dir: e.Dir, Env: environment(e), Stdin: stdin, Stdout: stdout, Stderr: stderr,
		Session: e.Session, Mode: e.Mode, Origin: c.Origin,
	})
	switch {
	case ctx.Err() != nil:
		return Outcome{}, context.Cause(ctx)
	case err != nil && timed.Err() != nil:
		return c.late()
	case err != nil:
		return Outcome{}, fmt.Errorf("run the command: %w", err)
	}
	return c.read(e, t, answer{code: code, stdout: stdout, stderr: stderr})
}

// late handles a timeout. At tool.execute.before it is an error, which blocks
// the call, unless the configuration says otherwise.
func (c *command) late() (Outcome, error) {
	text := fmt.Sprintf("timed out after %s: make it faster, or raise its timeout", c.Timeout.Round(time.Millisecond))
	if c.AllowOnTimeout {
		return Outcome{Faults: []Fault{{Hook: c.name, Text: text}}}, nil
	}
	return Outcome{}, errors.New(text)
}

// args returns the arguments to run. A command line is passed to the shell as
// configured: texts of the model or the project reach a command only by its
// input and environment. In arguments without a shell, the project's directory
// is filled in.
func (c *command) args(e Event) []string {
	dir := strings.NewReplacer("${CLAUDE_PROJECT_DIR}", e.Dir, "$CLAUDE_PROJECT_DIR", e.Dir, "${PAWL_PROJECT_DIR}", e.Dir, "$PAWL_PROJECT_DIR", e.Dir)
	switch {
	case len(c.Args) == 0:
		return []string{"sh", "-c", c.Command}
	}
	args := slices.Clone(c.Args)
	for i, arg := range args {
		args[i] = dir.Replace(arg)
	}
	return args
}

// variables are the environment variables that commands inherit. None of them
// contains a key.
var variables = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TZ", "TMPDIR"}

func environment(e Event) []string {
	env := []string{"CLAUDE_PROJECT_DIR=" + e.Dir, "PAWL_PROJECT_DIR=" + e.Dir, "PAWL_SESSION_ID=" + string(e.Session)}
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); slices.Contains(variables, name) || strings.HasPrefix(name, "LC_") {
			env = append(env, entry)
		}
	}
	slices.Sort(env)
	return env
}

// bounded keeps the beginning of an output.
type bounded struct {
	mu   sync.Mutex
	text []byte
	more bool // there was more
}

// Write keeps what fits and never fails.
func (b *bounded) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(p), maxOutput-len(b.text))
	b.text = append(b.text, p[:n]...)
	b.more = b.more || n < len(p)
	return len(p), nil
}

func (b *bounded) get() (text string, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text), b.more
}
