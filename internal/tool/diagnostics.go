package tool

import (
	"context"
	_ "embed" // the description
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/lsp"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/workspace"
)

//go:embed diagnostics.md
var diagnosticsDescription string

type diagnosticsInput struct {
	Path string `json:"path,omitempty" jsonschema:"file or directory in the workspace"`
}

func (in diagnosticsInput) path() string {
	if in.Path == "" {
		return "."
	}
	return in.Path
}

// Checker returns the diagnostics of files, or of all files that it knows if
// none are given. At its context's deadline it returns what it has.
type Checker interface {
	Check(ctx context.Context, dir string, paths []string) (lsp.Report, error)
}

var _ Checker = (*lsp.Servers)(nil)

// Diagnostics returns what language servers report about files.
func Diagnostics(c Checker) toolapi.Tool {
	return define(definition[diagnosticsInput]{
		name:        "diagnostics",
		description: diagnosticsDescription,
		risk:        toolapi.RiskSafe,
		access: func(call toolapi.Call, in diagnosticsInput) ([]pawl.Access, error) {
			return pathAccess(pawl.AccessRead, call, in.path())
		},
		run: func(ctx context.Context, call toolapi.Call, in diagnosticsInput) (pawl.Result, error) {
			ctx, cancel := context.WithTimeout(ctx, FaultsTimeout)
			defer cancel()
			if in.Path == "" {
				report, err := c.Check(ctx, call.Dir, nil)
				if err != nil {
					return pawl.Result{}, err
				}
				return pawl.Result{Content: allFaults(report, "in the files checked so far")}, nil
			}
			return diagnosePath(ctx, c, call, in.Path)
		},
	})
}

func diagnosePath(ctx context.Context, c Checker, call toolapi.Call, path string) (pawl.Result, error) {
	rel, err := workspace.Rel(call.Dir, path)
	if err != nil {
		return pawl.Result{}, err
	}
	w, err := workspace.Open(call.Dir)
	if err != nil {
		return pawl.Result{}, err
	}
	defer w.Close()
	if rel, err = workspace.Readable(call.Dir, rel, call.Reads); err != nil {
		return pawl.Result{}, fmt.Errorf("diagnostics: %w", err)
	}
	info, err := w.Stat(rel)
	if err != nil {
		return pawl.Result{}, fmt.Errorf("diagnostics: %w", err)
	}
	paths := []string{rel}
	if info.IsDir() {
		if paths, err = filesIn(w, rel); err != nil {
			return pawl.Result{}, fmt.Errorf("diagnostics: %w", err)
		}
		if call.Reads != nil { // diagnostics reveal file contents, so the read permission applies
			paths = slices.DeleteFunc(paths, func(path string) bool { return !call.Reads(path) })
		}
	}
	report, err := c.Check(ctx, call.Dir, paths)
	if err != nil {
		return pawl.Result{}, err
	}
	others := 0
	shown := lsp.Report{}
	for _, f := range report.Files {
		switch {
		case f.Asked || info.IsDir() && (rel == "." || strings.HasPrefix(f.Path, rel+"/")):
			shown.Files = append(shown.Files, f)
		case f.Errors > 0:
			others++
		}
	}
	for _, n := range report.Notes {
		if n.Kind != lsp.Unserved || !info.IsDir() { // a directory has files of many languages
			shown.Notes = append(shown.Notes, n)
		}
	}
	text := allFaults(shown, "in "+rel)
	if others > 0 {
		text += fmt.Sprintf("(%s: leave out path to see all)\n", count(others, "other file has", "other files have")+" errors")
	}
	return pawl.Result{Content: text}, nil
}

// filesIn returns the files of a directory, without those of its
// subdirectories.
func filesIn(w *workspace.Workspace, rel string) ([]string, error) {
	entries, err := fs.ReadDir(w.FS(), filepath.ToSlash(rel))
	var paths []string
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			paths = append(paths, filepath.Join(rel, entry.Name()))
		}
	}
	return paths, err
}
