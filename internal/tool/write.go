package tool

import (
	"context"
	_ "embed" // the description
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/workspace"
)

//go:embed write.md
var writeDescription string

type writeInput struct {
	Path    string `json:"path" jsonschema:"file in the workspace"`
	Content string `json:"content" jsonschema:"the file's whole new content"`
}

// Write creates a file or replaces its content.
func Write() pawl.Tool {
	return define(definition[writeInput]{
		name:        "write",
		description: writeDescription,
		risk:        pawl.RiskDangerous,
		access: func(call pawl.Call, in writeInput) ([]pawl.Access, error) {
			return pathAccess(pawl.AccessWrite, call, in.Path)
		},
		run: func(ctx context.Context, call pawl.Call, in writeInput) (pawl.Result, error) {
			return change(ctx, call, in.Path, func(old string, _ bool) (string, error) {
				return lineEnds(old, in.Content), nil
			})
		},
	})
}

// change replaces a file's content with what update makes of it, and answers
// with the diff.
func change(ctx context.Context, call pawl.Call, path string, update func(old string, exists bool) (string, error)) (pawl.Result, error) {
	rel, err := workspace.Rel(call.Dir, path)
	if err != nil {
		return pawl.Result{}, err
	}
	w, err := workspace.Open(call.Dir)
	if err != nil {
		return pawl.Result{}, err
	}
	defer w.Close()
	old, exists, err := current(w, rel)
	if err != nil {
		return pawl.Result{}, err
	}
	text, err := update(old, exists)
	if err != nil {
		return pawl.Result{}, err
	}
	if len(text) > EditBytes {
		return pawl.Result{}, tooLarge(rel, len(text))
	}
	if exists && text == old {
		return pawl.Result{Content: rel + " is as it was: nothing to change."}, nil
	}
	if err := ctx.Err(); err != nil {
		return pawl.Result{}, err
	}
	if err := w.WriteFile(rel, []byte(text)); err != nil {
		return pawl.Result{}, err
	}
	from := "a/" + rel
	if !exists {
		from = "/dev/null"
	}
	diff := udiff.Unified(from, "b/"+rel, old, text)
	if diff == "" {
		return pawl.Result{Content: rel + " was made, empty."}, nil
	}
	return pawl.Result{Content: diff, Display: pawl.Parts{pawl.Patch{Path: rel, Diff: diff}}}, nil
}

// current returns a file's content, within the limit.
func current(w *workspace.Workspace, rel string) (text string, exists bool, err error) {
	info, err := w.Stat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false, nil
	case err != nil:
		return "", false, err
	case !info.Mode().IsRegular():
		return "", false, fmt.Errorf("%s is not a regular file", rel)
	case info.Size() > EditBytes:
		return "", false, tooLarge(rel, int(info.Size()))
	}
	data, err := w.ReadFile(rel)
	return string(data), true, err
}

func tooLarge(path string, size int) error {
	return fmt.Errorf("%s has %d bytes: more than the %d that can be edited", path, size, EditBytes)
}

// lineEnds gives text the line ends of the file that it goes into. The model
// cannot see them: read shows lines without their ends.
func lineEnds(file, text string) string {
	if n := strings.Count(file, "\r\n"); n == 0 || n != strings.Count(file, "\n") || strings.Contains(text, "\r") {
		return text
	}
	return strings.ReplaceAll(text, "\n", "\r\n")
}
