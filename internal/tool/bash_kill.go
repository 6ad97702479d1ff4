package tool

import (
	"context"
	_ "embed" // the description
	"fmt"

	"github.com/pawl-dev/pawl"
)

//go:embed bash_kill.md
var bashKillDescription string

type bashKillInput struct {
	ID string `json:"id" jsonschema:"e.g. job_1"`
}

// BashKill ends a job with all that it has started.
func BashKill(jobs *Jobs) pawl.Tool {
	return define(definition[bashKillInput]{
		name:        "bash_kill",
		description: bashKillDescription,
		risk:        pawl.RiskDangerous,
		access: func(call pawl.Call, in bashKillInput) ([]pawl.Access, error) {
			j, err := jobs.find(call.Session, in.ID)
			if err != nil {
				return nil, err
			}
			return []pawl.Access{{Kind: pawl.AccessExec, Target: fmt.Sprintf("kill %s (%s)", j.id, j.command)}}, nil
		},
		run: func(ctx context.Context, call pawl.Call, in bashKillInput) (pawl.Result, error) {
			j, err := jobs.find(call.Session, in.ID)
			if err != nil {
				return pawl.Result{}, err
			}
			j.kill()
			return jobs.report(ctx, j)
		},
	})
}
