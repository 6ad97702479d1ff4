package tool

import (
	"context"
	_ "embed" // the description
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
)

//go:embed edit.md
var editDescription string

type editInput struct {
	Path string `json:"path" jsonschema:"file in the workspace"`
	Old  string `json:"old" jsonschema:"the text to replace, exactly as it stands in the file"`
	New  string `json:"new" jsonschema:"the text to put in its place"`
	All  bool   `json:"all,omitempty" jsonschema:"replace every occurrence instead of the only one"`
}

// Edit replaces a text in a file. The match is exact and must be the only one,
// unless all are wanted.
func Edit() pawl.Tool {
	return define(definition[editInput]{
		name:        "edit",
		description: editDescription,
		risk:        pawl.RiskDangerous,
		access: func(call pawl.Call, in editInput) ([]pawl.Access, error) {
			if in.Old == "" {
				return nil, errors.New("old is empty: use write to make a file")
			}
			if in.Old == in.New {
				return nil, errors.New("old and new are the same")
			}
			return pathAccess(pawl.AccessWrite, call, in.Path)
		},
		run: func(ctx context.Context, call pawl.Call, in editInput) (pawl.Result, error) {
			return change(ctx, call, in.Path, func(old string, exists bool) (string, error) {
				if !exists {
					return "", fmt.Errorf("%s does not exist", in.Path)
				}
				return replace(old, in)
			})
		},
	})
}

func replace(text string, in editInput) (string, error) {
	old, replacement := in.Old, in.New
	if !strings.Contains(old, "\r") { // otherwise the model means each byte
		old, replacement = lineEnds(text, old), lineEnds(text, replacement)
	}
	n := strings.Count(text, old)
	size := len(text) + n*(len(replacement)-len(old))
	switch {
	case n == 0:
		return "", fmt.Errorf("old was not found in %s: read the file and copy the text exactly", in.Path)
	case n > 1 && !in.All:
		return "", fmt.Errorf("old was found %d times in %s: add lines around it until it is the only one, or set all", n, in.Path)
	case size > EditBytes:
		return "", tooLarge(in.Path, size)
	}
	return strings.ReplaceAll(text, old, replacement), nil
}
