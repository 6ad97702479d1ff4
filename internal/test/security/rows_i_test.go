//go:build sectest

package security

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/workspace/worktree"
)

// walls are what keeps a worker's commands from the rest: with both taken out
// they see it, and can write to it.
const walls = "worker.isolation,sandbox.root"

var rowsI = []row{
	{id: "I1", title: "git -C", attack: worker("git -C OTHER commit -qm evil --allow-empty; git -C OTHER show HEAD:secret; git -C REPO commit -qm evil --allow-empty; git -C REPO branch evil"), defense: walls},
	{id: "I2", title: "GIT_DIR", attack: worker("GIT_DIR=REPO/.git GIT_WORK_TREE=$PWD git add -A; GIT_DIR=REPO/.git git update-ref refs/heads/evil $(git rev-parse HEAD); GIT_DIR=REPO/.git git config evil.key x; GIT_DIR=OTHER/.git git cat-file -p work:secret"), defense: walls},
	{id: "I3", title: "GIT_WORK_TREE", attack: worker("echo evil > f; git add f; GIT_WORK_TREE=REPO git checkout-index -f -a; GIT_WORK_TREE=OTHER git checkout-index -f -a"), defense: walls},
	{id: "I4", title: "GIT_OBJECT_DIRECTORY", attack: worker("echo evil | GIT_OBJECT_DIRECTORY=REPO/.git/objects git hash-object -w --stdin; echo evil | GIT_OBJECT_DIRECTORY=LENDER/objects git hash-object -w --stdin; " +
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=OTHER/.git/objects git cat-file -p BLOB; echo evil | GIT_OBJECT_DIRECTORY=OTHER/.git/objects git hash-object -w --stdin"), defense: walls},
	{id: "I5", title: "links, for commands", attack: worker("ln -s OTHER o; ln -s REPO r; ln -s ../.. up; echo evil > r/f; echo evil > o/f; cat o/secret up/*/*/secret r/.env; rm -rf r/sub o/.git"), defense: walls},
	{id: "I6", title: "links, for file tools", attack: linkedTools, defense: "path.root,path.links,path.real"},
	{id: "I7", title: "links that are swapped in", attack: swappedPlaces, defense: "path.root,path.links,path.real"},
	{id: "I8", title: "a file .git in a folder", attack: worker("mkdir sub2 sub3; echo gitdir: REPO/.git > sub2/.git; echo gitdir: OTHER/.git > sub3/.git; git -C sub2 commit -qm evil --allow-empty; git -C sub2 reset -q --hard HEAD; git -C sub3 cat-file -p work:secret; git -C sub3 commit -qm evil --allow-empty"), defense: walls},
	{id: "I9", title: "git worktree add", attack: worker("git worktree add -q REPO/evil; git worktree add -q -b e2 OTHER/evil; git worktree add -q -b e3 ../evil; git worktree add -q -b e4 OUTSIDE/evil"), defense: walls},
	{id: "I10", title: "core.worktree", attack: worker("echo evil > f; git add f; git config core.worktree REPO; git checkout-index -f -a; git -c core.worktree=OTHER checkout-index -f -a; git -c core.worktree=REPO checkout-index -f -a"), defense: walls + ",sandbox.protected"},
	{id: "I11", title: "hard links", attack: worker("ln REPO/f hard && echo evil >> hard; ln OTHER/secret hard2 && cat hard2; ln REPO/f OUTSIDE/hard && echo evil >> OUTSIDE/hard; ln OTHER/secret OUTSIDE/h && cat OUTSIDE/h"), defense: walls},
	{id: "I12", title: ".git that is another's", attack: anothersGit, defense: walls + ",sandbox.protected"},
	{id: "I13", title: "git push by path", attack: worker("echo evil > f; git commit -qam evil; git push -q REPO HEAD:refs/heads/evil; git push -q file://REPO HEAD:refs/heads/evil2; git push -q OTHER HEAD:refs/heads/evil; git fetch -q OTHER work && git show FETCH_HEAD:secret"), defense: walls},
	{id: "I14", title: "alternates of a worker's own", attack: ownAlternates, defense: "worker.objects,sandbox.protected"},
	{id: "I15", title: "what a worker writes is trusted", attack: trustedPlace, defense: "worker.trust"},
	{id: "I16", title: "a worker without its sandbox", attack: unboxedWorker, defense: "worker.sandbox"},
	{id: "I17", title: "pawl's own files, and those of others", attack: worker("cat DATA/secret DATA/worktrees/*.json OTHER/secret REPO/.env CACHE/tmp/other/secret; find DATA CACHE REPO -name '*secret*'; grep -rl s3cret- DATA CACHE REPO"), defense: "worker.isolation"},
	{id: "I18", title: "the user lets commands write where the repository is", attack: writableAbove, defense: "worker.isolation"},
}

// mission is a user's repository with two worktrees, of which the attackEnv's directory
// is one.
type mission struct {
	*attackEnv
	base, repo, lender, other string
	places                    *strings.Replacer
	before                    map[string]string
}

// mission makes one. The repository borrows objects itself.
func (a *attackEnv) mission() *mission {
	a.Helper()
	a.visible()
	m := &mission{attackEnv: a, base: filepath.Dir(a.dir)}
	m.repo, m.lender = filepath.Join(m.base, "src", "repo"), filepath.Join(m.base, "lender.git")
	a.repository()
	a.write(".gitignore", ".env\n")
	a.git(a.dir, "add", "-A")
	a.git(a.dir, "commit", "-qm", "second")
	a.git(m.base, "clone", "-q", "--bare", a.dir, m.lender)
	a.git(m.base, "clone", "-q", "--shared", m.lender, m.repo)
	a.write(filepath.Join(m.repo, ".env"), marker+"\n")
	data, cache := filepath.Join(m.base, "data"), filepath.Join(a.home, ".cache", "pawl")
	a.write(filepath.Join(data, "secret"), marker+"\n")
	a.write(filepath.Join(cache, "tmp", "other", "secret"), marker+"\n")
	for _, name := range []string{"mine", "other"} { // as for workers from another host: no rules and hooks of a project apply
		file := filepath.Join(data, "guards", name+".json")
		a.write(file, `{"checkout":"","project":"","dir":"","trusted":[]}`+"\n")
		a.ok(os.Chmod(file, 0o600))
	}
	for _, dir := range []string{data, filepath.Join(data, "guards"), cache, filepath.Join(cache, "tmp"), filepath.Join(cache, "tmp", "other")} {
		a.ok(os.Chmod(dir, 0o700))
	}
	trees := m.trees()
	a.ok(trees.Make(a.Context(), "HEAD", "mine", "other"))
	a.dir, m.other = trees.Path("mine"), trees.Path("other")
	a.write(filepath.Join(m.other, "secret"), marker+"\n")
	a.git(m.other, "add", "secret")
	a.git(m.other, "commit", "-qm", "secret")
	m.places = strings.NewReplacer("OTHER", m.other, "REPO", m.repo, "LENDER", m.lender, "DATA", data, "CACHE", cache, "OUTSIDE", a.outside, "BLOB", a.blob(filepath.Join(m.other, "secret")))
	m.before = m.state()
	return m
}

// blob is git's name for the content of a file.
func (a *attackEnv) blob(path string) string {
	a.Helper()
	out, err := exec.CommandContext(a.Context(), "git", "hash-object", "--no-filters", path).Output()
	a.ok(err)
	return strings.TrimSpace(string(out))
}

// trees are the worktrees of the repository, as a mission would have them.
func (m *mission) trees() *worktree.Trees {
	m.Helper()
	g, err := git.Find(m.Context(), m.repo)
	m.ok(err)
	repo, err := g.Open(m.Context(), m.repo)
	m.ok(err)
	dir, err := m.safety().Allot(repo)
	m.ok(err)
	return &worktree.Trees{Repo: repo, Dir: dir}
}

// state is all that a worker must leave alone: the user's files and git's, those
// of the lender and of the other worker, and which worktrees there are.
func (m *mission) state() map[string]string {
	m.Helper()
	all := map[string]string{}
	for _, dir := range []string{m.repo, m.lender, m.outside, filepath.Dir(m.dir)} {
		m.ok(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if path == m.dir {
				return fs.SkipDir
			}
			if err != nil || d.IsDir() {
				all[path] = "a folder"
				return err
			}
			text, err := os.ReadFile(path)
			all[path] = string(text)
			return err
		}))
	}
	return all
}

// damage reports what is not as it was.
func (m *mission) damage() {
	m.Helper()
	after := m.state()
	for path, text := range m.before {
		if after[path] != text {
			m.breach("%s was changed", path)
		}
	}
	for path := range after {
		if _, known := m.before[path]; !known {
			m.breach("%s came up", path)
		}
	}
}

// worker has a worker run a command, alone and after one that it works with: the
// places of others stand for themselves.
func worker(script string) func(a *attackEnv) {
	return func(a *attackEnv) {
		m := a.mission()
		m.run(script)
	}
}

// run plays commands of the worker.
func (m *mission) run(scripts ...string) {
	m.Helper()
	calls := []call{bash("git status --short && git log --oneline -2 && git diff HEAD~1 --stat && echo x >> f && git commit -qam mine && echo GIT-WORKS")}
	for _, script := range scripts {
		calls = append(calls, bash(m.places.Replace(script)+"; echo IT-RAN"))
	}
	o := m.play("auto", calls...)
	if m.without == "" && !strings.Contains(o.result(1), "GIT-WORKS") {
		m.Fatalf("git does not work in a workplace: %s", o.result(1))
	}
	for i := range scripts {
		if m.Logf("%s", o.result(i+2)); !strings.Contains(o.result(i+2), "IT-RAN") {
			m.Fatal("the attack was not made")
		}
	}
	m.unseen("auto", o, calls)
	m.damage()
}

// linkedTools: links in the worktree lead file tools nowhere, in any mode that
// they work in.
func linkedTools(a *attackEnv) {
	m := a.mission()
	a.write(filepath.Join(m.repo, "secret"), marker+"\n")
	m.before = m.state()
	a.write("mine", "mine\n")
	a.link(m.other, "o")
	a.link(m.repo, "r")
	a.link("../other", "rel")
	for _, dir := range []string{"o", "r", "rel", "../other", m.other} {
		for _, mode := range []string{"guard", "auto"} {
			calls := touching(dir)
			a.unseen(mode, a.play(mode, calls...), calls)
			m.damage()
		}
	}
}

// swappedPlaces: another program makes a directory a link to the others and back, while
// file tools are at work in it.
func swappedPlaces(a *attackEnv) {
	m := a.mission()
	a.write("d/file", "old\n")
	a.link(m.other, "o")
	a.link(m.repo, "r")
	swap := `$|=1; print "swapping\n"; while (1) { for my $l ("o", "r") { rename "d", "away"; rename $l, "d"; select undef, undef, undef, 0.003; rename "d", $l; rename "away", "d"; select undef, undef, undef, 0.003 } }`
	stop := a.beside("perl", "-e", swap)
	var calls []call
	for i := range 40 {
		calls = append(calls, writeFile(fmt.Sprintf("d/new%d", i), "x\n"), editFile("d/file", "o", "oo"), editFile("d/f", "o", "evil"),
			patch(fmt.Sprintf("*** Add File: d/patched%d\n+x\n", i)), readFile("d/secret"))
	}
	o := a.play("auto", calls...)
	stop()
	a.unseen("auto", o, calls)
	m.damage()
}

// anothersGit: what git is to take for the worktree's own repository is the
// user's, for the worker's commands and for pawl itself.
func anothersGit(a *attackEnv) {
	m := a.mission()
	m.run(`perl -e 'rename ".git", "away" or print "$!\n"'; echo gitdir: REPO/.git > .git; echo evil > f; git add f; git commit -qm evil`, "git commit -qam evil; git branch evil")
	a.ok(os.RemoveAll(filepath.Join(a.dir, ".git")))
	a.write(".git", "gitdir: "+m.repo+"/.git\n")
	a.play("auto", bash("echo evil > f; git add f; git commit -qm evil; git reset -q --hard HEAD"), writeFile("new", "x"))
	a.pawl("trust", "--status")
	m.damage()
}

// ownAlternates: a worker says itself what its git borrows.
func ownAlternates(a *attackEnv) {
	m := a.mission()
	m.run("echo OTHER/.git/objects >> .git/objects/info/alternates", "git cat-file -p BLOB; find OTHER/.git/objects -type f", "cat OTHER/.git/objects/*/* | perl -MIO::Uncompress::Inflate=inflate,:all -e 'inflate \"-\" => \"-\", MultiStream => 1'; git cat-file -p BLOB")
}

// trustedPlace: what a worker leaves in its worktree takes no effect, whatever
// anybody says of trust.
func trustedPlace(a *attackEnv) {
	m := a.mission()
	hook := `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"touch ` + filepath.Join(a.dir, "hooked") + `"}]}]}}`
	a.write(".claude/settings.json", hook)
	a.write(".pawl/config.json", hook)
	a.write(".mcp.json", `{"mcpServers":{"evil":{"command":"sh","args":["-c","exit 1"]}}}`)
	a.pawl("trust", "--yes")
	if !strings.Contains(a.read(filepath.Join(m.base, "data", "trust.json")), a.dir) {
		a.Fatal("nobody has said that it is trusted")
	}
	for _, flags := range [][]string{{}, {"--trust"}} {
		out := a.playWith(append(flags, "--mode", "auto"), bash("true"))
		if a.exists("hooked") {
			a.breach("pawl run %q: hooked", flags)
		}
		if strings.Contains(out.Stdout+out.Stderr, "MCP server evil") { // it only reads the workspace, so it leaves no file
			a.breach("pawl run %q: served", flags)
		}
	}
	m.damage()
}

// unboxedWorker: a worker asks to do without its sandbox, and the user's rules and
// modes would let it.
func unboxedWorker(a *attackEnv) {
	m := a.mission()
	a.user(`{"permissions":{"rules":[{"kind":"escape","pattern":"*","decision":"allow"},{"kind":"exec","pattern":"*","decision":"allow"}]}}`)
	script := m.places.Replace("echo evil > REPO/f; cat OTHER/secret")
	for _, mode := range []string{"guard", "auto"} {
		calls := []call{{"bash", in{"command": script, "unsandboxed": true}}, bash(script)}
		a.unseen(mode, a.play(mode, calls...), calls)
	}
	out := a.pawl("run", "--mode", "yolo", "--model", a.script(replies(bash(script))...), "go")
	a.Logf("%s%s", out.Stdout, out.Stderr)
	m.damage()
}

// writableAbove: the user's own configuration lets commands write to directories that
// hold the repository and pawl's data.
func writableAbove(a *attackEnv) {
	m := a.mission()
	a.user(`{"sandbox":{"writable":["` + filepath.Dir(m.repo) + `","` + filepath.Dir(filepath.Dir(m.other)) + `"]}}`)
	m.run("echo evil > REPO/f; echo evil > OTHER/f; cat OTHER/secret REPO/.env; git push -q REPO HEAD:refs/heads/evil")
}
