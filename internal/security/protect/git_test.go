package protect

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// lab is a project and the copy of it that a command works on. The copy is where the command sees the project.
type lab struct {
	t            *testing.T
	lower, upper string
}

// script runs a shell script in a directory, without the user's configuration.
func script(t *testing.T, dir, text string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", "set -e\n"+text)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=true", "GIT_ALLOW_PROTOCOL=file",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.org",
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", text, err, out)
	}
}

// template is a directory with the project and its remote, which tests copy.
var template string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "protect")
	if err == nil {
		template, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

var makeTemplate sync.Once

// projectScript creates a repository with a remote, two branches that conflict, and packed and loose objects.
const projectScript = `git init -q --bare ../remote.git -b main
git init -q -b main
mkdir dir; seq 500 > dir/file; echo one > a; echo keep > b
git add .; git commit -qm one
git remote add origin "$PWD/../remote.git"; git push -q -u origin main; git push -q origin main:feature
git switch -qc other; echo other > a; git commit -qam other; git switch -q main; echo two > a; git commit -qam two
git repack -adq; echo three > a; seq 600 > dir/file; git commit -qam three
`

func newLab(t *testing.T, setup string) *lab {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	makeTemplate.Do(func() { script(t, template, "mkdir lower; cd lower\n"+projectScript) })
	l := &lab{t, filepath.Join(dir, "lower"), filepath.Join(dir, "upper")}
	script(t, dir, "cp -a "+template+"/* .; cd lower; git remote set-url origin "+dir+"/remote.git")
	script(t, l.lower, setup)
	script(t, dir, "cp -a lower upper")
	return l
}

// changes compares the two trees.
func (l *lab) changes() []tree.Change {
	l.t.Helper()
	old, now := stats(l.t, l.lower), stats(l.t, l.upper)
	var list []tree.Change
	for name, was := range old {
		if is := now[name]; is.Type != was.Type || is.Mode != was.Mode || is.Type == tree.File && !l.same(name) || is.Type == tree.Link && readLink(l.lower, name) != readLink(l.upper, name) {
			list = append(list, tree.Change{Path: name, Old: was, New: is})
		}
	}
	for name, is := range now {
		if old[name].Type == tree.Missing {
			list = append(list, tree.Change{Path: name, New: is})
		}
	}
	slices.SortFunc(list, func(a, b tree.Change) int { return strings.Compare(a.Path, b.Path) })
	return list
}

func (l *lab) same(name string) bool {
	a, errA := os.ReadFile(filepath.Join(l.lower, name))
	b, errB := os.ReadFile(filepath.Join(l.upper, name))
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

func readLink(dir, name string) string {
	target, _ := os.Readlink(filepath.Join(dir, name))
	return target
}

// stats returns the entries of a tree.
func stats(t *testing.T, dir string) map[string]tree.Stat {
	t.Helper()
	all := map[string]tree.Stat{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		types := map[fs.FileMode]tree.Type{0: tree.File, fs.ModeDir: tree.Dir, fs.ModeSymlink: tree.Link}
		kind, ok := types[info.Mode().Type()]
		if !ok {
			kind = tree.Other
		}
		all[rel] = tree.Stat{Type: kind, Mode: uint32(info.Mode().Perm()), Size: info.Size()}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// check runs Check on what differs.
func (l *lab) check() ([]tree.Change, []Refusal) {
	l.t.Helper()
	allowed, refused, err := Check(l.t.Context(), l.upper, l.upper, l.lower, l.changes())
	if err != nil {
		l.t.Fatal(err)
	}
	return allowed, refused
}

// apply copies the allowed changes to the lower tree: deletions last, the deepest first.
func (l *lab) apply(allowed []tree.Change) {
	l.t.Helper()
	for _, c := range allowed {
		from, to := filepath.Join(l.upper, c.Path), filepath.Join(l.lower, c.Path)
		switch c.New.Type {
		case tree.Dir:
			if err := os.MkdirAll(to, 0o755); err != nil {
				l.t.Fatal(err)
			}
		case tree.File, tree.Link:
			script(l.t, l.lower, "rm -rf '"+to+"'; cp -a '"+from+"' '"+to+"'")
		}
	}
	for _, c := range slices.Backward(allowed) {
		if c.New.Type == tree.Missing {
			if err := os.Remove(filepath.Join(l.lower, c.Path)); err != nil {
				l.t.Error(err)
			}
		}
	}
}

// TestOrdinaryGit: changes by ordinary use of git are allowed, and leave an intact repository.
func TestOrdinaryGit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, script string
		then         string // holds in the project after the changes are applied
		setup        string
	}{
		{name: "commit", script: `echo new > new; git add new; git commit -qm new`, then: `git log -1 --format=%s | grep -x new; test -z "$(git status --porcelain)"`},
		{name: "amend", script: `git commit -q --amend -m amended`, then: `git log -1 --format=%s | grep -x amended`},
		{name: "stash", script: `echo x > a; echo y > u; git stash -uq`, then: `git stash list | grep -q stash; git stash show -p | grep -q x`},
		{name: "stash pop", script: `echo x > a; git stash -q; git stash pop -q`, then: `grep -x x a`},
		{name: "mv of a directory", script: `git mv dir moved; git commit -qm moved`, then: `test -f moved/file; test ! -e dir/file`},
		{name: "rebase", script: `git switch -q other; git rebase -q -X ours main`, then: `git merge-base --is-ancestor main other`},
		{name: "interactive rebase", script: `GIT_SEQUENCE_EDITOR='sed -i s/^pick/edit/' git rebase -qi HEAD~1`, then: `test -d .git/rebase-merge; git rebase --abort`},
		{name: "rebase with conflict", script: `git switch -q other; git rebase -q main || true`, then: `git status | grep -q rebas; git rebase --abort`},
		{name: "cherry-pick of several with conflict", script: `git switch -q other; git cherry-pick main~1 main || true`, then: `test -f .git/sequencer/todo; git cherry-pick --abort`},
		{name: "am with conflict", script: `git format-patch -q -1 other -o ..; git am -q ../0001* || true`, then: `test -d .git/rebase-apply; git am --abort`},
		{name: "merge with conflict", script: `git merge -q other || true`, then: `test -f .git/MERGE_HEAD; git merge --abort`},
		{name: "rerere", script: `git -c rerere.enabled=true merge -q other || true`, then: `test -f .git/MERGE_RR`},
		{name: "tag", script: `git tag light; git tag -a -m x heavy`, then: `git rev-parse heavy light`},
		{name: "notes", script: `git notes add -m n`, then: `git notes show`},
		{name: "bisect", script: `git bisect start -q; git bisect bad; git bisect good HEAD~2`, then: `git bisect log`},
		{name: "branch -u", script: `git branch -q -u origin/feature`, then: `git rev-parse --abbrev-ref @{u} | grep -x origin/feature`},
		{name: "checkout -b of a remote branch", script: `git fetch -q; git checkout -q -b feature origin/feature`, then: `git config branch.feature.remote | grep -x origin`},
		{name: "branch -m, -d, --edit-description", script: `git branch -m other renamed; git branch -q x; git branch -d -q x; git branch --edit-description main`, then: `git rev-parse renamed`},
		{name: "push -u", script: `git push -q -u origin other`, then: `git config branch.other.merge`},
		{name: "fetch", setup: `git clone -q ../remote.git ../c; cd ../c; for i in $(seq 150); do echo $i > f$i; done; git add .; git commit -qm far; git push -q`, script: `git fetch -q`, then: `git log origin/main -1 --format=%s | grep -x far`},
		{name: "gc", script: `git gc -q --prune=now`, then: `test -z "$(find .git/objects/?? -type f)"; test "$(ls .git/objects/pack/*.pack | wc -l)" = 1`},
		{name: "gc with cruft, graph, bitmap and many packs", script: `git -c repack.writeBitmaps=true -c pack.writeReverseIndex=true gc -q; git repack -dq; git commit --allow-empty -qm x; git repack -q; git multi-pack-index write; git commit-graph write`},
		{name: "repack of a repository with caches", setup: `git commit-graph write; git multi-pack-index write`, script: `git repack -adq; git commit-graph write; git multi-pack-index write`, then: `test ! -e .git/objects/pack/multi-pack-index`},
		{name: "pack-refs", script: `git pack-refs --all`, then: `git rev-parse other`},
		{name: "reset", script: `git reset -q --hard HEAD~1`, then: `git log -1 --format=%s | grep -x two`},
		{name: "worktree add in the project", script: `git worktree add -q wt -b wt; cd wt; echo x > x; git add x; git commit -qm wt`, then: `git log -1 --format=%s wt -- | grep -x wt; test -f .git/worktrees/wt/gitdir`},
		{name: "worktree remove", setup: `git worktree add -q wt -b wt; sed -i s/lower/upper/ wt/.git .git/worktrees/wt/gitdir`, script: `git worktree remove wt`, then: `test ! -e .git/worktrees/wt; test ! -e wt`},
		{name: "index of version 4", script: `git update-index --index-version 4; echo x > dir/new; git add dir`, then: `git status --porcelain | grep dir/new`},
		{name: "split index", script: `git update-index --split-index; echo x > dir/new; git add dir`, then: `git status --porcelain | grep dir/new`},
		{name: "init in a directory", script: `git init -q sub; cd sub; echo x > x; git add x; git commit -qm x`, then: `git -C sub log -1 --format=%s | grep -x x; test ! -e sub/.git/hooks`},
		{name: "init with sha256", script: `git init -q --object-format=sha256 sub; cd sub; seq 1000 > x; git add x; git commit -qm x; git gc -q`, then: `git -C sub fsck --strict`},
		{name: "init in a project without a repository", setup: `rm -rf .git`, script: `git init -q; git add .; git commit -qm first`, then: `git log -1 --format=%s | grep -x first`},
		{name: "clone of a local repository", script: `git clone -q ../remote.git sub; git -C sub checkout -q feature`, then: `git -C sub log`},
		{name: "commit in a nested repository", setup: `git init -q sub; git -C sub commit -q --allow-empty -m x`, script: `cd sub; echo x > y; git add .; git commit -qm y; git gc -q`, then: `git -C sub log -1 --format=%s | grep -x y`},
		{name: "commit to a bare repository of the project", setup: `git init -q --bare fixture.git`, script: `git push -q fixture.git main`, then: `git -C fixture.git log main`},
		{name: "a write of the same configuration", script: `git config core.bare false; git init -q`},
		{name: "an object of Git LFS", script: `f=$(echo x | sha256sum | cut -c1-64); d=.git/lfs/objects/${f:0:2}/${f:2:2}; mkdir -p $d .git/lfs/tmp; echo x > $d/$f; echo x > .git/lfs/tmp/y`, then: `test -f .git/lfs/objects/*/*/*; test ! -e .git/lfs/tmp/y`},
		{name: "ordinary files", script: `echo x > Makefile; mkdir -p .github/workflows; echo x > .github/workflows/a.yml; ln -s a link; rm b; echo x > $'odd\n\xff'`, then: `test -L link; test ! -e b; test -f $'odd\n\xff'`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, "( :\n"+tt.setup+"\n)")
			script(t, l.upper, tt.script)
			allowed, refused := l.check()
			for _, r := range refused {
				t.Errorf("refused: %+v", r)
			}
			l.apply(allowed)
			script(t, filepath.Dir(l.lower), "rm -rf upper; mv lower upper") // where the command saw the project
			script(t, l.upper, "git fsck --full; git status; git log --all --stat\n"+tt.then)
		})
	}
}
