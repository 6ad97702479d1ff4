package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// Diagnoser finds problems in files that were just changed.
type Diagnoser interface {
	// After returns a text to append to the result of a change, or "". It
	// takes at most EditFaultsTime.
	After(ctx context.Context, dir string, paths []string) string
}

// file is a file that a tool is about to change, as it is on disk now.
type file struct {
	path    string // relative to the workspace
	text    string
	exists  bool
	changed time.Time
	seen    string // hash of the content that the model last saw; "" if it never did
}

// stale reports whether the file has changed since the model last saw it.
func (f file) stale() bool {
	return f.exists && f.seen != "" && f.seen != workspace.Hash([]byte(f.text))
}

// rewrite returns the new content of a file.
type rewrite func(file) (string, error)

// proposed returns a file as it is now and the content that it would get.
func proposed(w *workspace.Workspace, call toolapi.Call, path string, next rewrite) (old file, text string, err error) {
	rel, err := relative(call, path)
	if err != nil {
		return old, "", err
	}
	if old, err = current(w, rel); err != nil {
		return old, "", err
	}
	old.seen = call.Caller.Seen(rel)
	if text, err = next(old); err == nil && len(text) > EditBytes {
		err = tooLarge(rel, len(text))
	}
	return old, text, err
}

// preview returns the diff of a change without making it.
func preview(call toolapi.Call, path string, next rewrite) (string, error) {
	w, err := openWorkspace(call)
	if err != nil {
		return "", err
	}
	defer w.Close()
	old, text, err := proposed(w, call, path, next)
	if err != nil {
		return "", perhapsUnsaved(call, err)
	}
	return wholeDiff(old.path, old, text), nil
}

// change replaces the content of a file with the result of next. It returns
// the diff and the diagnostics of the new content.
func change(ctx context.Context, call toolapi.Call, path string, faults Diagnoser, next rewrite) (pawl.Result, error) {
	w, err := openWorkspace(call)
	if err != nil {
		return pawl.Result{}, err
	}
	defer w.Close()
	var note string
	old, text, err := proposed(w, call, path, func(f file) (_ string, err error) {
		if note, err = saved(ctx, call, f); err != nil {
			return "", err // this comes before all other faults: the model cannot fix it by reading the file again
		}
		return next(f)
	})
	if err != nil {
		return pawl.Result{}, err
	}
	rel := old.path
	if old.exists && text == old.text {
		return pawl.Result{Content: rel + " is as it was: nothing to change."}, nil
	}
	if err := ctx.Err(); err != nil {
		return pawl.Result{}, err
	}
	if err := w.WriteFile(rel, []byte(text)); err != nil {
		return pawl.Result{}, err
	}
	result := pawl.Result{Seen: map[string]string{rel: workspace.Hash([]byte(text))}}
	if diff := diffOf(rel, old, text); diff != "" {
		result.Content, result.Display = diff, pawl.Parts{pawl.Patch{Path: rel, Diff: diff}}
	} else {
		result.Content = rel + " was made, empty.\n"
	}
	result.Content += note
	addFaults(ctx, &result, faults, call.Dir, rel)
	return result, nil
}

// shownChange returns the accesses of a change whose result shows the content
// of the file: it needs permission to read as well as to write.
func shownChange(path string) []pawl.Access {
	return []pawl.Access{{Kind: pawl.AccessWrite, Target: path}, {Kind: pawl.AccessRead, Target: path}}
}

// addFaults appends the diagnostics of the changed files to a result. Language servers
// know those of the workspace only.
func addFaults(ctx context.Context, r *pawl.Result, faults Diagnoser, dir string, paths ...string) {
	paths = slices.DeleteFunc(slices.Clone(paths), filepath.IsAbs)
	if faults == nil || len(paths) == 0 {
		return
	}
	if text := faults.After(ctx, dir, paths); text != "" {
		r.Content += "\n" + text
	}
}

// diffOf returns the change as a unified diff of at most DiffBytes.
func diffOf(rel string, old file, text string) string {
	return headOfDiff(wholeDiff(rel, old, text), DiffBytes)
}

func wholeDiff(rel string, old file, text string) string {
	name := strings.TrimPrefix(rel, "/")
	from := "a/" + name
	if !old.exists {
		from = "/dev/null"
	}
	return udiff.Unified(from, "b/"+name, old.text, text)
}

// current reads a file that is to be changed, up to EditBytes. It does not
// follow links: nothing is written through a link, and its target may be
// unreadable for the session.
func current(w *workspace.Workspace, rel string) (file, error) {
	f, err := w.OpenReal(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return file{path: rel}, nil
	case err != nil:
		return file{}, fmt.Errorf("%s: %w", rel, err)
	}
	defer f.Close()
	return contentOf(f, rel)
}

// contentOf reads an open file that is to be changed.
func contentOf(f *os.File, path string) (file, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return file{}, err
	case !info.Mode().IsRegular():
		return file{}, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > EditBytes:
		return file{}, tooLarge(path, int(info.Size()))
	}
	data, err := io.ReadAll(io.LimitReader(f, EditBytes+1))
	if len(data) > EditBytes {
		return file{}, tooLarge(path, len(data))
	}
	return file{path: path, text: string(data), exists: true, changed: info.ModTime()}, err
}

func tooLarge(path string, size int) error {
	return fmt.Errorf("%s has %d bytes: more than the %d that can be edited", path, size, EditBytes)
}

// lineEnds converts text to the line ends of the file that it goes into. The
// model cannot know them, because read shows lines without their ends.
func lineEnds(file, text string) string {
	if n := strings.Count(file, "\r\n"); n == 0 || n != strings.Count(file, "\n") || strings.Contains(text, "\r") {
		return text
	}
	return strings.ReplaceAll(text, "\n", "\r\n")
}
