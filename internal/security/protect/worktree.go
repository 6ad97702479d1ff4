package protect

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// linkedDir matches the directory of a linked worktree, and the git directory that it is in.
var linkedDir = regexp.MustCompile(`^(?:(.*)/)?worktrees/[^/]+$`)

// pairWorktrees decides about files .git. A new one must belong to a worktree that the same command registered in a
// repository of the tree, because such a file could name any repository. Then it is a part of that repository's unit.
func (c *checker) pairWorktrees() {
	for _, i := range c.pointers {
		change, o := c.changes[i], &c.outcomes[i]
		var text []byte
		var err error
		paired := false
		switch {
		case c.unchanged(change):
			o.drop = true
			continue
		case change.Old.Type == tree.Missing && change.New.Type == tree.File:
			text, err = readFile(c.upper, change.Path, maxState)
			target := c.pointerTarget(text)
			paired = err == nil && target != none && c.typeAfter(path.Join(target, "gitdir")) == tree.File && c.linkBack(target) == change.Path
		case change.Old.Type == tree.File && change.New.Type == tree.Missing:
			text, err = readFile(c.lower, change.Path, maxState)
			target := c.pointerTarget(text)
			paired = err == nil && target != none && c.typeAfter(target) == tree.Missing
		}
		owner := ""
		if m := linkedDir.FindStringSubmatch(c.pointerTarget(text)); m != nil {
			owner = m[1]
		}
		r := c.repos[owner]
		if !paired || r == nil {
			o.reason = "a file .git can make git use another repository, whose configuration can run programs"
			continue
		}
		r.changes = append(r.changes, i)
	}
}

// pointerTarget returns the path in the tree that a file .git names, or none.
func (c *checker) pointerTarget(text []byte) string {
	target, ok := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), "gitdir: ")
	if !ok {
		return none
	}
	return c.inTree(target)
}

// inTree makes an absolute path relative to the tree, or returns none.
func (c *checker) inTree(name string) string {
	rel, ok := strings.CutPrefix(name, strings.TrimSuffix(c.root, "/")+"/")
	if !ok || rel == "" || !filepath.IsLocal(rel) || path.Clean(rel) != rel || strings.Contains(rel, "\n") {
		return none
	}
	return rel
}

// linkBack returns the path of the file .git that the directory of a linked worktree names after the command, or none.
func (c *checker) linkBack(dir string) string {
	text, err := c.readAfter(path.Join(dir, "gitdir"), maxState)
	if err != nil {
		return none
	}
	return c.inTree(strings.TrimSuffix(string(text), "\n"))
}

// checkWorktreeFile returns why a file that connects a linked worktree with its repository must not change, or "".
func (r *repo) checkWorktreeFile(inner, rest string, change tree.Change) string {
	const redirects = "it makes git use another directory, whose configuration can run programs"
	if !linkedDir.MatchString(inner) {
		return redirects
	}
	dir := path.Join(r.dir, inner)
	if change.New.Type == tree.Missing {
		if rest == "commondir" && r.typeAfter(path.Join(dir, "gitdir")) == tree.Missing {
			return ""
		}
		text, err := readFile(r.lower, change.Path, maxState)
		if back := r.inTree(strings.TrimSuffix(string(text), "\n")); rest == "gitdir" && err == nil && back != none && r.typeAfter(back) == tree.Missing {
			return ""
		}
		return "it removes a worktree that is outside of the project"
	}
	text, err := readFile(r.upper, change.Path, maxState)
	switch {
	case err != nil || change.Old.Type != tree.Missing || change.New.Type != tree.File:
		return redirects
	case rest == "commondir" && string(text) == "../..\n":
		return ""
	case rest == "gitdir":
		back := r.inTree(strings.TrimSuffix(string(text), "\n"))
		pointer, err := r.readAfter(back, maxState)
		if back != none && path.Base(back) == ".git" && err == nil && r.pointerTarget(pointer) == dir {
			return ""
		}
	}
	return redirects
}

// maxIncludes bounds the configuration files that are read for the paths that they name.
const maxIncludes = 64

// configuredPaths returns the paths in the tree from which git runs hooks or takes configuration, because the
// configuration of the repository at the top names them, and the targets of protected names that are links.
func (c *checker) configuredPaths() map[string]string {
	found := map[string]string{}
	queue := []string{".git/config", ".git/config.worktree"}
	if c.typeBefore(".git") == tree.File {
		queue = c.readSettings(found, nil, c.linkedConfig(), none)
	}
	for n := 0; n < len(queue) && n < maxIncludes; n++ {
		if text, err := readFile(c.lower, queue[n], maxState); err == nil {
			queue = c.readSettings(found, queue, text, parent(queue[n]))
		}
	}
	c.addLinkTargets(found)
	return found
}

// readSettings adds the paths that a configuration in dir names, and adds the included files to queue.
func (c *checker) readSettings(found map[string]string, queue []string, text []byte, dir string) []string {
	conf, _ := parseConfig(text) // up to an error
	for _, s := range conf.settings {
		switch {
		case s.section == "core" && s.key == "hookspath":
			c.addConfigured(found, "", s.value, "git runs hooks from it: core.hooksPath names it")
		case strings.HasPrefix(s.section, "include") && s.key == "path":
			if name := c.addConfigured(found, dir, s.value, "the git configuration includes it"); name != "" {
				queue = append(queue, name)
			}
		}
	}
	return queue
}

// linkedConfig returns the configuration of the repository that the tree is a linked worktree of. The file .git and
// what it names are the user's: commands cannot change them.
func (c *checker) linkedConfig() []byte {
	text, err := readFile(c.lower, ".git", maxState)
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !ok {
		return nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.root, dir)
	}
	for _, common := range []string{filepath.Dir(filepath.Dir(dir)), dir} { // a worktree or a submodule
		root, err := os.OpenRoot(common)
		if err != nil {
			continue
		}
		text, err := readFile(root, "config", maxState)
		_ = root.Close()
		if err == nil {
			return text
		}
	}
	return nil
}

// addConfigured adds a path that a configuration in dir names, if it is in the tree, and returns it, else "". dir is none if it is
// outside of the tree.
func (c *checker) addConfigured(found map[string]string, dir, name, reason string) string {
	switch {
	case path.IsAbs(name):
		name = c.inTree(path.Clean(name))
	case dir == none:
		return ""
	default:
		name = path.Join(dir, name)
	}
	if name == none || name == "." || !filepath.IsLocal(name) || strings.HasPrefix(name, "~") {
		return ""
	}
	found[Fold(name)] = reason
	return name
}

// addLinkTargets adds the targets of links at the top of the tree that have protected names.
func (c *checker) addLinkTargets(found map[string]string) {
	top, err := c.lower.Open(".")
	if err != nil {
		return
	}
	defer top.Close()
	entries, _ := top.Readdirnames(-1)
	for _, name := range entries {
		if !Entry(name) || c.typeBefore(name) != tree.Link {
			continue
		}
		if target, err := c.lower.Readlink(name); err == nil {
			c.addConfigured(found, "", target, "the protected name "+name+" links to it")
		}
	}
}
