package tool

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/suggest"
	"github.com/pawl-dev/pawl/internal/workspace"
)

const (
	suggestEntries = 1000 // of a directory that are compared with a missing name
	suggestedFiles = 3    // in a message
)

// suggestFiles returns the end of an error message about a missing file, ": did
// you mean …?", with the files of its directory that have similar names, or "".
func suggestFiles(w *workspace.Workspace, path string) string {
	dir, name := filepath.Dir(path), filepath.Base(path)
	f, err := w.Open(dir)
	if err != nil {
		return ""
	}
	defer f.Close()
	entries, _ := f.ReadDir(suggestEntries) // suggestions are optional: ignore the error
	var similar []string
	for _, e := range entries {
		if e.Type().IsRegular() && similarName(name, e.Name()) {
			similar = append(similar, filepath.Join(dir, e.Name()))
		}
	}
	if similar == nil {
		return ""
	}
	slices.Sort(similar)
	similar = similar[:min(len(similar), suggestedFiles)]
	return fmt.Sprintf(": did you mean %s?", strings.Join(similar, " or "))
}

// similarName reports whether a may be a misspelling of b: they differ in
// case, in the file extension, or by an edit distance of at most two.
func similarName(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	stem := strings.TrimSuffix(a, filepath.Ext(a))
	if a == b || len(stem) > 2 && stem == strings.TrimSuffix(b, filepath.Ext(b)) {
		return true
	}
	return len(a) > 4 && suggest.Distance(a, b) <= 2
}
