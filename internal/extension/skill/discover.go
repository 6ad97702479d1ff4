package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/fault"
)

// place is a directory of skills, with the tool that it belongs to.
type place struct{ path, tool string }

// The directories of skills; on each level the first takes precedence. Several
// tools use the first one: some installers put skills there, with links to
// them in the others.
var (
	places     = []place{{".agents/skills", "agents"}, {".pawl/skills", "pawl"}, {".claude/skills", "claude"}, {".opencode/skill", "opencode"}, {".opencode/skills", "opencode"}}
	homePlaces = []place{{".config/opencode/skill", "opencode"}, {".config/opencode/skills", "opencode"}}
	ownPlaces  = []place{{"skills", "pawl"}}
)

// Hidden is a skill that another one with its name overrides.
type Hidden struct {
	Name string             `json:"name"`
	File frontmatter.Origin `json:"file"`
	By   frontmatter.Origin `json:"by"`
}

// Set holds the skills that can be used in a directory.
type Set struct {
	Skills []Skill             `json:"skills"`           // sorted by name, without duplicates
	Hidden []Hidden            `json:"hidden,omitempty"` // in the order in which they were found
	Faults []frontmatter.Fault `json:"faults,omitempty"` // problems of skills that cannot be used

	untrusted []frontmatter.Level
}

// Discover finds skills. Those of the project, nearest first, take precedence
// over the user's. It follows no links. A skill that has changed since it was
// installed is reported as a fault.
func Discover(s frontmatter.Sources) *Set {
	f := &finder{set: Set{untrusted: s.Untrusted()}, found: map[string]Skill{}, seen: map[string]bool{}}
	for _, level := range s.Levels() {
		f.links = map[string]string{}
		look := places
		switch {
		case level.Own:
			look = ownPlaces
		case level.Layer == frontmatter.User:
			look = slices.Concat(places, homePlaces)
		}
		for _, p := range look {
			f.directory(level, p)
		}
		f.reportLinks(level)
	}
	for _, name := range slices.Sorted(maps.Keys(f.found)) {
		f.set.Skills = append(f.set.Skills, f.found[name])
	}
	return &f.set
}

// finder collects a set.
type finder struct {
	set   Set
	found map[string]Skill
	seen  map[string]bool   // directories of all usable skills, overridden or not
	links map[string]string // links of one level: names by path
}

func (f *finder) fault(file, text string) {
	f.set.Faults = append(f.set.Faults, frontmatter.Fault{File: file, Text: text})
}

// directory reads one directory of skills.
func (f *finder) directory(level frontmatter.Level, p place) {
	at := filepath.Join(level.At, filepath.FromSlash(p.path))
	show := func(name string) string { return filepath.Join(level.Path, at, name) }
	entries, err := frontmatter.Entries(level.Tree, at)
	if err != nil {
		f.fault(show(""), fmt.Sprintf("cannot read the directory: %v", err))
		return
	}
	if len(entries) == 0 {
		return
	}
	lock, err := readLock(level.Tree, at)
	if err != nil {
		f.fault(show(LockFile), fmt.Sprintf("the skills in this directory are not used, because they cannot be verified: %v", err))
		return
	}
	for _, e := range entries {
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.Type()&fs.ModeSymlink != 0:
			f.links[show(e.Name())] = e.Name()
		case e.IsDir():
			f.one(level, p, filepath.Join(at, e.Name()), lock.Skills[e.Name()])
		}
	}
}

// one reads one skill. entry is the zero value if it was not installed by
// pawl.
func (f *finder) one(level frontmatter.Level, p place, at string, entry Entry) {
	file := filepath.Join(level.Path, at, File)
	s, _, err := read(level.Tree, at)
	if errors.Is(err, fs.ErrNotExist) {
		err = fault.New(pawl.ErrNotFound, "not found")
	}
	if err != nil {
		f.fault(file, err.Error())
		return
	}
	s.Origin = frontmatter.Origin{File: file, Layer: level.Layer, Tool: p.tool}
	s.Folder, s.tree, s.at, s.hash, s.Commit = filepath.Join(level.Path, at), level.Tree, at, entry.SHA256, entry.Commit
	if err := s.verify(); err != nil {
		f.fault(file, err.Error())
		return
	}
	f.seen[s.Folder] = true
	if first, taken := f.found[s.Name]; taken {
		f.set.Hidden = append(f.set.Hidden, Hidden{Name: s.Name, File: s.Origin, By: first.Origin})
		return
	}
	f.found[s.Name] = s
}

// ErrChanged means that a skill is not what was installed.
var ErrChanged = errors.New("the skill has changed since it was installed")

// verify compares a skill with what was installed.
func (s Skill) verify() error {
	if s.hash == "" {
		return nil
	}
	got, _, err := hashFolder(s.tree, s.at)
	if err == nil && got == s.hash {
		return nil
	}
	why := ""
	if err != nil {
		why = ": " + err.Error()
	}
	return fault.New(pawl.ErrDenied, "%w%s: review it, then install it again or remove it", ErrChanged, why)
}

// reportLinks reports links that were ignored. Links to a skill that was found
// on the same level, as installers create them, are not reported.
func (f *finder) reportLinks(level frontmatter.Level) {
	for _, path := range slices.Sorted(maps.Keys(f.links)) {
		shared := filepath.Join(level.Dir(), filepath.FromSlash(places[0].path), f.links[path])
		if !f.seen[shared] {
			f.fault(path, "symbolic links are not followed: put the directory itself here, or into "+places[0].path)
		}
	}
}
