package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// maxGitDirs bounds the repositories of submodules that are looked for.
const maxGitDirs = 256

// parts says how the things in a workspace are guarded.
type parts struct {
	readonly []string // they are there and cannot be written
	pinned   []string // directories that hold others, and cannot be moved
	missing  []string // not there; a placeholder keeps them from being created
	absent   []string // not there, and a placeholder would disturb: it is told if they come up
	links    []string // they cannot be held: it is told if they change
	writable []string // outside of the workspace
}

// gitFolder guards a directory .git: what says which programs git runs. All else
// stays writable, so that commits can be made.
func (p *parts) gitFolder(dir, top string) {
	p.pinned = append(p.pinned, dir)
	p.gitDir(dir, filepath.Dir(dir), top)
	count := 0
	_ = filepath.WalkDir(filepath.Join(dir, "modules"), func(path string, e os.DirEntry, err error) error {
		switch {
		case err != nil || !e.IsDir():
			return nil
		case count == maxGitDirs:
			return filepath.SkipAll
		case e.Name() == "objects" || e.Name() == "refs" || e.Name() == "logs":
			return filepath.SkipDir
		}
		if exists(filepath.Join(path, "HEAD")) {
			count++
			p.gitDir(path, top, top)
		}
		return nil
	})
	others, _ := os.ReadDir(filepath.Join(dir, "worktrees"))
	for _, e := range others[:min(len(others), maxGitDirs)] {
		p.gitWorktree(filepath.Join(dir, "worktrees", e.Name()))
	}
}

// gitDir guards the directory of one repository with that worktree. top is the workspace.
func (p *parts) gitDir(dir, worktree, top string) {
	config := filepath.Join(dir, "config")
	p.hold(config)
	p.hold(filepath.Join(dir, "hooks"))
	// Either file leads git to another configuration, and git fails over a
	// placeholder for it.
	p.holdOrWatch(filepath.Join(dir, "commondir"))
	p.holdOrWatch(filepath.Join(dir, "config.worktree"))
	for _, path := range gitConfigPaths(config, worktree) {
		if within(path, top) && path != top && !within(path, dir) {
			p.holdOrWatch(path)
		}
	}
}

// gitWorktree guards the directory that a linked worktree has in its repository.
func (p *parts) gitWorktree(dir string) {
	p.holdOrWatch(filepath.Join(dir, "commondir"))
	p.holdOrWatch(filepath.Join(dir, "gitdir"))
	p.holdOrWatch(filepath.Join(dir, "config.worktree"))
}

// hold guards a path, whether it is there or not.
func (p *parts) hold(path string) {
	if !p.holdThere(path) {
		p.missing = append(p.missing, path)
	}
}

func (p *parts) holdOrWatch(path string) {
	if !p.holdThere(path) {
		p.absent = append(p.absent, path)
	}
}

// holdThere guards what is there, and reports whether anything is.
func (p *parts) holdThere(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	if info.Mode()&os.ModeSymlink != 0 {
		p.links = append(p.links, path)
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return true
		}
	} else if isPlaceholder(path, info) {
		return false
	}
	p.readonly = append(p.readonly, path)
	return true
}

// linkedWorktree makes room for commits in a worktree whose repository is
// elsewhere: its own directory there, and the objects and refs. Configuration and
// hooks stay read-only with all else. It does so only if the repository names
// this worktree as its own: a file .git that came with the workspace could name
// any repository.
func (p *parts) linkedWorktree(top, dotgit string) {
	own := gitFileTarget(dotgit)
	if own == "" || within(own, top) || filepath.Base(filepath.Dir(own)) != "worktrees" {
		return
	}
	common := filepath.Dir(filepath.Dir(own))
	if resolve(expand(line(filepath.Join(own, "commondir")), own)) != common {
		return
	}
	back := expand(line(filepath.Join(own, "gitdir")), own)
	if resolve(filepath.Dir(back)) != top || filepath.Base(back) != ".git" {
		return
	}
	p.writable = append(p.writable, own)
	for _, name := range []string{"objects", "refs", "logs"} {
		if path := filepath.Join(common, name); resolve(path) == path {
			p.writable = append(p.writable, path)
		}
	}
	p.gitWorktree(own)
}

// gitFileTarget returns the real path that a file .git points to, or "".
func gitFileTarget(dotgit string) string {
	target, ok := strings.CutPrefix(line(dotgit), "gitdir: ")
	if !ok {
		return ""
	}
	return resolve(expand(target, filepath.Dir(dotgit)))
}

// line returns the first line of a small file, or "".
func line(path string) string {
	text, err := readSmall(path)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(first)
}

// resolve returns a path without links, or "" if it is not there.
func resolve(path string) string {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return path
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
