package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// maxGitDirs bounds the repositories of submodules that are searched.
const maxGitDirs = 256

// parts tells how the paths in a workspace are protected.
type parts struct {
	readonly []string // they exist and cannot be written
	pinned   []string // directories that contain protected paths and cannot be moved
	missing  []string // they do not exist; a placeholder prevents their creation
	absent   []string // they do not exist, and a placeholder would break git: Check reports their creation
	links    []string // they cannot be protected: Check reports changes
	writable []string // outside of the workspace
}

// gitFolder protects the files of a .git directory that determine which programs git
// runs. The rest stays writable, so that commits are possible.
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

// gitDir protects the git directory of a repository with the given worktree. top is
// the workspace.
func (p *parts) gitDir(dir, worktree, top string) {
	config := filepath.Join(dir, "config")
	p.hold(config)
	p.hold(filepath.Join(dir, "hooks"))
	// Both files make git use another configuration, and git fails on placeholders for
	// them.
	p.holdOrWatch(filepath.Join(dir, "commondir"))
	p.holdOrWatch(filepath.Join(dir, "config.worktree"))
	for _, path := range gitConfigPaths(config, worktree) {
		if within(path, top) && path != top && !within(path, dir) {
			p.holdOrWatch(path)
		}
	}
}

// gitWorktree protects the directory of a linked worktree in its repository.
func (p *parts) gitWorktree(dir string) {
	p.holdOrWatch(filepath.Join(dir, "commondir"))
	p.holdOrWatch(filepath.Join(dir, "gitdir"))
	p.holdOrWatch(filepath.Join(dir, "config.worktree"))
}

// hold protects a path, whether it exists or not.
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

// holdThere protects a path if it exists, and reports whether it does.
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

// linkedWorktree makes commits possible in a worktree whose repository is elsewhere:
// its directory there, objects and refs become writable; configuration and hooks stay
// read-only. It does so only if the repository lists this worktree, because a file
// .git in the workspace could name any repository.
func (p *parts) linkedWorktree(top string) {
	common, own := Repository(top)
	if own == "" {
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

// Repository returns the git directory of the repository that dir, given by its real path,
// is a linked worktree of, and the directory of the worktree in it. Both are "" if dir is
// none, or if the repository does not list it.
func Repository(dir string) (common, own string) {
	own = gitFileTarget(filepath.Join(dir, ".git"))
	if own == "" || within(own, dir) || filepath.Base(filepath.Dir(own)) != "worktrees" {
		return "", ""
	}
	common = filepath.Dir(filepath.Dir(own))
	if resolve(expand(line(filepath.Join(own, "commondir")), own)) != common {
		return "", ""
	}
	back := expand(line(filepath.Join(own, "gitdir")), own)
	if resolve(filepath.Dir(back)) != dir || filepath.Base(back) != ".git" {
		return "", ""
	}
	return common, own
}

// gitRead returns the repository of a linked worktree, which git has to read.
func (pl *plan) gitRead() []string {
	if len(pl.writable) == 0 {
		return nil
	}
	return []string{filepath.Dir(filepath.Dir(pl.writable[0]))}
}

// submoduleDir returns the git directory of a submodule, which is in another repository,
// or "". Its configuration must name the workspace, because a file .git in it could name
// any repository.
func submoduleDir(top, dotgit string) string {
	own := gitFileTarget(dotgit)
	if own == "" || within(own, top) {
		return ""
	}
	worktree := ""
	eachSetting(filepath.Join(own, "config"), func(key, value string) {
		if key == "core.worktree" {
			worktree = resolve(expand(value, own))
		}
	})
	if worktree != top {
		return ""
	}
	return own
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

// resolve returns the real path, or "" if it does not exist.
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
