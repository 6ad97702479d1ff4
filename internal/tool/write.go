package tool

import (
	"context"
	_ "embed" // the description
	"fmt"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

//go:embed write.md
var writeDescription string

type writeInput struct {
	Path    string `json:"path" jsonschema:"file in the workspace"`
	Content string `json:"content" jsonschema:"the file's whole new content"`
}

// Write creates a file or replaces its content. It refuses to overwrite
// content that the model does not know: a file that this session has not read,
// or that has changed since.
func Write(faults Diagnoser) toolapi.Tool {
	return define(definition[writeInput]{
		name:        "write",
		description: writeDescription,
		risk:        toolapi.RiskDangerous,
		access: func(call toolapi.Call, in writeInput) ([]pawl.Access, error) {
			return pathAccess(pawl.AccessWrite, call, in.Path)
		},
		preview: func(_ context.Context, call toolapi.Call, in writeInput) (string, error) {
			return preview(call, in.Path, in.update)
		},
		run: func(ctx context.Context, call toolapi.Call, in writeInput) (pawl.Result, error) {
			return change(ctx, call, in.Path, faults, in.update)
		},
	})
}

func (in writeInput) update(f file) (string, error) {
	text := lineEnds(f.text, in.Content)
	switch {
	case f.exists && f.text == text:
	case f.exists && f.seen == "":
		return "", fmt.Errorf("%s exists and you have not read it: read it first, or use edit", f.path)
	case f.stale():
		return "", fmt.Errorf("%s was changed since you last read it: read it again first", f.path)
	}
	return text, nil
}
