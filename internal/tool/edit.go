package tool

import (
	"context"
	_ "embed" // the description
	"errors"
	"fmt"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/edit"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

//go:embed edit.md
var editDescription string

type editInput struct {
	Path string `json:"path" jsonschema:"file in the workspace"`
	Old  string `json:"old" jsonschema:"the text to replace, exactly as it stands in the file"`
	New  string `json:"new" jsonschema:"the text to put in its place"`
	All  bool   `json:"all,omitempty" jsonschema:"replace every occurrence instead of the only one"`
}

// Edit replaces a text in a file. The text must match in exactly one place,
// unless all are to be replaced; package edit does the matching, exact and
// fuzzy.
func Edit(faults Diagnoser) toolapi.Tool {
	return define(definition[editInput]{
		name:        "edit",
		description: editDescription,
		risk:        toolapi.RiskDangerous,
		access: func(call toolapi.Call, in editInput) ([]pawl.Access, error) {
			if in.Old == "" {
				return nil, errors.New("old is empty: use write to make a file")
			}
			if in.Old == in.New {
				return nil, errors.New("old and new are the same")
			}
			rel, err := relative(call, in.Path)
			return shownChange(rel), err
		},
		preview: func(_ context.Context, call toolapi.Call, in editInput) (string, error) {
			return preview(call, in.Path, func(f file) (string, error) {
				done, err := replace(f, in)
				return done.Text, err
			})
		},
		run: func(ctx context.Context, call toolapi.Call, in editInput) (pawl.Result, error) {
			var done edit.Done
			res, err := change(ctx, call, in.Path, faults, func(f file) (_ string, err error) {
				done, err = replace(f, in)
				return done.Text, err
			})
			if err == nil && done.Pass != edit.Exact {
				res.Meta = map[string]string{"match": string(done.Pass)}
				res.Content += "(" + matchNotes[done.Pass] + ": check the diff)\n"
			}
			return res, err
		},
	})
}

// matchNotes tell the model how old_string differed from the file.
var matchNotes = map[edit.Pass]string{
	edit.Folded:    "old was matched with other blanks at line ends, or with other quotes, dashes or spaces; the file's own were kept",
	edit.Trimmed:   "old was matched with another indentation; the file's own was kept",
	edit.Shifted:   "old was matched with another indentation, and new was indented like the file",
	edit.Spaced:    "old was matched with other blanks; the file's own were kept where new leaves them alone",
	edit.Unescaped: "old was matched with its escapes read as characters, and new was read the same way",
	edit.Anchored:  "old was matched by its first and last line; what differs between them was kept",
}

func replace(f file, in editInput) (edit.Done, error) {
	if !f.exists {
		return edit.Done{}, fmt.Errorf("%s does not exist", in.Path)
	}
	done, err := edit.Replace(f.text, edit.Edit{Old: in.Old, New: in.New, All: in.All, ExactOnly: f.stale(), Limit: EditBytes})
	if err != nil {
		return edit.Done{}, fmt.Errorf("edit %s: %w", in.Path, err)
	}
	return done, nil
}
