package lsp

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Report is what the servers know of the files of a workspace.
type Report struct {
	Files []File // that have faults: first those asked about, then others, by path
	Notes []Note // why some may be missing
}

// File is a file with faults.
type File struct {
	Path             string  // relative to the workspace
	Asked            bool    // the Check named it
	Faults           []Fault // errors first, then by line; the first of many
	Errors, Warnings int     // how many there are
}

// Kind says why faults may be missing from a Report.
type Kind string

// The kinds of notes.
const (
	Waiting  Kind = "waiting"  // the server had not answered when the time was over
	Missing  Kind = "missing"  // no server for the file is installed
	Failed   Kind = "failed"   // the server does not run
	Off      Kind = "off"      // servers are not to be started in this directory
	Unserved Kind = "unserved" // no server is known for the file
	Left     Kind = "left"     // the file was not looked at
)

// Note is a sentence for the reader of a Report.
type Note struct {
	Kind Kind
	Text string
}

// shownFault recognizes an error when it is reported again. Its line may have moved.
type shownFault struct{ path, message string }

// report returns what the server knows. Of a file that has changed since the
// server last answered for it, nothing is known.
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

// sort orders what several servers had to say.
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

// missing says what to install for a file; specs are those that would serve it.
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
