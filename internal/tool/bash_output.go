package tool

import (
	"context"
	_ "embed" // the description
	"fmt"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

//go:embed bash_output.md
var bashOutputDescription string

type bashOutputInput struct {
	ID   string `json:"id" jsonschema:"e.g. job_1"`
	Wait int    `json:"wait,omitempty" jsonschema:"seconds to wait for more, at most 60"`
}

// BashOutput returns the output of a job since the last call.
func BashOutput(jobs *Jobs) toolapi.Tool {
	return define(definition[bashOutputInput]{
		name:        "bash_output",
		description: bashOutputDescription,
		risk:        toolapi.RiskSafe,
		access: func(call toolapi.Call, in bashOutputInput) ([]pawl.Access, error) {
			if in.Wait < 0 || in.Wait > int(BashWait.Seconds()) {
				return nil, fmt.Errorf("wait must be between 0 and %.0f seconds", BashWait.Seconds())
			}
			return nil, nil // the output belongs to this session
		},
		run: func(ctx context.Context, call toolapi.Call, in bashOutputInput) (pawl.Result, error) {
			j, err := jobs.find(call.Session, in.ID)
			if err != nil {
				return pawl.Result{}, err
			}
			if in.Wait > 0 {
				j.await(ctx, time.Duration(in.Wait)*time.Second)
			}
			if ctx.Err() != nil {
				return pawl.Result{}, context.Cause(ctx)
			}
			return jobs.report(ctx, j)
		},
	})
}

// report returns a job's new output and its state.
func (js *Jobs) report(ctx context.Context, j *job) (pawl.Result, error) {
	keep, done := lingering(ctx) // the output counts as shown, so it must be stored even if ctx ends
	defer done()
	r, over, err := j.look(keep, js.blobs, js.Redact)
	if err != nil {
		return r, err
	}
	state := j.id + ": " + j.state(over)
	if r.Content == "" {
		closing(&r, "no new output", state)
	} else {
		closing(&r, state)
	}
	return r, nil
}
