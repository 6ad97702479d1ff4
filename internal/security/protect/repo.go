package protect

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// bareNames are the entries of a git directory by which git finds it, and those that make git run programs.
var bareNames = []string{"head", "objects", "refs", "commondir", "config", "hooks", "info", "packed-refs", "worktrees", "modules"}

// gitDirBefore reports whether a directory was a git directory before the command. A directory .git is found by its
// name.
func (v *view) gitDirBefore(dir string) bool {
	is, ok := v.before[dir]
	if !ok {
		i, changed := v.byPath[dir]
		is = (!changed || v.changes[i].Old.Type != tree.Missing) && gitDir(func(name string) bool { return v.typeBefore(path.Join(dir, name)) != tree.Missing })
		v.before[dir] = is
	}
	return is
}

// gitDirAfter reports whether a directory is a git directory after the command, also if an earlier command created some
// of its entries, or if only some file systems treat the names as equal.
func (v *view) gitDirAfter(dir string) bool {
	is, ok := v.after[dir]
	if !ok {
		created := map[string]bool{}
		for _, i := range v.children[dir] {
			if c := v.changes[i]; c.New.Type != tree.Missing {
				created[FoldName(path.Base(c.Path))] = true
			}
		}
		is = gitDir(func(name string) bool {
			return created[strings.ToLower(name)] || v.typeAfter(path.Join(dir, name)) != tree.Missing
		})
		v.after[dir] = is
	}
	return is
}

// gitDir reports whether a directory with these entries is a git directory, as git decides it.
func gitDir(has func(name string) bool) bool {
	return has("HEAD") && (has("objects") && has("refs") || has("commondir"))
}

// repo is a git directory with changes. Repositories of submodules and linked worktrees in it belong to it.
type repo struct {
	*checker
	dir     string // relative to the root; "" if the root is a git directory
	unit    string
	new     bool  // the command created it
	changes []int // indexes of changes in it, and of files .git of its worktrees
	objects map[string]*objectChanges
}

func (c *checker) newRepo(dir string) *repo {
	r := &repo{checker: c, dir: dir, unit: dir, objects: map[string]*objectChanges{}}
	if dir == "" {
		r.unit = "."
	}
	r.new = !c.gitDirBefore(dir)
	return r
}

// check decides about all changes of the repository.
func (r *repo) check(ctx context.Context) error {
	if i, ok := r.byPath[r.dir]; ok && r.view.changes[i].New.Type != tree.Dir {
		for _, i := range r.changes {
			r.outcomes[i].unit = r.unit
		}
		r.outcomes[i].reason = "it deletes or replaces a git repository"
		return nil
	}
	for _, i := range r.changes {
		if err := ctx.Err(); err != nil {
			return err
		}
		change, o := r.view.changes[i], &r.outcomes[i]
		if o.unit = r.unit; path.Base(change.Path) == ".git" && change.Path != r.dir {
			continue // the file .git of a worktree, which pairWorktrees has checked
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(change.Path, r.dir), "/")
		inner, rest := r.innerDir(rel)
		switch {
		case r.unchanged(change):
			o.drop = true
		case change.New.Type == tree.Link || change.New.Type == tree.Other:
			o.reason = "a link, socket, FIFO or device in .git"
		case rest == "objects" || strings.HasPrefix(rest, "objects/"):
			r.addObject(inner, strings.TrimPrefix(strings.TrimPrefix(rest, "objects"), "/"), i)
		default:
			*o = r.checkEntry(inner, rest, change)
			o.unit = r.unit
		}
	}
	for _, objects := range r.objects {
		if err := objects.check(ctx); err != nil {
			return err
		}
	}
	return nil
}

// innerDir splits a path in the repository into the git directory of a submodule or worktree, "" for its own, and the
// path below it.
func (r *repo) innerDir(rel string) (inner, rest string) {
	elements := strings.Split(rel, "/")
	for i := 2; i <= len(elements); i++ {
		worktree := elements[i-2] == "worktrees" && r.gitDirOrOwn(strings.Join(elements[:i-2], "/"))
		dir := strings.Join(elements[:i], "/")
		module := elements[0] == "modules" && (r.gitDirBefore(path.Join(r.dir, dir)) || r.gitDirAfter(path.Join(r.dir, dir)))
		if worktree || module {
			inner, rest = dir, strings.Join(elements[i:], "/")
		}
		if elements[0] != "modules" {
			break
		}
	}
	if inner == "" {
		return "", rel
	}
	return inner, rest
}

func (r *repo) gitDirOrOwn(dir string) bool {
	return dir == "" || r.gitDirBefore(path.Join(r.dir, dir)) || r.gitDirAfter(path.Join(r.dir, dir))
}

// checkEntry decides about an entry of a git directory outside of its objects.
func (r *repo) checkEntry(inner, rest string, change tree.Change) outcome {
	first, below, _ := strings.Cut(rest, "/")
	isNew, deleted := change.Old.Type == tree.Missing, change.New.Type == tree.Missing
	switch {
	case rest == "":
		if deleted && !linkedDir.MatchString(inner) {
			return outcome{reason: "it deletes a git repository"} // of a submodule
		}
		if change.New.Type == tree.File {
			return outcome{reason: "it replaces a directory of git"}
		}
		return outcome{}
	case strings.HasSuffix(rest, ".lock") && change.New.Type != tree.Dir, rest == "gc.pid":
		return outcome{drop: isNew}
	case first == "hooks" && isNew && (strings.HasSuffix(rest, ".sample") || rest == "hooks" && change.New.Type == tree.Dir):
		return outcome{drop: true}
	case rest == "config":
		return outcome{reason: r.checkConfig(change)}
	case rest == "gitdir" || rest == "commondir":
		return outcome{reason: r.checkWorktreeFile(inner, rest, change)}
	case first == "lfs":
		return r.checkLFS(below, change)
	case first == "modules" || first == "worktrees":
		if change.New.Type == tree.Dir || change.Old.Type == tree.Dir {
			return outcome{}
		}
		return outcome{reason: "a file of git that Pawl does not know"}
	}
	if deleted && linkedDir.MatchString(inner) && r.typeAfter(path.Join(r.dir, inner)) == tree.Missing {
		return outcome{} // a part of a removed worktree
	}
	return outcome{reason: r.checkState(first, below, rest, change)}
}

// checkConfig returns why the configuration of a repository must not change, or "".
func (r *repo) checkConfig(change tree.Change) string {
	if change.New.Type != tree.File || change.Old.Type != tree.File && change.Old.Type != tree.Missing {
		return "the git configuration is deleted or replaced"
	}
	after, err := readFile(r.upper, change.Path, maxState)
	if err != nil {
		return "the git configuration cannot be read"
	}
	if change.Old.Type == tree.Missing {
		return checkNewConfig(after)
	}
	before, err := readFile(r.lower, change.Path, maxState)
	if err != nil {
		return "the git configuration cannot be read"
	}
	return checkConfigChange(before, after)
}

// checkState returns why a file of the repository's state must not change, or "".
func (r *repo) checkState(first, below, rest string, change tree.Change) string {
	rule, ok := stateRule(first, below, rest)
	if !ok {
		return "a file of git that can run programs, or that Pawl does not know"
	}
	switch {
	case change.New.Type == tree.Missing && slices.Contains([]string{"HEAD", "refs"}, rest):
		return "it deletes a part of the repository that git needs"
	case change.New.Type == tree.Dir && rule.check != nil && first == rest && first != "refs":
		return "it replaces a file of git by a directory"
	case change.New.Type != tree.File || rule.check == nil:
		return ""
	}
	data, err := readFile(r.upper, change.Path, rule.limit)
	if err != nil {
		return "it cannot be read, or is too large"
	}
	return rule.check(data, r.format(change.Path))
}

// format returns the object format of the git directory that a path belongs to.
func (r *repo) format(name string) hash {
	inner, _ := r.innerDir(strings.TrimPrefix(strings.TrimPrefix(name, r.dir), "/"))
	if strings.HasPrefix(inner, "worktrees/") {
		inner = ""
	}
	data, err := r.readAfter(path.Join(r.dir, inner, "config"), maxState)
	if err != nil {
		return sha1Hash
	}
	if c, err := parseConfig(data); err == nil && strings.EqualFold(c.get("extensions", "objectformat"), "sha256") {
		return sha256Hash
	}
	return sha1Hash
}
