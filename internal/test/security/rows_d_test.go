//go:build sectest

package security

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
)

var rowsD = []row{
	{id: "D1", title: "Codex: core.fsmonitor runs on metadata collection", attack: fsmonitor, defense: "git.hardened"},
	{id: "D2", title: "Hermes: core.fsmonitor, by ways round the repository's own file", attack: fsmonitorElsewhere, defense: "git.hardened"},
	{id: "D3", title: "any: repo config runs helpers", attack: gitHelpers, defense: "git.hardened"},
	{id: "D4", title: "Repomix: --upload-pack via branch arg", attack: optionsForRefs, defense: "git.refs"},
	{id: "D5", title: "go-git: arg injection through URL on file transport", attack: transports, defense: "git.hardened"},
	{id: "D6", title: "OpenHands: diff handler path to shell", attack: shellInAPath, unbreakable: "git is started by a list of words: there is no shell on the way that could be left out"},
	{id: "D7", title: "Claude Code: parser disagrees with git on host", attack: hostsThatDiffer, unbreakable: "git is given the spelling that is made of what was checked, never the text itself: there is no second reading to leave out"},
}

// repository makes the workspace a repository with a commit on main of the files
// f and sub/g, of which f has changed since.
func (a *attackEnv) repository() {
	a.Helper()
	a.git(a.dir, "init", "-q", "-b", "main", ".")
	a.set("user.name", "n", "user.email", "e@example.org")
	a.write("f", "one\n")
	a.write("sub/g", "g\n")
	a.git(a.dir, "add", ".")
	a.git(a.dir, "commit", "-qm", "first")
	a.write("f", "two, and longer\n")
}

// evil is a program that leaves a canary.
func (a *attackEnv) evil(name string) string {
	a.Helper()
	path := filepath.Join(filepath.Dir(a.dir), "evil-"+name)
	a.write(path, "#!/bin/sh\ntouch "+a.canary(name)+"\nexit 1\n")
	return path
}

// set sets keys of the repository's configuration, by a file: git itself would
// fall for some of them.
func (a *attackEnv) set(pairs ...string) {
	a.Helper()
	for i := 0; i < len(pairs); i += 2 {
		a.git(a.outside, "config", "--file", filepath.Join(a.dir, ".git/config"), pairs[i], pairs[i+1])
	}
}

func (a *attackEnv) opened() *git.Repo {
	a.Helper()
	g, err := git.Find(a.Context(), a.dir)
	if err != nil {
		a.Fatal(err)
	}
	r, err := g.Open(a.Context(), a.dir)
	if err != nil {
		a.Fatal(err)
	}
	return r
}

// ownGit does all that pawl's own git can do in the workspace: at the start of
// the program, and by each call that it has. Some may fail.
func (a *attackEnv) ownGit() {
	a.Helper()
	a.Setenv("HOME", a.home) // without its hardening git would read it
	for _, args := range [][]string{{"trust", "--status"}, {"run", "--model", a.script(replies()...), "go"}} {
		a.pawl(args...)
	}
	r := a.opened()
	ctx := a.Context()
	note := func(what string, err error) {
		if err != nil {
			a.Logf("%s: %v", what, err)
		}
	}
	_, err := r.Head(ctx)
	note("head", err)
	_, err = r.Branch(ctx)
	note("branch", err)
	_, err = r.Status(ctx)
	note("status", err)
	_, err = r.Show(ctx, "main", "sub/g")
	note("show", err)
	_, err = r.Diff(ctx, "main", "f")
	note("diff", err)
	_, err = r.Diff(ctx, "")
	note("diff", err)
	for _, c := range []git.Call{
		{Args: []string{"log", "-p", "-1"}},
		{Args: []string{"show"}, Refs: []string{"main"}},
		{Args: []string{"fetch", "--quiet", "origin"}},
		{Args: []string{"add"}, Paths: []string{"f"}},
		{Args: []string{"commit", "--quiet", "-m", "second"}},
		{Args: []string{"checkout-index", "--force"}, Paths: []string{"f"}},
		{Args: []string{"worktree", "add", "--quiet", "--detach", filepath.Join(a.TempDir(), "tree")}},
	} {
		_, err = r.Run(ctx, c)
		note(c.Args[0], err)
	}
}

// fsmonitor: git asks a program of the repository which files have changed.
func fsmonitor(a *attackEnv) {
	a.repository()
	a.set("core.fsmonitor", a.evil("fsmonitor"))
	a.ownGit()
	a.canaries()
}

// fsmonitorElsewhere: the same setting, in a file that the configuration
// includes, by a condition, of this worktree alone, and beside settings that
// would undo a switch on the command line.
func fsmonitorElsewhere(a *attackEnv) {
	for name, lay := range map[string]func(program string){
		"included": func(program string) {
			a.write("more", "[core]\n\tfsmonitor = "+program+"\n")
			a.set("include.path", "../more")
		},
		"on-a-branch": func(program string) {
			a.write("more", "[core]\n\tfsmonitor = "+program+"\n")
			a.set("includeIf.onbranch:main.path", "../more")
		},
		"of-this-worktree": func(program string) {
			a.set("extensions.worktreeConfig", "true")
			a.write(".git/config.worktree", "[core]\n\tfsmonitor = "+program+"\n")
		},
		"twice": func(program string) {
			a.write(".git/config", a.read(".git/config")+"[core]\n\tfsmonitor = "+program+"\n[CORE]\n\tFSMonitor = "+program+"\n")
		},
	} {
		if err := os.RemoveAll(filepath.Join(a.dir, ".git")); err != nil {
			a.Fatal(err)
		}
		a.repository()
		lay(a.evil("fsmonitor-" + name))
		a.ownGit()
	}
	a.canaries()
}

// gitHelpers: one repository for each way in which a configuration, attributes
// or hooks have git run a program.
func gitHelpers(a *attackEnv) {
	for name, pairs := range map[string][]string{
		"pager":           {"core.pager", "EVIL", "pager.log", "EVIL", "pager.diff", "EVIL"},
		"editor":          {"core.editor", "EVIL", "sequence.editor", "EVIL"},
		"ssh":             {"core.sshCommand", "EVIL", "remote.origin.url", "ssh://127.0.0.1/x"},
		"external":        {"diff.external", "EVIL"},
		"command":         {"diff.evil.command", "EVIL"},
		"textconv":        {"diff.evil.textconv", "EVIL"},
		"clean":           {"filter.evil.clean", "EVIL"},
		"process":         {"filter.evil.process", "EVIL"},
		"smudge":          {"filter.evil.smudge", "EVIL"},
		"gpg":             {"commit.gpgSign", "true", "gpg.program", "EVIL"},
		"helper":          {"credential.helper", "EVIL", "credential.http://127.0.0.1.helper", "EVIL", "remote.origin.url", "http://" + a.listen().addr + "/x"},
		"alias":           {"alias.status", "!EVIL", "alias.st", "!EVIL"},
		"uploadpack":      {"remote.origin.uploadpack", "EVIL", "remote.origin.url", "."},
		"hooks":           {},
		"hooks-elsewhere": {"core.hooksPath", "tools"},
		"ask-pass":        {"core.askPass", "EVIL"},
		"interactive":     {"interactive.diffFilter", "EVIL"},
	} {
		if err := os.RemoveAll(filepath.Join(a.dir, ".git")); err != nil {
			a.Fatal(err)
		}
		a.repository()
		program := a.evil("git-" + name)
		a.write(".gitattributes", "* filter=evil diff=evil\n")
		for _, hook := range []string{"pre-commit", "post-commit", "post-index-change", "reference-transaction", "post-checkout"} {
			switch name { // elsewhere each trick is to stand for itself
			case "hooks":
				a.write(".git/hooks/"+hook, "#!/bin/sh\nexec "+program+"\n")
			case "hooks-elsewhere":
				a.write("tools/"+hook, "#!/bin/sh\nexec "+program+"\n")
			}
		}
		for i := range pairs {
			pairs[i] = strings.ReplaceAll(pairs[i], "EVIL", program)
		}
		a.set(pairs...)
		a.ownGit()
	}
	a.canaries()
}

// optionsForRefs: what should be the name of a branch is an option, in full and
// abbreviated.
func optionsForRefs(a *attackEnv) {
	a.repository()
	program := a.evil("upload-pack")
	a.set("remote.origin.url", ".")
	r := a.opened()
	for _, c := range []struct{ name, ref string }{
		{"fetch", "--upload-pack=" + program}, {"fetch", "--upload-p=" + program}, {"fetch", "-u" + program},
		{"diff", "--output=" + a.canary("output")}, {"diff", "--outp=" + a.canary("output-short")}, {"log", "--output=" + a.canary("log")}, {"show", "--output=" + a.canary("show")},
		{"worktree", "--upload-pack=" + program}, {"rev-parse", "--sq-quote"},
	} {
		refs := []string{c.ref}
		if c.name == "fetch" {
			refs = append(refs, ".") // what it would be fetched from
		}
		if out, err := r.Run(a.Context(), git.Call{Args: []string{c.name}, Refs: refs}); err == nil {
			a.breach("git %s %s was run: %.80q", c.name, c.ref, out)
		}
		if _, err := r.Commit(a.Context(), c.ref); err == nil {
			a.breach("%s is taken for a commit", c.ref)
		}
		if _, err := r.Show(a.Context(), c.ref, "f"); err == nil {
			a.breach("%s is taken for a commit", c.ref)
		}
	}
	a.canaries()
}

// transports: addresses that are options, helpers of git or files; those that a
// person names, and those that a repository has.
func transports(a *attackEnv) {
	for _, raw := range []string{
		"--upload-pack=touch x", "-oProxyCommand=touch x:a", "ssh://-oProxyCommand=touch x/a", "ext::sh -c touch% x", "EXT::x", "fd::3", "file::x",
		"file:///etc", "/etc", "./a", "a::b", "git@host:--upload-pack=x", "https://h/--upload-pack=x", "git://h/a", "http://h/a",
	} {
		if u, err := git.CheckURL(raw); err == nil {
			a.breach("%q is taken for the address %s", raw, u)
		}
	}
	for name, pairs := range map[string][]string{
		"ext":       {"protocol.ext.allow", "always", "remote.origin.url", "ext::EVIL"},
		"file":      {"remote.origin.url", "file://" + a.dir, "remote.origin.uploadpack", "EVIL"},
		"insteadof": {"protocol.ext.allow", "always", "remote.origin.url", "https://127.0.0.1/x", "url.ext::EVIL .insteadOf", "https://127.0.0.1/"},
	} {
		if err := os.RemoveAll(filepath.Join(a.dir, ".git")); err != nil {
			a.Fatal(err)
		}
		a.repository()
		program := a.evil("transport-" + name)
		for i := range pairs {
			pairs[i] = strings.ReplaceAll(pairs[i], "EVIL", program)
		}
		a.set(pairs...)
		a.ownGit()
		for _, protocol := range []string{"ext", "file", "ssh"} {
			_, err := a.opened().Run(a.Context(), git.Call{Args: []string{"fetch", "origin"}, Protocols: []string{protocol}})
			if err == nil {
				a.breach("%s was fetched by %s", name, protocol)
			}
		}
	}
	a.canaries()
}

// shellInAPath: names of files are commands, or options.
func shellInAPath(a *attackEnv) {
	a.repository()
	names := []string{";touch ran;", "$(touch ran)", "`touch ran`", "|touch ran", "\ntouch ran\n", "--output=ran"}
	for _, name := range names {
		a.write("./"+name, "one\n")
	}
	a.git(a.dir, "add", ".")
	a.git(a.dir, "commit", "-qm", "names")
	ran := func() bool { return a.exists("ran") || a.exists("sub/ran") || a.exists(filepath.Join(a.home, "ran")) }
	for _, name := range names {
		control := a.command()
		control.Path, control.Args = "/bin/sh", []string{"sh", "-c", "git diff " + name}
		out, err := control.CombinedOutput()
		if !ran() {
			a.Fatalf("a shell does not fall for %q, so nothing is shown: %v %s", name, err, out)
		}
		if err := os.Remove(filepath.Join(a.dir, "ran")); err != nil {
			a.Fatal(err)
		}
		a.write("./"+name, "two\n")
		patch, err := a.opened().Diff(context.Background(), "main", name)
		if err != nil || !strings.Contains(string(patch), "+two") {
			a.Fatalf("%q: %v %s", name, err, patch)
		}
		a.ownGit()
		if ran() {
			a.breach("the name %q was run", name)
		}
	}
}

// hostsThatDiffer: addresses that two readers could take for two hosts. Where
// pawl takes one, git goes to the very host that pawl has read.
func hostsThatDiffer(a *attackEnv) {
	record := filepath.Join(filepath.Dir(a.dir), "ssh")
	reached := filepath.Join(filepath.Dir(a.dir), "reached")
	a.write(record, "#!/bin/sh\nfor word; do case $word in -*|git-upload-pack*) ;; *) echo \"$word\" >> "+reached+" ;; esac; done\nexit 1\n")
	taken := 0
	for _, raw := range []string{
		"git@good.test:a", "ssh://git@good.test/a", "ssh://good.test/a", "good.test:a", "GOOD.test:a", "ssh://good.test:2222/a", // honest ones
		"git@evil.test:good.test/a", "evil.test:ssh/good.test", "ssh://evil.test/good.test:a", "ssh://git@evil.test/@good.test/a",
		"ssh://good.test@evil.test/a", "ssh://good.test:22@evil.test/a", "ssh://git@good.test@evil.test/a", "git@good.test@evil.test:a",
		"ssh://good.test#@evil.test/a", "ssh://good.test?@evil.test/a", "ssh://good.test\\@evil.test/a", "ssh://good.test%2f@evil.test/a", "ssh://good.test;@evil.test/a",
		"[evil.test]:good.test", "[git@evil.test:22]:good.test/a", "git@[evil.test:22]:a", "ssh://[evil.test]/a", "ssh://good.test,evil.test/a",
		"git+ssh://evil.test/a", "ssh+git://evil.test/a", "ssh:/good.test/a", "ssh:good.test/a", "good.test/x:evil.test", "ssh://good.test:evil.test/a", "ssh://evil.test:/a", "//evil.test/a",
	} {
		u, err := git.CheckURL(raw)
		if err != nil {
			continue
		}
		taken++
		_ = os.Remove(reached) // of the one before
		cmd := a.command()
		cmd.Path, cmd.Args = "/usr/bin/git", []string{"git", "ls-remote", u.String()}
		cmd.Env = append(cmd.Env, "GIT_SSH_COMMAND="+record, "GIT_SSH_VARIANT=ssh")
		out, _ := cmd.CombinedOutput() // nobody answers
		got := ""
		for word := range strings.Lines(a.read(reached)) {
			if !strings.Contains("0123456789", word[:1]) { // a port
				got = strings.TrimSpace(word)
			}
		}
		host := got[strings.LastIndex(got, "@")+1:]
		if host == "" {
			a.Fatalf("git did not go anywhere for %s: %s", u, out)
		}
		if host != u.Host {
			a.breach("%q is read as %s, and git goes to %s", raw, u.Host, host)
		}
		if strings.Contains(raw, "@evil.test") && u.Host != "evil.test" {
			a.breach("%q is read as %s", raw, u.Host)
		}
	}
	if taken < 6 {
		a.Fatalf("only %d addresses are taken: nothing is shown", taken)
	}
}
