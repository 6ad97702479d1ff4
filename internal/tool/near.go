package tool

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/workspace"
)

// The bounds of a search for near names.
const (
	nearEntries = 1000 // of the directory that are looked at
	nearShown   = 3
)

// nearNames says which files beside a missing one have a name like it, or
// nothing.
func nearNames(w *workspace.Workspace, path string) string {
	dir, name := filepath.Dir(path), filepath.Base(path)
	f, err := w.Open(dir)
	if err != nil {
		return ""
	}
	defer f.Close()
	entries, _ := f.ReadDir(nearEntries) // what cannot be read is not suggested
	var near []string
	for _, e := range entries {
		if e.Type().IsRegular() && likeName(name, e.Name()) {
			near = append(near, filepath.Join(dir, e.Name()))
		}
	}
	if near == nil {
		return ""
	}
	slices.Sort(near)
	near = near[:min(len(near), nearShown)]
	return fmt.Sprintf(": did you mean %s?", strings.Join(near, " or "))
}

// likeName reports whether a name may be a slip for another: it differs in
// case, in its ending, or in at most two characters.
func likeName(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	stem := strings.TrimSuffix(a, filepath.Ext(a))
	if a == b || len(stem) > 2 && stem == strings.TrimSuffix(b, filepath.Ext(b)) {
		return true
	}
	return len(a) > 4 && distance([]rune(a), []rune(b)) <= 2
}

// distance counts the characters to insert, remove or replace to make b of a.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
