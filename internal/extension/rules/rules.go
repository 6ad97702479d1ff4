// Package rules loads the instructions for agents (AGENTS.md, or CLAUDE.md in
// directories without it) of projects and users. The files are texts for the
// model and nothing else. Imports are reported but not read: a line in such a
// file could otherwise include any other file in the prompt.
package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// The limits of rules.
const (
	MaxBytes   = 32 << 10 // bytes of all files together, as a model gets them
	maxFile    = 1 << 20  // bytes of a file
	maxImports = 20       // imports that are reported
	maxLevels  = 64       // nesting of directories
)

// names are the rule files of a directory; the first that exists counts.
var names = []struct{ name, tool string }{{"AGENTS.md", "agents"}, {"CLAUDE.md", "claude"}}

// File is a file of rules. Its text is untrusted.
type File struct {
	Origin  frontmatter.Origin `json:"origin"`
	Text    string             `json:"-"`
	Bytes   int                `json:"bytes"`             // size of the file
	Given   int                `json:"given"`             // how many bytes the model gets
	Imports []string           `json:"imports,omitempty"` // imports that were ignored
}

// Set holds the rules of a directory, in the order in which the model gets
// them: the user's, then the project's from its top to the directory. Later
// ones are nearer.
type Set struct {
	Files  []File              `json:"files"`
	Faults []frontmatter.Fault `json:"faults,omitempty"`
}

// Load reads the rules. If they exceed MaxBytes together, files are truncated,
// with a note: first the project's from the top down, so that a project never
// displaces the user's.
func Load(s frontmatter.Sources) *Set {
	levels := s.Levels()
	slices.Reverse(levels)
	set := &Set{}
	for _, l := range user(levels) {
		set.add(l)
	}
	for _, l := range levels {
		if l.Layer == frontmatter.Project {
			set.add(l)
		}
	}
	set.fit(MaxBytes)
	return set
}

// user returns the directories with the user's rules: those of agents in the
// home directory, and Pawl's own.
func user(levels []frontmatter.Level) []frontmatter.Level {
	var found []frontmatter.Level
	for _, l := range levels {
		switch {
		case l.Own:
			found = append(found, l)
		case l.Layer == frontmatter.User:
			for _, at := range []string{".agents", ".claude", ".pawl"} {
				other := l
				other.At = at
				found = append(found, other)
			}
		}
	}
	return found
}

// add reads the rules of one directory, if there are any.
func (s *Set) add(l frontmatter.Level) {
	for _, n := range names {
		file := filepath.Join(l.Dir(), n.name)
		data, err := frontmatter.Read(l.Tree, filepath.Join(l.At, n.name), maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			s.Faults = append(s.Faults, frontmatter.Fault{File: file, Text: err.Error()})
			return // the other file does not count if this one exists
		}
		text, replaced := frontmatter.Clean(data)
		if replaced {
			s.Faults = append(s.Faults, frontmatter.Fault{File: file, Text: "the file is not valid UTF-8: invalid bytes are replaced"})
		}
		text = strings.TrimSpace(sanitize.Unhidden(text))
		if text == "" {
			return
		}
		f := File{Origin: frontmatter.Origin{File: file, Layer: l.Layer, Tool: n.tool}, Text: text, Bytes: len(text), Given: len(text), Imports: imports(text)}
		if len(f.Imports) > 0 {
			s.Faults = append(s.Faults, frontmatter.Fault{File: file, Text: fmt.Sprintf("imports of %s are not followed; the model can read the files itself", strings.Join(f.Imports, ", "))})
		}
		s.Files = append(s.Files, f)
		return
	}
}

// mention matches a word that may be a file to import.
var mention = regexp.MustCompile(`(?:^|\s)@([~\w./-]+)`)

// isPath reports whether such a word looks like a file path rather than the
// name of a person or a package.
func isPath(word string) bool {
	return filepath.Ext(word) != "" || slices.ContainsFunc([]string{"/", "./", "../", "~/"}, func(p string) bool { return strings.HasPrefix(word, p) })
}

// imports returns the imports in a text, ignoring code.
func imports(text string) []string {
	var found []string
	code := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		if code {
			continue
		}
		for _, m := range mention.FindAllStringSubmatch(line, -1) {
			if name := strings.TrimRight(m[1], "."); isPath(name) && len(found) < maxImports && !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	}
	return found
}

// fit truncates files to a total: first the project's from the top down, then
// the user's.
func (s *Set) fit(limit int) {
	total := 0
	var order []*File
	for _, layer := range []frontmatter.Layer{frontmatter.Project, frontmatter.User} {
		for i := range s.Files {
			if s.Files[i].Origin.Layer == layer {
				order = append(order, &s.Files[i])
				total += len(s.Files[i].Text)
			}
		}
	}
	for _, f := range order {
		if total <= limit {
			return
		}
		before := len(f.Text)
		f.cut(max(0, before-(total-limit)))
		total -= before - len(f.Text)
		s.Faults = append(s.Faults, frontmatter.Fault{File: f.Origin.File, Text: fmt.Sprintf("all rule files together have more than %d bytes: %d of %d bytes of this one are used", limit, f.Given, f.Bytes)})
	}
}

// cut truncates a text to a number of bytes, with a note.
func (f *File) cut(limit int) {
	note := fmt.Sprintf("\n\n(cut: read %s for the rest)", sanitize.Line(f.Origin.File))
	if limit < len(note) {
		f.Text, f.Given = "", 0
		return
	}
	end := limit - len(note)
	for end > 0 && !utf8.RuneStart(f.Text[end]) {
		end--
	}
	f.Text, f.Given = f.Text[:end]+note, end
}

// Prompt returns the rules for the model, each file with its path. It is
// deterministic.
func (s *Set) Prompt() string {
	var b strings.Builder
	for _, f := range s.Files {
		if f.Text == "" {
			fmt.Fprintf(&b, "Rules in %s are left out: all are too long.\n\n", sanitize.Line(f.Origin.File))
			continue
		}
		fmt.Fprintf(&b, "Rules from %s (%s):\n\n%s\n\n", sanitize.Line(f.Origin.File), f.Origin.Layer, f.Text)
	}
	return b.String()
}

// For returns the rules between the working directory and a file below it,
// outermost first, that Load has not returned. given holds the files, by
// Origin.File, that the model already has; the caller adds the returned ones.
// Together they are limited to MaxBytes. A file elsewhere has no rules.
func For(s frontmatter.Sources, file string, given map[string]bool) *Set {
	set := &Set{}
	if s.Project.Tree == nil || s.Trusted == nil {
		return set
	}
	base := filepath.Clean(s.Dir)
	rel, err := filepath.Rel(filepath.Join(s.Project.Path, base), file)
	if err != nil || !filepath.IsLocal(base) || !filepath.IsLocal(rel) || rel == "." {
		return set
	}
	parts := strings.Split(filepath.Dir(rel), string(filepath.Separator))
	if parts[0] == "." || len(parts) > maxLevels {
		return set
	}
	for i := range parts {
		l := frontmatter.Level{Directory: s.Project, Layer: frontmatter.Project, At: filepath.Join(base, filepath.Join(parts[:i+1]...))}
		if s.Trusted(l.Dir()) {
			set.add(l)
		}
	}
	set.Files = slices.DeleteFunc(set.Files, func(f File) bool { return given[f.Origin.File] })
	set.Faults = slices.DeleteFunc(set.Faults, func(f frontmatter.Fault) bool { return given[f.File] })
	set.fit(MaxBytes)
	return set
}
