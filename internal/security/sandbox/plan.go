package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/fault"
)

// maxGuards bounds the protected paths in a workspace. Deeper ones are only checked
// afterwards.
const maxGuards = 256

// plan is a profile with real paths and the existing files.
type plan struct {
	parts
	dir, work string
	readOnly  bool
	view      bool     // dir is copy-on-write
	dirs      []string // further project directories
	extra     []string // further writable directories
	readable  []string // wherever they are
	temp      string
	homes     []string
	home      homeView // what is visible of them
	masks     []mask
	apart     []mask // hidden, except for what of the above is in them
	strict    []mask // those of them that the profile names: the others are home directories
	env       []string

	guard   guard
	partial bool                // the workspace has more directories than were searched
	found   map[string]bool     // what the survey found
	known   map[string]identity // existing protected files
}

func newPlan(p Profile, program string, s *surveyor) (*plan, error) {
	dir, err := directory("workspace", p.Dir)
	if err != nil {
		return nil, err
	}
	pl := &plan{dir: dir, work: dir, readOnly: p.ReadOnly, view: len(p.Views) > 0, homes: homes(), env: environment(p), found: map[string]bool{}, known: map[string]identity{}}
	if pl.guard, err = newGuard(p); err != nil {
		return nil, err
	}
	if err := pl.addDirs(p); err != nil {
		return nil, err
	}
	if p.Work != "" {
		inProject := func(dir string) bool { return within(pl.work, dir) }
		if pl.work = resolve(p.Work); pl.work == "" || !slices.ContainsFunc(append([]string{dir}, pl.dirs...), inProject) {
			return nil, fault.New(ErrRefused, "%s is not a directory in the workspace %s", p.Work, dir)
		}
	}
	for _, path := range writableDirs(p) {
		if path, err = directory("writable directory", path); err != nil {
			return nil, err
		}
		pl.extra = append(pl.extra, path)
	}
	if p.Temp != "" {
		if pl.temp = resolve(p.Temp); pl.temp == "" || !filepath.IsAbs(pl.temp) {
			return nil, fmt.Errorf("directory for temporary files %s: %w", p.Temp, os.ErrNotExist)
		}
	}
	paths, err := readable(p.Readable)
	if err != nil {
		return nil, err
	}
	pl.readable = append(pl.readable, paths...)
	hidden := slices.DeleteFunc(slices.Clone(p.Hidden), func(path string) bool { return !filepath.IsAbs(path) })
	if pl.masks, err = hide(pl.homes, hidden); err != nil {
		return nil, err
	}
	for _, path := range slices.Concat([]string{dir}, pl.dirs, pl.extra, pl.readable) {
		if pl.hidden(path) {
			return nil, fault.New(ErrRefused, "%s is in a directory that is hidden from commands", path)
		}
	}
	private := privateHomes(pl.homes)
	pl.home = lookHome(private, pl.env, pl.masks, program)
	for _, path := range slices.Concat(p.Writable, p.Readable) {
		if home, rel := pl.home.split(path); home != "" {
			pl.home.addLinks(home, rel)
		}
	}
	pl.strict = findApart(p.Apart)
	pl.home.drop(pl.strict)
	pl.apart = findApart(slices.Concat(p.Apart, private))
	return pl, pl.look(p, s)
}

// writableDirs returns the directories besides the workspace that the command can write.
func writableDirs(p Profile) []string {
	if p.CacheHome == "" || slices.ContainsFunc(p.Caches, func(v View) bool { return v.Dir == p.CacheHome }) {
		return p.Writable
	}
	return append(slices.Clone(p.Writable), p.CacheHome)
}

// addDirs adds the further project directories. Those without a view can only be read.
func (pl *plan) addDirs(p Profile) error {
	for _, path := range p.Dirs {
		path, err := directory("project directory", path)
		if err != nil {
			return err
		}
		for _, other := range append([]string{pl.dir}, pl.dirs...) {
			if within(path, other) || within(other, path) {
				return fault.New(ErrRefused, "project directories %s and %s contain each other", path, other)
			}
		}
		pl.dirs = append(pl.dirs, path)
		if !slices.ContainsFunc(p.Views, func(v View) bool { return v.Dir == path }) {
			pl.readable = append(pl.readable, path)
		}
	}
	return nil
}

// lookFurther finds the files to hide in the further project directories.
func (pl *plan) lookFurther(s *surveyor) error {
	for _, dir := range pl.dirs {
		seen, err := s.survey(dir, pl.guard, viewDirs)
		if err != nil {
			return fmt.Errorf("scan the project directory: %w", err)
		}
		if seen.partial {
			return fault.New(ErrRefused, "%s has more than %d directories, too many to find the files to hide", dir, viewDirs)
		}
		for _, f := range seen.found {
			if path := resolve(f.path); f.hidden && path != "" && !within(dir, path) {
				pl.masks = append(pl.masks, mask{path, isFolder(path)})
			}
		}
	}
	return nil
}

// look finds the paths to protect in the workspace.
func (pl *plan) look(p Profile, s *surveyor) error {
	most := surveyDirs
	if pl.view {
		most = viewDirs
	}
	seen, err := s.survey(pl.dir, pl.guard, most)
	if err != nil {
		return fmt.Errorf("scan the workspace: %w", err)
	}
	pl.partial = seen.partial
	byPath := pl.masks
	for _, f := range seen.found {
		if f.hidden {
			// The target of a link is the secret, unless it contains the workspace.
			if path := resolve(f.path); path != "" && !within(pl.dir, path) {
				pl.masks = append(pl.masks, mask{path, isFolder(path)})
			}
			continue
		}
		pl.found[f.path] = true
		if !f.git || !f.dir { // a repository is for changing
			pl.known[f.path] = identityOf(f.path)
		}
		if len(pl.readonly)+len(pl.pinned) < maxGuards {
			pl.guardFinding(f)
		}
	}
	if err := pl.lookFurther(s); err != nil {
		return err
	}
	pl.showRepository()
	if pl.masks = outermost(pl.masks); len(pl.masks) > maxMasks {
		return errors.New("too many files in the workspace must be hidden: hide the directories that contain them instead")
	}
	if pl.readOnly {
		pl.parts = parts{}
		return nil
	}
	if pl.view {
		if pl.partial {
			return fault.New(ErrRefused, "%s has more than %d directories, too many to find the files to hide", pl.dir, most)
		}
		inView := func(path string) bool {
			return slices.ContainsFunc(p.Views, func(v View) bool { return within(path, v.Dir) })
		}
		pl.parts = parts{writable: slices.DeleteFunc(pl.writable, inView)} // nothing that the command writes in a view is in effect
		pl.dropApart()
		return nil
	}
	for _, name := range top(p) {
		path, ok := firstMissing(pl.dir, name)
		if !ok {
			pl.missing = append(pl.missing, path)
		} else if strings.Contains(name, "/") {
			pl.holdThere(path) // names without a directory are found by the survey
		}
	}
	pl.pinAbove(byPath)
	// Hidden paths need no protection, and mounting them would show them.
	for _, list := range []*[]string{&pl.readonly, &pl.pinned, &pl.missing, &pl.writable} {
		*list = slices.DeleteFunc(*list, pl.hidden)
	}
	pl.dropApart()
	slices.Sort(pl.missing)
	pl.missing = slices.Compact(pl.missing)
	for _, path := range slices.Concat(pl.readonly, pl.links) {
		pl.known[path] = identityOf(path)
	}
	for _, path := range pl.missing {
		delete(pl.known, path) // placeholders come and go
	}
	return nil
}

// dropApart drops the writable directories that are set apart: a repository must not
// make them writable.
func (pl *plan) dropApart() {
	pl.writable = slices.DeleteFunc(pl.writable, func(path string) bool { return len(holding(pl.strict, path)) > 0 || pl.hidden(path) })
}

// pinAbove keeps the directories above protected paths, and above paths that are hidden
// by path, from being moved: a command could replace them, or read hidden files under a
// new name. Files that are hidden by name stay hidden anywhere.
func (pl *plan) pinAbove(byPath []mask) {
	below := slices.Concat(pl.readonly, pl.pinned, pl.missing)
	for _, m := range byPath {
		below = append(below, m.path)
	}
	seen := map[string]bool{pl.dir: true}
	for _, path := range slices.Concat(pl.readonly, pl.pinned) {
		seen[path] = true
	}
	for _, path := range below {
		for dir := filepath.Dir(path); within(dir, pl.dir) && !seen[dir]; dir = filepath.Dir(dir) {
			if seen[dir] = true; len(pl.readonly)+len(pl.pinned) < maxGuards && isFolder(dir) {
				pl.pinned = append(pl.pinned, dir)
			}
		}
	}
}

// hidden reports whether a path is hidden.
func (pl *plan) hidden(path string) bool {
	return len(holding(pl.masks, path)) > 0 || pl.setApart(path)
}

// guardFinding protects what the survey found.
func (pl *plan) guardFinding(f finding) {
	switch {
	case !f.git || f.link:
		pl.hold(f.path)
	case f.dir:
		if info, err := os.Lstat(f.path); err == nil && isPlaceholder(f.path, info) {
			pl.missing = append(pl.missing, f.path)
			return
		}
		pl.gitFolder(f.path, pl.dir)
	default:
		pl.hold(f.path)
		if filepath.Dir(f.path) == pl.dir {
			pl.linkedWorktree(pl.dir)
		}
	}
}

// firstMissing returns the first part of a path that does not exist, or the whole path
// and true.
func firstMissing(dir, name string) (string, bool) {
	path := dir
	for part := range strings.SplitSeq(name, "/") {
		path = filepath.Join(path, part)
		if info, err := os.Lstat(path); err != nil || isPlaceholder(path, info) {
			return path, false
		}
	}
	return path, true
}

// writableRoots returns all writable directories, without that for temporary files.
func (pl *plan) writableRoots() []string {
	if pl.readOnly {
		return pl.extra
	}
	if pl.view {
		return slices.Concat(pl.extra, pl.writable)
	}
	return slices.Concat([]string{pl.dir}, pl.extra, pl.writable)
}

// isFolder reports whether a path is a directory, and no link to one.
func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
