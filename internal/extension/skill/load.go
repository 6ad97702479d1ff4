package skill

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/suggest"
)

// Loaded is a skill with its instructions.
type Loaded struct {
	Skill
	Body  string
	Files []string // besides SKILL.md, relative to the directory, with slashes
	More  int      // number of files that are not listed
}

// Find returns the skill with that name.
func (s *Set) Find(name string) (Skill, bool) {
	i := slices.IndexFunc(s.Skills, func(k Skill) bool { return k.Name == name })
	if i < 0 {
		return Skill{}, false
	}
	return s.Skills[i], true
}

// Unused explains why a skill in a directory of that name is not in the set;
// "" if no such directory exists. In untrusted directories it only checks that
// it exists and reads nothing. The text is untrusted.
func (s *Set) Unused(name string) string {
	if !isWord(name) {
		return ""
	}
	for _, f := range s.Faults {
		if filepath.Base(filepath.Dir(f.File)) == name {
			return f.Text
		}
	}
	for _, level := range s.untrusted {
		for _, p := range places {
			root, err := level.Tree.RealFolder(filepath.Join(level.At, filepath.FromSlash(p.path), name))
			if err == nil {
				_ = root.Close() // nothing was read
				return fmt.Sprintf("%s is not trusted, or has changed since: ask the user to run `pawl trust`", level.Dir())
			}
		}
	}
	return ""
}

// Search returns the skills whose name or description contains a word.
func (s *Set) Search(word string) []Skill {
	word = strings.ToLower(strings.TrimSpace(word))
	if word == "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Skills), func(k Skill) bool {
		return !strings.Contains(strings.ToLower(k.Name+" "+k.Description), word)
	})
}

// Load returns a skill's current instructions. It returns pawl.ErrNotFound if
// there is no skill with that name, ErrChanged if it is not what was
// installed.
func (s *Set) Load(name string) (Loaded, error) {
	k, err := s.fresh(name)
	if err != nil {
		return Loaded{}, err
	}
	_, body, err := read(k.tree, k.at)
	if err != nil {
		return Loaded{}, fmt.Errorf("load skill %s: %w", name, err)
	}
	c, err := look(k.tree, k.at)
	if err != nil {
		return Loaded{}, fmt.Errorf("load skill %s: %w", name, err)
	}
	files := slices.DeleteFunc(c.files, func(name string) bool { return name == File || strings.ContainsFunc(name, unprintable) })
	shown := files[:min(len(files), maxShown)]
	return Loaded{Skill: k, Body: strings.TrimSpace(body), Files: shown, More: len(files) - len(shown)}, nil
}

// unprintable reports whether a character could break a name into lines.
func unprintable(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }

// ReadFile returns a file of a skill by its path relative to the skill's
// directory. It must be a regular file there, not reached through a link.
func (s *Set) ReadFile(name, file string) ([]byte, error) {
	k, err := s.fresh(name)
	if err != nil {
		return nil, err
	}
	rel := filepath.FromSlash(file)
	if !filepath.IsLocal(rel) {
		return nil, fault.New(pawl.ErrDenied, "%.200q is not a valid path in skill %s: use a path relative to the skill's directory", file, name)
	}
	text, err := frontmatter.Read(k.tree, filepath.Join(k.at, rel), MaxText)
	if err != nil {
		return nil, fmt.Errorf("read %.200q of skill %s: %w", file, name, err)
	}
	return text, nil
}

// fresh returns a skill that is still what was installed.
func (s *Set) fresh(name string) (Skill, error) {
	k, ok := s.Find(name)
	if !ok {
		var names []string
		for _, k := range s.Skills {
			names = append(names, k.Name)
		}
		return Skill{}, fault.New(pawl.ErrNotFound, "unknown skill %.80q%s", name, suggest.Ask("", name, names))
	}
	if err := k.verify(); err != nil {
		return Skill{}, fmt.Errorf("skill %s: %w", name, err)
	}
	return k, nil
}
