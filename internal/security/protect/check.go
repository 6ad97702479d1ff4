package protect

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// Refusal is a change that must not be applied.
type Refusal struct {
	Path   string
	Unit   string // all changes of this unit are refused; "" means only this one
	Reason string // completes "it was not applied because ..."
}

// Check decides which changes of a command to apply. The lower directory is the tree before the command, the upper
// directory has the new contents, and root is the path at which the command saw the tree. changes lists every entry
// that differs, the contents of new and deleted directories included.
//
// It returns the changes to apply, with their units. Of a refused unit it returns a refusal for each change that caused
// it. A change that it neither returns nor refuses has no use outside of the command: a lock, a temporary object, a
// cache of git that git builds again. A modified cache of git becomes a deletion.
func Check(ctx context.Context, root, upper, lower string, changes []tree.Change) ([]tree.Change, []Refusal, error) {
	if len(changes) == 0 {
		return nil, nil, nil
	}
	v, err := newView(upper, lower, changes)
	if err != nil {
		return nil, nil, err
	}
	defer v.close()
	c := &checker{view: v, root: path.Clean(root), outcomes: make([]outcome, len(changes)), repos: map[string]*repo{}}
	c.configured = c.configuredPaths()
	for i := range changes {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		c.sort(i)
	}
	c.pairWorktrees()
	for _, r := range c.repos {
		if err := r.check(ctx); err != nil {
			return nil, nil, err
		}
	}
	c.checkDeletedDirs()
	allowed, refused := c.results()
	return allowed, refused, nil
}

// outcome is the decision about one change.
type outcome struct {
	unit   string
	reason string // why it is refused, or ""
	drop   bool   // neither applied nor refused
	remove bool   // applied as a deletion
}

// checker decides about the changes of one command.
type checker struct {
	*view
	root       string
	outcomes   []outcome // by index of the change
	repos      map[string]*repo
	pointers   []int             // files .git
	configured map[string]string // reasons, by folded path, that the project itself configures
}

// sort decides about a change outside of repositories, and assigns others to their repository.
func (c *checker) sort(i int) {
	change := c.changes[i]
	if unit, below := c.newBare(change.Path); unit != none {
		if c.outcomes[i].unit = unit; !strings.Contains(below, "/") {
			c.outcomes[i].reason = "it creates a bare git repository, whose configuration can run programs"
		}
		return
	}
	dir, rest := c.repository(change.Path)
	switch {
	case dir == otherSpelling:
		c.outcomes[i].reason = "another spelling of .git"
	case dir == none:
		c.outcomes[i] = c.checkName(change)
	case rest == "" && (change.New.Type == tree.File || change.Old.Type == tree.File):
		c.pointers = append(c.pointers, i)
	default:
		r := c.repos[dir]
		if r == nil {
			r = c.newRepo(dir)
			c.repos[dir] = r
		}
		r.changes = append(r.changes, i)
	}
}

// Paths that do not exist.
const (
	none          = "\x00"
	otherSpelling = "\x00.git"
)

// repository returns the git directory that a path belongs to and the path below it, or none, or otherSpelling.
func (c *checker) repository(name string) (dir, rest string) {
	elements := strings.Split(name, "/")
	for i, element := range elements {
		dir, rest := strings.Join(elements[:i], "/"), strings.Join(elements[i:], "/")
		switch {
		case c.gitDirBefore(dir):
			return dir, rest
		case element == ".git":
			return path.Join(dir, ".git"), strings.Join(elements[i+1:], "/")
		case slices.Contains(strings.Split(Fold(element), "/"), ".git"):
			return otherSpelling, ""
		}
	}
	return none, ""
}

// newBare returns the directory that a path is in and that the command made a git directory, if its name is not .git,
// and the path below it, or none.
func (c *checker) newBare(name string) (unit, below string) {
	elements := strings.Split(name, "/")
	for i, element := range elements {
		dir := strings.Join(elements[:i], "/")
		if element == ".git" || c.gitDirBefore(dir) {
			break
		}
		if slices.Contains(bareNames, FoldName(element)) && c.gitDirAfter(dir) {
			return path.Join(".", dir), strings.Join(elements[i:], "/")
		}
	}
	return none, ""
}

// checkName decides about a change outside of repositories.
func (c *checker) checkName(change tree.Change) outcome {
	reason := Reason(change.Path)
	if reason == "" {
		reason = c.configuredReason(change)
	}
	switch {
	case reason != "" && c.unchanged(change):
		return outcome{drop: true}
	case reason != "":
		return outcome{reason: reason}
	case change.New.Type == tree.Other:
		return outcome{reason: "it is a socket, FIFO or device"}
	case change.New.Type == tree.Link && Above(change.Path):
		return outcome{reason: "the link can put a protected name into this directory"}
	}
	return outcome{}
}

// checkDeletedDirs refuses to delete or replace a directory that contains a protected name.
func (c *checker) checkDeletedDirs() {
	units := c.refusedUnits()
	kept := func(name string) bool {
		i, ok := c.byPath[name]
		return !ok || c.outcomes[i].reason != "" || units[c.outcomes[i].unit]
	}
	for i, change := range c.changes {
		if o := &c.outcomes[i]; o.reason == "" && o.unit == "" && change.Old.Type == tree.Dir && change.New.Type != tree.Dir {
			o.reason = c.protectedBelow(change.Path, kept)
		}
	}
}

// refusedUnits returns the units with a refused change.
func (c *checker) refusedUnits() map[string]bool {
	units := map[string]bool{}
	for _, o := range c.outcomes {
		if o.reason != "" && o.unit != "" {
			units[o.unit] = true
		}
	}
	return units
}

// configuredReason returns why the configuration of the project protects a path, or "".
func (c *checker) configuredReason(change tree.Change) string {
	folded := Fold(change.Path)
	for name, reason := range c.configured {
		above := strings.HasPrefix(name, folded+"/") && change.New.Type != tree.Dir
		if above || folded == name || strings.HasPrefix(folded, name+"/") {
			return reason
		}
	}
	return ""
}

// results returns the changes to apply and the refusals, in the order of the changes.
func (c *checker) results() (allowed []tree.Change, refused []Refusal) {
	units := c.refusedUnits()
	for i, o := range c.outcomes {
		change := c.changes[i]
		switch {
		case o.reason != "":
			refused = append(refused, Refusal{change.Path, o.unit, o.reason})
		case o.drop || units[o.unit]:
		default:
			if change.Unit = o.unit; o.remove {
				change.New, change.SameContent = tree.Stat{}, false
			}
			allowed = append(allowed, change)
		}
	}
	return allowed, refused
}
