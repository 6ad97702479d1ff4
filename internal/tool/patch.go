package tool

import (
	"context"
	_ "embed" // the description
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/patch"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/workspace"
)

//go:embed apply_patch.md
var patchDescription string

type patchInput struct {
	Patch string `json:"patch" jsonschema:"the patch, from *** Begin Patch to *** End Patch"`
}

// ApplyPatch adds, changes, moves and deletes files. It makes all changes or
// none.
func ApplyPatch(faults Diagnoser) toolapi.Tool {
	return define(definition[patchInput]{
		name:        "apply_patch",
		description: patchDescription,
		risk:        toolapi.RiskDangerous,
		access: func(call toolapi.Call, in patchInput) ([]pawl.Access, error) {
			p, err := parsePatch(call, in.Patch)
			if err != nil {
				return nil, err
			}
			return patchAccess(p), nil
		},
		preview: func(ctx context.Context, call toolapi.Call, in patchInput) (string, error) {
			w, plan, err := openPatch(ctx, call, in.Patch)
			if err != nil {
				return "", perhapsUnsaved(call, err)
			}
			defer w.Close()
			var diffs strings.Builder
			for _, f := range plan {
				diffs.WriteString(f.diff())
			}
			return diffs.String(), nil
		},
		run: func(ctx context.Context, call toolapi.Call, in patchInput) (pawl.Result, error) {
			result, files, err := applyPatch(ctx, call, in.Patch)
			if err != nil {
				return result, err
			}
			result.Seen = map[string]string{}
			var paths []string
			for _, f := range files {
				result.Seen[f.Path] = ""
				if !f.Removed {
					result.Seen[f.Path] = workspace.Hash([]byte(f.Content))
					paths = append(paths, f.Path)
				}
			}
			addFaults(ctx, &result, faults, call.Dir, paths...)
			return result, nil
		},
	})
}

// patchAccess returns the accesses of a patch, without duplicates.
func patchAccess(p patch.Patch) []pawl.Access {
	var all []pawl.Access
	for _, f := range p.Files {
		access := []pawl.Access{{Kind: pawl.AccessWrite, Target: f.Path}}
		if f.Op != patch.Add {
			access = shownChange(f.Path)
		}
		if f.MoveTo != "" {
			access = append(access, pawl.Access{Kind: pawl.AccessWrite, Target: f.MoveTo})
		}
		for _, a := range access {
			if !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	return all
}

// written is a file after a patch.
type written struct {
	Path    string // relative to the workspace
	Content string
	Removed bool // the file was deleted
}

// applyPatch makes the changes of a patch and returns, besides the result,
// every file that it touched. A file that has changed since the model last saw
// it must match the patch exactly. An error means that no file has changed,
// unless it is a workspace.ErrHalfway.
func applyPatch(ctx context.Context, call toolapi.Call, text string) (pawl.Result, []written, error) {
	note, err := savedOfPatch(ctx, call, text)
	if err != nil {
		return pawl.Result{}, nil, err
	}
	w, plan, err := openPatch(ctx, call, text)
	if err != nil {
		return pawl.Result{}, nil, err
	}
	defer w.Close()
	var changes []workspace.Change
	var files []written
	for _, f := range plan {
		changes = append(changes, f.changes()...)
		files = append(files, f.written()...)
	}
	err = w.WriteAll(ctx, changes)
	var left *workspace.LeftoverError
	switch {
	case errors.Is(err, workspace.ErrHalfway):
		return pawl.Result{}, nil, err
	case err != nil && !errors.As(err, &left):
		return pawl.Result{}, nil, fmt.Errorf("no file was changed: %w", err)
	}
	result := patchResult(plan)
	result.Content += note
	if left != nil {
		result.Content += "\n" + left.Error()
	}
	return result, files, nil
}

// savedOfPatch is saved for the files of a patch. It ignores files that cannot
// be read.
func savedOfPatch(ctx context.Context, call toolapi.Call, text string) (note string, err error) {
	if call.Buffers == nil {
		return "", nil
	}
	p, err := parsePatch(call, text)
	if err != nil {
		return "", err
	}
	w, err := openWorkspace(call)
	if err != nil {
		return "", err
	}
	defer w.Close()
	var files []file
	for _, section := range p.Files {
		if f, err := current(w, section.Path); err == nil {
			files = append(files, f)
		}
	}
	if note, err = saved(ctx, call, files...); err != nil {
		err = fmt.Errorf("no file was changed: %w", err)
	}
	return note, err
}

// openPatch opens the workspace and plans the changes of a patch.
func openPatch(ctx context.Context, call toolapi.Call, text string) (*workspace.Workspace, []plannedFile, error) {
	p, err := parsePatch(call, text)
	if err != nil {
		return nil, nil, err
	}
	w, err := openWorkspace(call)
	if err != nil {
		return nil, nil, err
	}
	plan, err := planPatch(ctx, w, p, call.Caller.Seen)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("no file was changed: %w", err), w.Close())
	}
	return w, plan, nil
}

// parsePatch parses a patch and makes its paths relative to the workspace. A
// path must occur only once, except that a file can be deleted and then added.
func parsePatch(call toolapi.Call, text string) (patch.Patch, error) {
	if len(text) > PatchBytes {
		return patch.Patch{}, fmt.Errorf("the patch has %d bytes: more than the %d of one patch; split it", len(text), PatchBytes)
	}
	p, err := patch.Parse(text)
	if err != nil {
		return patch.Patch{}, err
	}
	if n := len(p.Paths()); n > PatchFiles {
		return patch.Patch{}, fmt.Errorf("the patch names %d files: more than the %d of one patch; split it", n, PatchFiles)
	}
	lines := map[string]int{} // the line of the section that names a path
	deleted := map[string]bool{}
	for i := range p.Files {
		f := &p.Files[i]
		for _, path := range []*string{&f.Path, &f.MoveTo} {
			if *path == "" {
				continue
			}
			if *path, err = relative(call, *path); err != nil {
				return patch.Patch{}, fmt.Errorf("line %d of the patch: %w", f.Line, err)
			}
			first, taken := lines[*path]
			if taken && (f.Op != patch.Add || !deleted[*path]) {
				return patch.Patch{}, fmt.Errorf("line %d of the patch: %s is named already on line %d: put all that happens to a file into one section", f.Line, *path, first)
			}
			lines[*path] = f.Line
			deleted[*path] = f.Op == patch.Delete
		}
	}
	return p, nil
}
