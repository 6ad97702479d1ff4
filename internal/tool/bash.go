package tool

import (
	"context"
	_ "embed" // the description
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

//go:embed bash.md
var bashDescription string

type bashInput struct {
	Command    string `json:"command" jsonschema:"the command line"`
	Timeout    int    `json:"timeout,omitempty" jsonschema:"seconds, 120 if left out, at most 600"`
	Workdir    string `json:"workdir,omitempty" jsonschema:"directory to run in"`
	Background bool   `json:"background,omitempty" jsonschema:"start a job: a server, a watcher"`

	Network     []string `json:"network,omitempty" jsonschema:"hosts it must reach"`
	Unsandboxed bool     `json:"unsandboxed,omitempty" jsonschema:"run without the sandbox; seldom permitted"`

	Description string `json:"description,omitempty" jsonschema:"its purpose, for people"`
}

const (
	// firstLook is how long bash watches a background job before it returns,
	// so that a command that fails at once is reported at once.
	firstLook = 200 * time.Millisecond
	// keepTime is how long bash may take to store the output of a canceled
	// command. It keeps a cancel below one second.
	keepTime = 250 * time.Millisecond
)

// Bash runs a command line in a new, non-interactive shell. A command that
// runs longer than its timeout becomes a background job.
func Bash(jobs *Jobs) toolapi.Tool {
	return define(definition[bashInput]{
		name:        "bash",
		description: bashDescription,
		risk:        toolapi.RiskDangerous,
		access: func(call toolapi.Call, in bashInput) ([]pawl.Access, error) {
			if strings.TrimSpace(in.Command) == "" {
				return nil, errors.New("command is empty")
			}
			if in.Timeout < 0 || in.Timeout > int(BashMaxTimeout.Seconds()) {
				return nil, fmt.Errorf("timeout must be between 0 and %.0f seconds", BashMaxTimeout.Seconds())
			}
			if _, err := in.dir(call); err != nil {
				return nil, err
			}
			access := []pawl.Access{{Kind: pawl.AccessExec, Target: in.Command}}
			if in.Unsandboxed {
				access = append(access, pawl.Access{Kind: pawl.AccessEscape, Target: in.Command})
			}
			for _, host := range in.Network {
				access = append(access, pawl.Access{Kind: pawl.AccessNet, Target: host})
			}
			return access, nil
		},
		onView: func(in bashInput) bool { return !in.Background && !in.Unsandboxed && len(in.Network) == 0 },
		run:    jobs.bash,
	})
}

func (in bashInput) dir(call toolapi.Call) (string, error) {
	if in.Workdir == "" {
		return call.Dir, nil
	}
	path, err := relative(call, in.Workdir)
	dir, rel := locate(call, path)
	return filepath.Join(dir, rel), err
}

// patience returns how long bash waits for the command before it becomes a
// background job.
func (in bashInput) patience() time.Duration {
	switch {
	case in.Background:
		return firstLook
	case in.Timeout == 0:
		return BashTimeout
	}
	return time.Duration(in.Timeout) * time.Second
}

func (js *Jobs) bash(ctx context.Context, call toolapi.Call, in bashInput) (pawl.Result, error) {
	dir, err := in.dir(call)
	if err != nil {
		return pawl.Result{}, err
	}
	if ctx.Err() != nil {
		return pawl.Result{}, context.Cause(ctx)
	}
	j, err := js.start(ctx, call, dir, in)
	if err != nil {
		return pawl.Result{}, err
	}
	var late, canceled bool
	var full error
	timer := time.NewTimer(in.patience())
	defer timer.Stop()
	select {
	case <-j.process.Done():
	case <-ctx.Done():
		canceled = true
		j.cancel.Store(true)
		j.kill()
	case <-timer.C:
		if late = !in.Background; late {
			j.late.Store(true)
			if full = js.keep(j); full != nil {
				j.kill()
			}
		}
	}
	j.out.progress.stop()
	keep, done := lingering(ctx)
	defer done()
	r, over, err := j.look(keep, js.blobs, js.Redact)
	if err != nil {
		return r, err
	}
	if j.id == "" {
		j.out.close()
	}
	if late {
		r.Meta["timeout"] = "true"
	}
	r.IsError = over && (j.failed() || j.failure != nil || j.rejected != nil)
	switch {
	case canceled, over && j.rejected != nil && ctx.Err() != nil:
		return r, context.Cause(ctx)
	case full != nil:
		closing(&r, fmt.Sprintf("killed after %s: %v", in.patience(), full))
	case late && !over && j.review != nil:
		closing(&r, fmt.Sprintf("still running after %s, now as %s: see bash_output and bash_kill; %v", in.patience(), j.id, errLate))
	case late && !over:
		closing(&r, fmt.Sprintf("still running after %s, now as %s: see bash_output and bash_kill", in.patience(), j.id))
	case !over:
		closing(&r, fmt.Sprintf("running as %s: see bash_output and bash_kill", j.id))
	case j.id != "":
		closing(&r, j.id+": "+j.state(over))
	case r.IsError:
		closing(&r, j.state(over))
	case r.Content == "":
		closing(&r, "done, no output")
	default:
		closing(&r)
	}
	return r, nil
}

// lingering returns a context that ends shortly after ctx, so that the output
// of a canceled command can still be stored.
func lingering(ctx context.Context) (context.Context, context.CancelFunc) {
	keep, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(keepTime, cancel) })
	return keep, func() {
		stop()
		cancel()
	}
}
