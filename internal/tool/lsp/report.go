package lsp

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Report holds the diagnostics of the files of a workspace.
type Report struct {
	Files []File // files with diagnostics: first the requested ones, then others, by path
	Notes []Note // why diagnostics may be missing
}

// File is a file with diagnostics.
type File struct {
	Path             string  // relative to the workspace
	Asked            bool    // the Check requested it
	Faults           []Fault // errors first, then by line; possibly not all
	Errors, Warnings int     // total counts
}

// Kind says why diagnostics may be missing from a Report.
type Kind string

// The kinds of notes.
const (
	Waiting  Kind = "waiting"  // the server has not answered in time
	Missing  Kind = "missing"  // no server for the file is installed
	Failed   Kind = "failed"   // the server does not run
	Off      Kind = "off"      // servers must not be started in this directory
	Unserved Kind = "unserved" // no server is known for the file
	Left     Kind = "left"     // the file was not checked
)

// Note explains to the reader of a Report why diagnostics may be missing.
type Note struct {
	Kind Kind
	Text string
}

// shownFault identifies an error that was reported before. Its line may have
// changed.
type shownFault struct{ path, message string }

// report returns the server's diagnostics, except those of files that have
// changed since the server last answered for them.
func (s *server) report(asked []string) []File {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown := map[shownFault]bool{}
	var files []File
	for path, v := range s.verdicts {
		if d := s.docs[path]; d != nil && !d.done && v.version < d.version {
			for key := range s.shown {
				if key.path == path {
					shown[key] = true
				}
			}
			continue
		}
		found := v.faults()
		rel, err := filepath.Rel(s.dir, path)
		if err != nil || len(found.list) == 0 {
			continue
		}
		f := File{Path: rel, Asked: slices.Contains(asked, path), Faults: slices.Clone(found.list), Errors: found.errors, Warnings: found.warnings}
		for i := range f.Faults {
			if f.Faults[i].Error {
				key := shownFault{path, f.Faults[i].Message}
				f.Faults[i].New = !s.shown[key]
				shown[key] = true
			}
		}
		files = append(files, f)
	}
	s.shown = shown
	return files
}

// sort orders the results of several servers.
func (r *Report) sort() {
	slices.SortFunc(r.Files, func(a, b File) int {
		if a.Asked != b.Asked {
			if a.Asked {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Path, b.Path)
	})
	slices.SortFunc(r.Notes, func(a, b Note) int { return cmp.Compare(a.Text, b.Text) })
	r.Notes = slices.Compact(r.Notes)
}

// missing returns a note that says what to install for a file. specs are the
// servers for the file.
func missing(specs []Spec, why error) Note {
	names := make([]string, len(specs))
	for i, spec := range specs {
		names[i] = spec.Name
	}
	text := strings.Join(names, " or ") + " is not installed"
	if errors.Is(why, errInside) {
		text = strings.Join(names, " or ") + " was found only inside the workspace, from where it is not started"
	}
	return Note{Missing, fmt.Sprintf("%s: %s", text, specs[0].Install)}
}
