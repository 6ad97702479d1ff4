// Package definition loads the agents and commands that people define in
// Markdown files, in Pawl's own format and in those of other agents. The files
// are untrusted: settings that Pawl does not know, or that their author may
// not use, are reported and ignored.
package definition

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// The limits of a definition.
const (
	maxText        = 256 << 10 // bytes of a file
	maxName        = 64        // characters of a name, and of each part of it
	maxDescription = 1024      // characters
	maxDepth       = 4         // nesting of directories
	maxDefined     = 500       // definitions of a kind
)

// place is a directory of definitions, with the tool whose format they have.
type place struct{ path, tool string }

// item is a definition file.
type item struct {
	name   string // without its extension, with colons between directories
	origin frontmatter.Origin
	text   []byte
}

// Hidden is a definition that another one with its name overrides.
type Hidden struct {
	Name string             `json:"name"`
	File frontmatter.Origin `json:"file"`
	By   frontmatter.Origin `json:"by"`
}

// find reads the definition files of all levels: the nearest of the project
// first, the user's last. deep says whether to read subdirectories.
func find(s frontmatter.Sources, shared, home, own []place, deep bool, take func(item)) []frontmatter.Fault {
	var faults []frontmatter.Fault
	for _, level := range s.Levels() {
		places := shared
		switch {
		case level.Own:
			places = own
		case level.Layer == frontmatter.User:
			places = slices.Concat(shared, home)
		}
		for _, p := range places {
			w := walker{level: level, place: p, deep: deep, take: take}
			w.folder("", 0)
			faults = append(faults, w.faults...)
		}
	}
	return faults
}

// kind describes how definitions of a kind are found and read.
type kind[T any] struct {
	shared, home, own []place
	deep              bool
	read              func(item) (*T, error) // nil means that the file disables itself
	refuse            func(item) string      // why an item must not have its name; "" if it may
	origin            func(T) frontmatter.Origin
}

// all returns the definitions of the kind by name, those that are overridden,
// and the problems of the others.
func (k kind[T]) all(s frontmatter.Sources) (list []T, hidden []Hidden, faults []frontmatter.Fault) {
	found := map[string]T{}
	var wrong []frontmatter.Fault
	faults = find(s, k.shared, k.home, k.own, k.deep, func(i item) {
		one, err := k.read(i)
		why := k.refuse(i)
		if why == "" && err != nil {
			why = err.Error()
		}
		switch first, taken := found[i.name]; {
		case why != "":
			wrong = append(wrong, frontmatter.Fault{File: i.origin.File, Text: why})
		case taken:
			hidden = append(hidden, Hidden{Name: i.name, File: i.origin, By: k.origin(first)})
		case one != nil:
			found[i.name] = *one
		}
	})
	for _, name := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[name])
	}
	return list, hidden, append(faults, wrong...)
}

// walker reads one directory of definitions.
type walker struct {
	level  frontmatter.Level
	place  place
	deep   bool
	take   func(item)
	count  int
	faults []frontmatter.Fault
}

func (w *walker) at(rel string) string {
	return filepath.Join(w.level.At, filepath.FromSlash(w.place.path), rel)
}

func (w *walker) fault(rel, text string) {
	w.faults = append(w.faults, frontmatter.Fault{File: filepath.Join(w.level.Path, w.at(rel)), Text: text})
}

func (w *walker) folder(rel string, depth int) {
	entries, err := frontmatter.Entries(w.level.Tree, w.at(rel))
	if err != nil {
		w.fault(rel, fmt.Sprintf("cannot read the directory: %v", err))
		return
	}
	for _, e := range entries {
		name := filepath.Join(rel, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir() && w.deep && depth == maxDepth:
			w.fault(name, fmt.Sprintf("more than %d directories deep", maxDepth))
		case e.IsDir() && w.deep:
			w.folder(name, depth+1)
		case e.IsDir(), filepath.Ext(e.Name()) != ".md":
		case w.count == maxDefined:
			w.fault("", fmt.Sprintf("more than %d files: the others are ignored", maxDefined))
			w.count++
		case w.count < maxDefined:
			w.count++
			w.file(name)
		}
	}
}

func (w *walker) file(rel string) {
	name := strings.ReplaceAll(strings.TrimSuffix(filepath.ToSlash(rel), ".md"), "/", ":")
	if err := checkName(name); err != nil {
		w.fault(rel, err.Error())
		return
	}
	text, err := frontmatter.Read(w.level.Tree, w.at(rel), maxText)
	if err != nil {
		w.fault(rel, err.Error())
		return
	}
	w.take(item{name: name, text: text, origin: frontmatter.Origin{File: filepath.Join(w.level.Path, w.at(rel)), Layer: w.level.Layer, Tool: w.place.tool}})
}

// checkName returns an error for names that cannot be typed or are ambiguous.
func checkName(name string) error {
	for part := range strings.SplitSeq(name, ":") {
		odd := func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
		}
		if part == "" || len(part) > maxName || strings.ContainsFunc(part, odd) || strings.ContainsAny(part[:1], "-.") {
			return fault.New(pawl.ErrInvalid, "invalid name: use at most %d letters, digits, hyphens, dots and underscores", maxName)
		}
	}
	return nil
}

// describe returns the description on one line. It reports a fault if it is
// missing or too long.
func describe(m *frontmatter.Matter) string {
	text := sanitize.Line(strings.Join(strings.Fields(m.Text("description")), " "))
	if runes := []rune(text); len(runes) > maxDescription {
		m.Faults = append(m.Faults, fmt.Sprintf("the description is longer than %d characters: it is truncated", maxDescription))
		return string(runes[:maxDescription-1]) + "…"
	}
	return text
}

// unknown returns the keys that are not used, as warnings.
func unknown(m *frontmatter.Matter) []string {
	var faults []string
	for _, key := range m.Unknown() {
		faults = append(faults, fmt.Sprintf("unknown key %q", key))
	}
	return faults
}

var errEmpty = errors.New("the file has no prompt: write it below the front matter")
