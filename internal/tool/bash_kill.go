package tool

import (
	"context"
	_ "embed" // the description

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

//go:embed bash_kill.md
var bashKillDescription string

type bashKillInput struct {
	ID string `json:"id" jsonschema:"e.g. job_1"`
}

// BashKill kills a background job and all processes that it has started.
func BashKill(jobs *Jobs) toolapi.Tool {
	return define(definition[bashKillInput]{
		name:        "bash_kill",
		description: bashKillDescription,
		risk:        toolapi.RiskSafe,
		access: func(call toolapi.Call, in bashKillInput) ([]pawl.Access, error) {
			_, err := jobs.find(call.Session, in.ID)
			return nil, err // it only ends what a permission was given for before
		},
		run: func(ctx context.Context, call toolapi.Call, in bashKillInput) (pawl.Result, error) {
			j, err := jobs.find(call.Session, in.ID)
			if err != nil {
				return pawl.Result{}, err
			}
			j.kill()
			return jobs.report(ctx, j)
		},
	})
}
