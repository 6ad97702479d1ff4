package protect

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// TestAttacks: changes that make another program run code, or that damage the repository, are refused, and with them
// their unit.
func TestAttacks(t *testing.T) {
	t.Parallel()
	const bare = "git init -q --bare "
	for _, tt := range []struct {
		name, setup, script string
		path, reason        string // of a refusal
		whole               string // a unit of which nothing is allowed
	}{
		{name: "a protected name", script: `mkdir -p sub/.vscode; echo x > sub/.vscode/tasks.json`, path: "sub/.vscode/tasks.json", reason: "editors run"},
		{name: "a protected name modified", setup: `echo x > .envrc`, script: `echo y > .envrc`, path: ".envrc", reason: "shell"},
		{name: "a protected name deleted", setup: `echo x > .npmrc`, script: `rm .npmrc`, path: ".npmrc", reason: "package managers"},
		{name: "a protected name made executable", setup: `mkdir .husky; echo x > .husky/pre-commit`, script: `chmod +x .husky/pre-commit`, path: ".husky/pre-commit", reason: "hooks"},
		{name: "the parent of one deleted", setup: `mkdir -p p/q/.claude; echo x > p/q/.claude/s`, script: `rm -r p`, path: "p", reason: "contains q/.claude"},
		{name: "the parent of one renamed", setup: `mkdir -p p/.claude; echo x > p/.claude/s`, script: `mv p q`, path: "q/.claude/s", reason: "agents"},
		{name: "the parent of one replaced by a link", setup: `mkdir -p p/.claude evil; echo x > p/.claude/s`, script: `rm -r p; ln -s evil p`, path: "p", reason: "contains .claude"},
		{name: "a link above a protected name", script: `mkdir evil; echo x > evil/config.toml; ln -s evil .cargo`, path: ".cargo", reason: "link"},
		{name: "a link as a protected name", script: `ln -s evil .vscode`, path: ".vscode", reason: "editors"},
		{name: "the target of a protected link", setup: `mkdir conf; echo x > conf/tasks.json; ln -s conf .vscode`, script: `echo y > conf/tasks.json`, path: "conf/tasks.json", reason: ".vscode links to it"},
		{name: "a pipe", script: `mkfifo pipe`, path: "pipe", reason: "FIFO"},
		{name: "another spelling of .git", script: `mkdir .GIT; echo x > .GIT/config`, path: ".GIT/config", reason: "spelling"},
		{name: "a spelling with an ignored character", script: "mkdir .g\u200cit; echo x > .g\u200cit/config", path: ".g\u200cit/config", reason: "spelling"},

		{name: "configuration", script: `git config core.fsmonitor evil; git commit -q --allow-empty -m x`, path: ".git/config", reason: "can run programs", whole: ".git"},
		{name: "configuration deleted", script: `rm .git/config`, path: ".git/config", reason: "deleted", whole: ".git"},
		{name: "a remote", script: `git remote add evil 'ext::sh -c evil'`, path: ".git/config", reason: "can run programs", whole: ".git"},
		{name: "a changed URL", script: `git remote set-url origin /evil`, path: ".git/config", reason: "can run programs", whole: ".git"},
		{name: "a branch with a URL", script: `git config branch.main.remote 'ext::sh -c evil'`, path: ".git/config", reason: "branch main", whole: ".git"},
		{name: "a branch that pushes to a URL", script: `git config branch.main.pushRemote /evil`, path: ".git/config", reason: "branch main", whole: ".git"},
		{name: "an alias behind a branch", script: `printf '[branch "x"]\n\tdescription = "a\\\nb"\n' >> .git/config`, path: ".git/config", reason: "syntax", whole: ".git"},
		{name: "configuration of a worktree", script: `echo '[core]' > .git/config.worktree`, path: ".git/config.worktree", reason: "run programs", whole: ".git"},
		{name: "a hook", script: `echo evil > .git/hooks/pre-commit; git commit -q --allow-empty -m x`, path: ".git/hooks/pre-commit", reason: "run programs", whole: ".git"},
		{name: "a hook from a sample", script: `echo evil > .git/hooks/pre-commit.sample; mv .git/hooks/pre-commit.sample .git/hooks/pre-commit`, path: ".git/hooks/pre-commit", reason: "run programs", whole: ".git"},
		{name: "hooks of the project", setup: `mkdir -p scripts/hooks; echo x > scripts/hooks/pre-commit; git config core.hooksPath scripts/hooks`, script: `echo evil > scripts/hooks/pre-commit`, path: "scripts/hooks/pre-commit", reason: "core.hooksPath"},
		{name: "hooks of the project replaced above", setup: `mkdir -p scripts/hooks evil; git config core.hooksPath scripts/hooks`, script: `rm -r scripts; ln -s evil scripts`, path: "scripts", reason: "core.hooksPath"},
		{name: "an included file", setup: `echo '[alias]' > shared; git config include.path ../shared`, script: `echo '[core]' > shared`, path: "shared", reason: "includes it"},
		{name: "hooks of an included file", setup: `printf '[core]\nhooksPath=h\n' > shared; git config include.path ../shared`, script: `mkdir h; echo x > h/pre-push`, path: "h/pre-push", reason: "core.hooksPath"},
		{name: "commondir", script: `mkdir evil; echo ../evil > .git/commondir`, path: ".git/commondir", reason: "another directory", whole: ".git"},
		{name: "attributes", script: `echo '* filter=x' > .git/info/attributes`, path: ".git/info/attributes", reason: "run programs", whole: ".git"},
		{name: "grafts", script: `git rev-parse HEAD > .git/info/grafts`, path: ".git/info/grafts", reason: "does not know", whole: ".git"},
		{name: "alternates", script: `echo /evil > .git/objects/info/alternates`, path: ".git/objects/info/alternates", reason: "another directory", whole: ".git"},
		{name: "http alternates", script: `echo http://evil > .git/objects/info/http-alternates`, path: ".git/objects/info/http-alternates", reason: "another directory", whole: ".git"},
		{name: "a replaced object", script: `git replace HEAD HEAD~1`, path: ".git/refs/replace", reason: "does not know", whole: ".git"},
		{name: "a replaced object in packed refs", script: `git replace HEAD HEAD~1; git pack-refs --all; rm -r .git/refs/replace`, path: ".git/packed-refs", reason: "replaced", whole: ".git"},
		{name: "a link in .git", script: `mv .git/logs evil; ln -s ../evil .git/logs`, path: ".git/logs", reason: "link", whole: ".git"},
		{name: "HEAD as a link", script: `ln -sf refs/heads/main .git/HEAD`, path: ".git/HEAD", reason: "link", whole: ".git"},
		{name: "HEAD out of refs", script: `echo 'ref: config' > .git/HEAD`, path: ".git/HEAD", reason: "not a valid ref", whole: ".git"},
		{name: "HEAD deleted", script: `rm .git/HEAD`, path: ".git/HEAD", reason: "needs", whole: ".git"},
		{name: "a ref with an option's name", script: `cp .git/refs/heads/main .git/refs/heads/--upload-pack=x`, path: ".git/refs/heads/--upload-pack=x", reason: "does not know", whole: ".git"},
		{name: "a pipe in .git", script: `mkfifo .git/FETCH_HEAD`, path: ".git/FETCH_HEAD", reason: "FIFO", whole: ".git"},
		{name: "an unknown name in .git", script: `echo x > .git/evil`, path: ".git/evil", reason: "does not know", whole: ".git"},
		{name: "a remote of the old kind", script: `mkdir .git/remotes; echo 'URL: ext::evil' > .git/remotes/x`, path: ".git/remotes/x", reason: "does not know", whole: ".git"},
		{name: "a rebase that runs a program", script: `GIT_SEQUENCE_EDITOR="printf 'break\nexec evil\n' >" git rebase -qi HEAD~1`, path: ".git/rebase-merge/git-rebase-todo", reason: "runs a program", whole: ".git"},
		{name: "a rebase that runs a program, in short", script: `mkdir .git/rebase-merge; printf 'noop\n\tx\tevil\n' > .git/rebase-merge/git-rebase-todo`, path: ".git/rebase-merge/git-rebase-todo", reason: "runs a program", whole: ".git"},
		{name: "a cherry-pick that runs a program", script: `mkdir .git/sequencer; echo 'exec evil' > .git/sequencer/todo`, path: ".git/sequencer/todo", reason: "runs a program", whole: ".git"},
		{name: "a rebase in a worktree that runs a program", setup: `git worktree add -q wt`, script: `mkdir .git/worktrees/wt/rebase-merge; echo 'x evil' > .git/worktrees/wt/rebase-merge/git-rebase-todo`, path: ".git/worktrees/wt/rebase-merge/git-rebase-todo", reason: "runs a program", whole: ".git"},
		{name: "a rebase with a program as strategy", script: `mkdir .git/rebase-merge; echo evil > .git/rebase-merge/strategy`, path: ".git/rebase-merge/strategy", reason: "strategy", whole: ".git"},
		{name: "a cherry-pick with a program as strategy", script: `mkdir .git/sequencer; printf '[options]\nstrategy = evil\n' > .git/sequencer/opts`, path: ".git/sequencer/opts", reason: "strategy", whole: ".git"},
		{name: "patches with options", script: `mkdir .git/rebase-apply; echo "'--unsafe-paths'" > .git/rebase-apply/apply-opt`, path: ".git/rebase-apply/apply-opt", reason: "options", whole: ".git"},
		{name: "an author script with commands", script: `mkdir .git/rebase-merge; echo "GIT_AUTHOR_NAME='x'; evil" > .git/rebase-merge/author-script`, path: ".git/rebase-merge/author-script", reason: "commands", whole: ".git"},
		{name: "an index with paths in .git", script: `perl -0pi -e 's{dir/file}{.git/fil}' .git/index`, path: ".git/index", reason: "leads into .git", whole: ".git"},
		{name: "an index with paths outside", script: `perl -0pi -e 's{dir/file}{../../fi}' .git/index`, path: ".git/index", reason: "leads into .git", whole: ".git"},
		{name: "a damaged index", script: `truncate -s -40 .git/index`, path: ".git/index", reason: "damaged", whole: ".git"},
		{name: "a directory as the index", script: `rm .git/index; mkdir .git/index`, path: ".git/index", reason: "by a directory", whole: ".git"},
		{name: "a file as the directory of a worktree", script: `mkdir .git/worktrees; echo x > .git/worktrees/x`, path: ".git/worktrees/x", reason: "replaces a directory", whole: ".git"},
		{name: "a forged object of Git LFS", script: `f=$(echo x | sha256sum | cut -c1-64); d=.git/lfs/objects/${f:0:2}/${f:2:2}; mkdir -p $d; echo y > $d/$f`, reason: "does not match its name", whole: ".git"},
		{name: "a deleted object of Git LFS", setup: `f=$(echo x | sha256sum | cut -c1-64); d=.git/lfs/objects/${f:0:2}/${f:2:2}; mkdir -p $d; echo x > $d/$f`, script: `rm -r .git/lfs`, reason: "deletes an object of Git LFS", whole: ".git"},
		{name: "hooks of the repository of a linked worktree", setup: `git config core.hooksPath scripts; mv .git ../main; mkdir -p ../main/worktrees/wt; echo "gitdir: $PWD/../main/worktrees/wt" > .git`, script: `mkdir scripts; echo x > scripts/pre-push`, path: "scripts/pre-push", reason: "core.hooksPath"},

		{name: "a forged loose object", script: `git hash-object -w a > id; f=.git/objects/$(sed 's/../&\//' id); chmod +w $f; echo x | git hash-object -w --stdin > id; cp -f .git/objects/$(sed 's/../&\//' id) $f; echo y > y; git add y; git commit -qm y`, path: "", reason: "does not match its name", whole: ".git"},
		{name: "a new object with another's name", script: `i=$(echo x | git hash-object -w --stdin); mkdir -p .git/objects/ff; cp .git/objects/${i:0:2}/${i:2} .git/objects/ff/ff345678901234567890123456789012345678`, path: ".git/objects/ff/ff345678901234567890123456789012345678", reason: "does not match", whole: ".git"},
		{name: "an object with data after it", script: `i=$(echo x | git hash-object -w --stdin); f=.git/objects/${i:0:2}/${i:2}; chmod +w $f; echo evil >> $f`, path: "", reason: "does not match", whole: ".git"},
		{name: "an object as an executable of another kind", script: `i=$(echo x | git hash-object -w --stdin); f=.git/objects/${i:0:2}/${i:2}; rm -f $f; ln -s /etc/passwd $f`, path: "", reason: "link", whole: ".git"},
		{name: "a deleted loose object", script: `rm -f .git/objects/$(git rev-parse HEAD | sed 's/../&\//')`, path: "", reason: "in no pack"},
		{name: "a deleted pack", script: `rm -f .git/objects/pack/*`, path: "", reason: "nowhere else"},
		{name: "a deleted pack and loose copies", setup: `git unpack-objects -q < .git/objects/pack/*.pack || true; cp -r .git x; mv .git/objects/pack/*.pack p; rm -f .git/objects/pack/*; git unpack-objects -q < p; rm -rf .git/objects/pack; cp -r x/objects/pack .git/objects/; rm -rf x p`, script: `rm -f .git/objects/pack/* .git/objects/??/*`, path: "", reason: "nowhere else"},
		{name: "a changed pack", script: `chmod +w .git/objects/pack/*.pack; echo x >> .git/objects/pack/*.pack`, path: "", reason: "changes a pack", whole: ".git"},
		{name: "a changed pack index", script: `chmod +w .git/objects/pack/*.idx; echo x >> .git/objects/pack/*.idx`, path: "", reason: "changes a pack", whole: ".git"},
		{name: "a damaged new pack", script: `rm .git/objects/pack/*.rev || true; cp .git/objects/pack/*.idx i; git repack -q; p=$(ls -t .git/objects/pack/*.pack | head -1); chmod +w $p; printf x | dd of=$p bs=1 seek=60 conv=notrunc status=none; rm i`, path: "", reason: "damaged", whole: ".git"},
		{name: "an index of another pack", script: `n=pack-1234567890123456789012345678901234567890; o=$(ls .git/objects/pack/*.pack | head -1); p=$(git rev-parse HEAD | git pack-objects -q .git/objects/pack/pack); cp .git/objects/pack/pack-$p.pack .git/objects/pack/$n.pack; cp ${o%pack}idx .git/objects/pack/$n.idx`, path: ".git/objects/pack/pack-1234567890123456789012345678901234567890.idx", reason: "index does not match", whole: ".git"},
		{name: "an index without a pack", script: `cp .git/objects/pack/*.idx .git/objects/pack/pack-1234567890123456789012345678901234567890.idx`, path: "", reason: "changes a pack", whole: ".git"},
		{name: "an unknown file among the objects", script: `echo x > .git/objects/evil`, path: ".git/objects/evil", reason: "does not know", whole: ".git"},

		{name: "a new repository with a program", script: `git init -q sub; git -C sub config core.fsmonitor evil`, path: "sub/.git/config", reason: "core.fsmonitor", whole: "sub/.git"},
		{name: "a new repository with an include", script: `git init -q sub; git -C sub config include.path ../evil`, path: "sub/.git/config", reason: "include.path", whole: "sub/.git"},
		{name: "a new repository with a hook", script: `git init -q sub; echo evil > sub/.git/hooks/post-checkout`, path: "sub/.git/hooks/post-checkout", reason: "run programs", whole: "sub/.git"},
		{name: "a new repository with a remote that runs a program", script: `git init -q sub; git -C sub remote add origin 'ext::sh -c evil'`, path: "sub/.git/config", reason: "remote.url", whole: "sub/.git"},
		{name: "a new repository with a remote that is an option", script: `git init -q sub; git -C sub config remote.origin.url -- --upload-pack=evil`, path: "sub/.git/config", reason: "remote.url", whole: "sub/.git"},
		{name: "a new repository with another worktree", script: `git init -q sub; git -C sub config core.worktree /`, path: "sub/.git/config", reason: "core.worktree", whole: "sub/.git"},
		{name: "a clone that borrows objects", script: `git clone -q --shared ../remote.git sub`, path: "sub/.git/objects/info/alternates", reason: "another directory", whole: "sub/.git"},
		{name: "a bare repository", script: bare + `sub`, path: "sub/HEAD", reason: "bare", whole: "sub"},
		{name: "a bare repository at the top", setup: `rm -rf .git`, script: bare + `.`, path: "config", reason: "bare"},
		{name: "a bare repository, completed", setup: `mkdir -p sub/objects sub/refs; echo '[core]' > sub/config`, script: `echo 'ref: refs/heads/main' > sub/HEAD`, path: "sub/HEAD", reason: "bare"},
		{name: "a bare repository of another case", script: `mkdir -p sub/Objects sub/REFS; echo 'ref: refs/heads/main' > sub/head`, path: "sub/head", reason: "bare"},
		{name: "a bare repository by commondir", script: `mkdir sub; echo ../evil > sub/commondir; echo 'ref: refs/heads/main' > sub/HEAD`, path: "sub/commondir", reason: "bare"},
		{name: "the configuration of a bare repository of the project", setup: bare + `fixture.git`, script: `git -C fixture.git config core.pager evil`, path: "fixture.git/config", reason: "can run programs", whole: "fixture.git"},
		{name: "the configuration of a submodule", setup: `git init -q ../s; git -C ../s commit -q --allow-empty -m x; git submodule add -q ../s sub 2>/dev/null || git -c protocol.file.allow=always submodule add -q $PWD/../s sub`, script: `git config --file .git/modules/sub/config core.fsmonitor evil`, path: ".git/modules/sub/config", reason: "can run programs", whole: ".git"},
		{name: "a hook of a submodule", setup: `git init -q ../s; git -C ../s commit -q --allow-empty -m x; git submodule add -q $PWD/../s sub`, script: `echo evil > .git/modules/sub/hooks/pre-commit`, path: ".git/modules/sub/hooks/pre-commit", reason: "run programs", whole: ".git"},
		{name: "a file .git", script: `mkdir sub evil; echo "gitdir: ../evil" > sub/.git`, path: "sub/.git", reason: "another repository"},
		{name: "a file .git of a foreign worktree", script: `git worktree add -q wt; echo "gitdir: $PWD/../evil/.git/worktrees/wt" > wt/.git`, path: "wt/.git", reason: "another repository"},
		{name: "a second file .git of a worktree", script: `git worktree add -q wt; mkdir sub; cp wt/.git sub/.git`, path: "sub/.git", reason: "another repository"},
		{name: "a changed file .git", setup: `git worktree add -q wt`, script: `echo "gitdir: $PWD/evil" > wt/.git`, path: "wt/.git", reason: "another repository"},
		{name: "a worktree with another repository", script: `git worktree add -q wt; echo /evil > .git/worktrees/wt/commondir`, path: ".git/worktrees/wt/commondir", reason: "another directory", whole: ".git"},
		{name: "a worktree outside", script: `git worktree add -q ../outside`, path: ".git/worktrees/outside/gitdir", reason: "another directory", whole: ".git"},
		{name: "a worktree outside that is pruned", setup: `git worktree add -q ../outside`, script: `rm -r .git/worktrees`, path: ".git/worktrees/outside/gitdir", reason: "outside of the project", whole: ".git"},
		{name: "a deleted repository", script: `rm -rf .git`, path: ".git", reason: "deletes or replaces a git repository", whole: ".git"},
		{name: "a deleted directory with a repository", setup: `git init -q sub/repo`, script: `rm -rf sub`, path: "sub", reason: "contains repo/.git"},
		{name: "a deleted repository in a directory", setup: `git init -q sub/repo`, script: `rm -rf sub`, path: "sub/repo/.git", reason: "deletes", whole: "sub/repo/.git"},
		{name: "a repository replaced by a link", script: `mv .git evil; ln -s evil .git`, path: ".git", reason: "replaces", whole: ".git"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, tt.setup)
			script(t, l.upper, tt.script)
			allowed, refused := l.check()
			found := slices.ContainsFunc(refused, func(r Refusal) bool {
				return (tt.path == "" || r.Path == tt.path) && strings.Contains(r.Reason, tt.reason) && (tt.whole == "" || r.Unit == tt.whole)
			})
			if !found {
				t.Errorf("no refusal of %q because of %q: %+v", tt.path, tt.reason, refused)
			}
			for _, c := range allowed {
				if c.Path == tt.path || tt.whole != "" && c.Unit == tt.whole {
					t.Errorf("allowed: %s, unit %q", c.Path, c.Unit)
				}
			}
		})
	}
}

// TestOwnRoot: a git directory that is given as the root of a tree follows the same rules.
func TestOwnRoot(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	script(t, l.upper, `git commit -q --allow-empty -m x; git gc -q`)
	git := &lab{t, l.lower + "/.git", l.upper + "/.git"}
	allowed, refused := git.check()
	if len(refused) > 0 || !slices.ContainsFunc(allowed, func(c tree.Change) bool { return c.Path == "logs/HEAD" && c.Unit == "." }) {
		t.Errorf("a commit is not allowed: %v, %+v", allowed, refused)
	}
	script(t, l.upper, `echo evil > .git/hooks/pre-commit`)
	if allowed, refused = git.check(); len(refused) != 1 || refused[0].Path != "hooks/pre-commit" || slices.ContainsFunc(allowed, func(c tree.Change) bool { return c.Unit == "." }) {
		t.Errorf("a hook is allowed: %v, %+v", allowed, refused)
	}
}

// TestDropped: what only the command needs is neither applied nor refused.
func TestDropped(t *testing.T) {
	t.Parallel()
	l := newLab(t, `echo x > .envrc`)
	script(t, l.upper, `touch .git/index.lock .git/refs/heads/main.lock .git/objects/pack/tmp_pack_x .git/gc.pid .git/objects/maintenance.lock; mkdir -p .git/objects/aa; echo x > .git/objects/aa/tmp_obj_x; chmod 600 .git/HEAD; chmod 644 .git/HEAD
cp .git/hooks/pre-commit.sample .git/hooks/mine.sample; git commit-graph write; git multi-pack-index write`)
	allowed, refused := l.check()
	if len(refused) > 0 {
		t.Errorf("refused: %+v", refused)
	}
	for _, c := range allowed {
		if c.New.Type != tree.Dir {
			t.Errorf("allowed: %s", c.Path)
		}
	}
	touched := []tree.Change{{Path: ".envrc", Old: tree.Stat{Type: tree.File}, New: tree.Stat{Type: tree.File}}}
	allowed, refused, err := Check(t.Context(), l.upper, l.upper, l.lower, touched)
	if err != nil || len(allowed)+len(refused) > 0 {
		t.Errorf("a file with the same contents: %v, %v, %v", allowed, refused, err)
	}
}
