package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/tool/patch"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// plannedFile is the change of one file, computed but not made.
type plannedFile struct {
	path, to string // to is "" unless the file is moved
	old, new string
	existed  bool
	removed  bool
}

func (f plannedFile) changes() []workspace.Change {
	c := workspace.Change{Path: f.path, To: f.to, Data: []byte(f.new), Remove: f.removed}
	if f.existed {
		c.Was = workspace.Hash([]byte(f.old))
	}
	if f.unchanged() {
		return nil
	}
	return []workspace.Change{c}
}

func (f plannedFile) unchanged() bool {
	return f.existed && !f.removed && f.to == "" && f.new == f.old
}

func (f plannedFile) written() []written {
	switch {
	case f.removed:
		return []written{{Path: f.path, Removed: true}}
	case f.to != "":
		return []written{{Path: f.path, Removed: true}, {Path: f.to, Content: f.new}}
	default:
		return []written{{Path: f.path, Content: f.new}}
	}
}

// letter returns the status letter of the change, as git spells it.
func (f plannedFile) letter() string {
	switch {
	case f.removed:
		return "D"
	case f.to != "":
		return "R"
	case !f.existed:
		return "A"
	case f.unchanged():
		return "="
	default:
		return "M"
	}
}

// name returns the file's path, and the new one if it is moved.
func (f plannedFile) name() string {
	switch {
	case f.to != "":
		return f.path + " -> " + f.to
	case f.unchanged():
		return f.path + " (as it was)"
	default:
		return f.path
	}
}

// target returns the path after the change.
func (f plannedFile) target() string {
	if f.to != "" {
		return f.to
	}
	return f.path
}

// patchRefusals is how many files a refusal reports, so that the model can fix
// them all at once.
const patchRefusals = 4

// planPatch computes the change of every file. It returns an error if one of
// them is impossible.
func planPatch(ctx context.Context, w *workspace.Workspace, p patch.Patch, seen func(path string) string) ([]plannedFile, error) {
	var plan []plannedFile
	var refusals []string
	at := map[string]int{} // index in the plan
	for _, section := range p.Files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if i, deleted := at[section.Path]; deleted {
			plan[i].removed, plan[i].new = false, lineEnds(plan[i].old, section.Content)
			continue
		}
		f, err := planFile(ctx, w, section, seen)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			if refusals = append(refusals, err.Error()); len(refusals) == patchRefusals {
				break
			}
			continue
		}
		at[section.Path] = len(plan)
		plan = append(plan, f)
	}
	if refusals != nil {
		return nil, errors.New(strings.Join(refusals, "\n"))
	}
	return plan, nil
}

func planFile(ctx context.Context, w *workspace.Workspace, section patch.File, seen func(path string) string) (plannedFile, error) {
	f := plannedFile{path: section.Path, to: section.MoveTo, removed: section.Op == patch.Delete}
	now, err := current(w, f.path)
	now.seen = seen(f.path)
	f.old, f.existed = now.text, now.exists
	switch {
	case err != nil:
		return f, err
	case section.Op == patch.Add && f.existed:
		return f, fmt.Errorf("%s exists: use *** Update File to change it, or *** Delete File before *** Add File to replace it", f.path)
	case section.Op == patch.Add:
		f.new = section.Content
		return f, nil
	case !f.existed:
		return f, fmt.Errorf("%s does not exist%s", f.path, suggestFiles(w, f.path))
	}
	if f.removed {
		if now.stale() {
			return f, fmt.Errorf("%s was changed since you last read it: read it again before you delete it", f.path)
		}
		return f, nil
	}
	if f.to != "" {
		if target, err := current(w, f.to); err != nil {
			return f, fmt.Errorf("move %s to %s: %w", f.path, f.to, err)
		} else if target.exists {
			return f, fmt.Errorf("move %s to %s: %s exists: delete it in a patch before this one, or choose another name", f.path, f.to, f.to)
		}
	}
	var exact bool
	f.new, exact, err = patch.Apply(ctx, f.old, section.Hunks)
	if err != nil {
		return f, fmt.Errorf("%s: %w", f.path, err)
	}
	if now.stale() && !exact {
		return f, fmt.Errorf("%s was changed since you last read it, and the patch fits it only loosely: read it again first", f.path)
	}
	if len(f.new) > EditBytes {
		return f, tooLarge(f.path, len(f.new))
	}
	return f, nil
}
