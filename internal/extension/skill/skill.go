// Package skill finds, loads and installs skills. A skill is a directory with
// a file SKILL.md, as defined by agentskills.io: a name and a description,
// which a model always sees, and instructions, which it loads on demand, with
// further files. Skills are untrusted: nothing of them is run here, links are
// not followed, and an installed skill is only loaded while it is unchanged.
package skill

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// File is the name of the file that makes a directory a skill.
const File = "SKILL.md"

// The limits of a skill.
const (
	MaxName        = 64        // characters
	MaxDescription = 1024      // characters
	MaxText        = 256 << 10 // bytes of SKILL.md, and of a file that is read
	MaxFiles       = 500
	MaxDepth       = 8 // nesting of directories
	MaxFile        = 4 << 20
	MaxBytes       = 16 << 20 // bytes of all files
	maxShown       = 200      // files that are listed when it is loaded
)

// Skill is a skill that was found. All its texts are untrusted.
type Skill struct {
	Name          string             `json:"name"`
	Description   string             `json:"description"` // on one line
	License       string             `json:"license,omitempty"`
	Compatibility string             `json:"compatibility,omitempty"`
	Metadata      map[string]string  `json:"metadata,omitempty"`
	AllowedTools  []string           `json:"allowed_tools,omitempty"` // a wish without effect
	Origin        frontmatter.Origin `json:"origin"`
	Folder        string             `json:"dir"`              // absolute
	Commit        string             `json:"commit,omitempty"` // that it was installed from
	Faults        []string           `json:"faults,omitempty"` // problems that do not prevent its use

	tree frontmatter.Tree
	at   string // its directory in the tree
	hash string // hash of the installed skill; "" if it was not installed by pawl
}

// read reads SKILL.md in a directory.
func read(t frontmatter.Tree, at string) (Skill, string, error) {
	text, err := frontmatter.Read(t, filepath.Join(at, File), MaxText)
	if err != nil {
		return Skill{}, "", err
	}
	return parse(text, filepath.Base(at))
}

// parse parses a SKILL.md. dirName is the name of its directory; "" means any.
func parse(text []byte, dirName string) (Skill, string, error) {
	m, err := frontmatter.Parse(text)
	if err != nil {
		return Skill{}, "", err
	}
	s := Skill{
		Name: m.Text("name"), Description: oneLine(m.Text("description")), License: oneLine(m.Text("license")),
		Compatibility: oneLine(m.Text("compatibility")), Metadata: m.Pairs("metadata"), AllowedTools: m.Words("allowed-tools"),
	}
	for _, key := range m.Unknown() {
		m.Faults = append(m.Faults, fmt.Sprintf("unknown key %q", key))
	}
	s.Faults = m.Faults
	if err := s.setName(dirName); err != nil {
		return Skill{}, "", err
	}
	if s.Description == "" {
		return Skill{}, "", fault.New(pawl.ErrInvalid, "description is missing: it tells the model when to use the skill")
	}
	if runes := []rune(s.Description); len(runes) > MaxDescription {
		s.Description = string(runes[:MaxDescription-1]) + "…"
		s.Faults = append(s.Faults, fmt.Sprintf("the description is longer than %d characters: it is truncated", MaxDescription))
	}
	return s, sanitize.Unhidden(m.Body), nil
}

// setName checks the name. A name that breaks the rules of agentskills.io is
// accepted, with a fault, if it is a word.
func (s *Skill) setName(dirName string) error {
	if s.Name == "" && dirName != "" {
		s.Name = dirName
		s.Faults = append(s.Faults, "name is missing: the name of the directory is used")
	}
	switch {
	case !isWord(s.Name):
		return fault.New(pawl.ErrInvalid, "invalid name %.80q: use at most %d letters, digits and hyphens", s.Name, MaxName)
	case CheckName(s.Name) != nil:
		s.Faults = append(s.Faults, CheckName(s.Name).Error())
	}
	if dirName != "" && s.Name != dirName {
		s.Faults = append(s.Faults, fmt.Sprintf("name %q differs from the directory name %q", s.Name, dirName))
	}
	return nil
}

// CheckName returns an error for a name that agentskills.io does not allow.
func CheckName(name string) error {
	odd := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }
	if name == "" || len(name) > MaxName || strings.ContainsFunc(name, odd) || name[0] == '-' || strings.HasSuffix(name, "-") || strings.Contains(name, "--") {
		return errors.New("use 1 to 64 lowercase letters, digits and single hyphens")
	}
	return nil
}

// isWord reports whether a name is unambiguous.
func isWord(name string) bool {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	}
	return name != "" && len(name) <= MaxName && !strings.ContainsFunc(name, odd) && !strings.ContainsRune("-.", rune(name[0]))
}

// oneLine returns a text on one line, with invisible characters made visible.
func oneLine(text string) string { return sanitize.Line(strings.Join(strings.Fields(text), " ")) }
