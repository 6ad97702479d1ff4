// Package skill finds skills, gives out what they say, and installs them. A
// skill is a directory with a file SKILL.md, as agentskills.io describes it: a name
// and a description, which a model always sees, and instructions, which it asks
// for, with files beside them. It is what a stranger wrote: nothing of it is run
// here, no link in it is followed, and what was installed is loaded only as long
// as it is what was installed.
package skill

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// File is the name of a skill's own file.
const File = "SKILL.md"

// The bounds of a skill.
const (
	MaxName        = 64        // characters
	MaxDescription = 1024      // characters
	MaxText        = 256 << 10 // bytes of SKILL.md, and of a file that is read
	MaxFiles       = 500
	MaxDepth       = 8 // of directories in one another
	MaxFile        = 4 << 20
	MaxBytes       = 16 << 20 // of all files
	maxShown       = 200      // files that are named when it is loaded
)

// Skill is one that was found. All texts in it are strangers'.
type Skill struct {
	Name          string             `json:"name"`
	Description   string             `json:"description"` // on one line
	License       string             `json:"license,omitempty"`
	Compatibility string             `json:"compatibility,omitempty"`
	Metadata      map[string]string  `json:"metadata,omitempty"`
	AllowedTools  []string           `json:"allowed_tools,omitempty"` // a wish: it grants nothing
	Origin        frontmatter.Origin `json:"origin"`
	Folder        string             `json:"folder"`           // absolute
	Commit        string             `json:"commit,omitempty"` // that it was installed from
	Faults        []string           `json:"faults,omitempty"` // what is wrong with it, though it can be used

	tree frontmatter.Tree
	at   string // its directory in the tree
	hash string // of what was installed; "" if it was put there by hand
}

// read reads SKILL.md in a directory.
func read(t frontmatter.Tree, at string) (Skill, string, error) {
	text, err := frontmatter.Read(t, filepath.Join(at, File), MaxText)
	if err != nil {
		return Skill{}, "", err
	}
	return parse(text, filepath.Base(at))
}

// parse reads the text of a SKILL.md. directory is the name of the directory that it
// is in; "" means that it may be any.
func parse(text []byte, folder string) (Skill, string, error) {
	m, err := frontmatter.Parse(text)
	if err != nil {
		return Skill{}, "", err
	}
	s := Skill{
		Name: m.Text("name"), Description: oneLine(m.Text("description")), License: oneLine(m.Text("license")),
		Compatibility: oneLine(m.Text("compatibility")), Metadata: m.Pairs("metadata"), AllowedTools: m.Words("allowed-tools"),
	}
	for _, key := range m.Unknown() {
		m.Faults = append(m.Faults, fmt.Sprintf("the key %q is not known", key))
	}
	s.Faults = m.Faults
	if err := s.setName(folder); err != nil {
		return Skill{}, "", err
	}
	if s.Description == "" {
		return Skill{}, "", fmt.Errorf("it has no description: without one nobody knows when to use it: %w", pawl.ErrInvalid)
	}
	if runes := []rune(s.Description); len(runes) > MaxDescription {
		s.Description = string(runes[:MaxDescription-1]) + "…"
		s.Faults = append(s.Faults, fmt.Sprintf("the description has more than %d characters: it is cut", MaxDescription))
	}
	return s, sanitize.Unhidden(m.Body), nil
}

// setName checks the name. One that breaks the rules is used all the same, if it
// is a word.
func (s *Skill) setName(folder string) error {
	if s.Name == "" && folder != "" {
		s.Name = folder
		s.Faults = append(s.Faults, "it has no name: that of its folder is taken")
	}
	switch {
	case !isWord(s.Name):
		return fmt.Errorf("its name, %.80q, is no word of up to %d letters, digits and hyphens: %w", s.Name, MaxName, pawl.ErrInvalid)
	case CheckName(s.Name) != nil:
		s.Faults = append(s.Faults, CheckName(s.Name).Error())
	}
	if folder != "" && s.Name != folder {
		s.Faults = append(s.Faults, fmt.Sprintf("its name is %q and its folder's is %q: they are to be the same", s.Name, folder))
	}
	return nil
}

// CheckName refuses a name that agentskills.io does not permit.
func CheckName(name string) error {
	odd := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }
	if name == "" || len(name) > MaxName || strings.ContainsFunc(name, odd) || name[0] == '-' || strings.HasSuffix(name, "-") || strings.Contains(name, "--") {
		return errors.New("a name has 1 to 64 lower case letters, digits and single hyphens between them")
	}
	return nil
}

// isWord reports whether a name cannot be anything but a name.
func isWord(name string) bool {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	}
	return name != "" && len(name) <= MaxName && !strings.ContainsFunc(name, odd) && !strings.ContainsRune("-.", rune(name[0]))
}

// oneLine makes a text one line on which all shows.
func oneLine(text string) string { return sanitize.Line(strings.Join(strings.Fields(text), " ")) }
