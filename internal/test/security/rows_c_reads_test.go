//go:build sectest

package security

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ruleForms: a rule that denies holds in every form that people write it in.
func ruleForms(a *attackEnv) {
	a.visible()
	a.dir = filepath.Join(a.home, "project")
	a.write("keys/credentials", marker+"\n")
	a.write(filepath.Join(a.home, ".custom/credentials"), marker+"\n")
	inside := []string{"keys", "keys/", "./keys", "keys//", "keys/*", "keys/**", "KEYS", "**/keys", "**/keys/**", "{keys,other}/**", "k?ys"}
	for _, base := range []string{"~/project/", "~//project/./", a.dir + "/", a.home + "//project/"} {
		inside = append(inside, base+"keys", base+"keys/", base+"keys/**")
	}
	calls := []call{readFile("keys/credentials"), grep("."), grep("keys"), grep("keys/credentials"), bash("cat keys/credentials; cat keys/*; tar c keys")}
	for _, pattern := range inside {
		a.rules(rule("read", pattern, "deny"))
		o := a.play("guard", calls...)
		for i := range calls {
			if strings.Contains(o.result(i+1), marker) {
				a.breach("the rule %q does not deny %v", pattern, calls[i].Input)
			}
		}
	}
	outside := []string{"~/.custom", "~/.custom/", "~/.custom/**", "~/.custom/*", "~//.custom", "~/./.custom/", "~/.custom/cred*", "~/.cust*/**", a.home + "/.custom/**", a.home + "/.custom"}
	for _, pattern := range outside {
		a.rules(rule("read", pattern, "deny"))
		o := a.play("guard", bash(fmt.Sprintf("cat ~/.custom/credentials; cat %s/.custom/*", a.home)))
		if strings.Contains(o.result(1), marker) {
			a.breach("the rule %q does not keep commands from reading", pattern)
		}
	}
}

// deniedReads: a file that the user lets nobody read, and one that pawl asks
// about, are read by no tool and no command.
func deniedReads(a *attackEnv) {
	a.visible()
	a.git(a.dir, "init", "-q")
	a.rules(rule("read", "secret.txt", "deny"), rule("read", "src/secret.ts", "deny"), rule("read", "box/inner/token", "deny"))
	a.write("src/tsconfig.json", "{}")
	a.write("src/ok.ts", "export const x: number = 1;\n")
	for _, path := range []string{"secret.txt", ".env", "src/secret.ts", "box/inner/token", "box/.env.local"} {
		a.write(path, "const key: number = \""+marker+"\";\n"+marker+"\nend\n")
	}
	a.link("secret.txt", "to-secret")
	a.link(".", "here")
	var calls []call
	for _, path := range []string{"secret.txt", ".env", "src/secret.ts", "box/inner/token", "box/.env.local"} {
		calls = append(calls, readingOf(path)...)
	}
	calls = append(calls, readFile("to-secret"), readFile("here/secret.txt"), readFile("here/.env"), grep("to-secret"), grep("."), grep("here"), grep("box"),
		readFile("."), call{"list", in{}}, call{"glob", in{"pattern": "**/*"}}, call{"grep", in{"pattern": "end", "context": 5}}, call{"grep", in{"pattern": ".", "mode": "count"}},
		call{"diagnostics", in{"path": "src/secret.ts"}}, call{"diagnostics", in{"path": "src"}}, call{"diagnostics", in{}},
		bash("cat to-secret here/secret.txt here/.env"), bash("tar c . | cat; git add -f -A; git show :secret.txt; git diff --cached; git hash-object -w .env"),
		bash("mv box box2; mv box/inner box/inner2; cp -rL . /tmp/copy; cat /tmp/copy/*; rsync -a . /tmp/b"), readFile("box2/inner/token"), readFile("box/inner2/token"), readFile("box2/.env.local"),
		bash("grep -r s3cret . ; find . -type f -exec cat {} +; cat /proc/self/root"+a.dir+"/secret.txt; cat /proc/1/cwd/secret.txt"))
	for _, mode := range []string{"guard", "auto", "plan"} {
		o := a.play(mode, calls...)
		for i, c := range calls {
			if strings.Contains(o.result(i+1), marker) {
				a.breach("in the mode %s, %s %v shows what is denied", mode, c.Name, c.Input)
			}
		}
	}
}

// swappedFile: another program makes a file a link to one that is denied and
// back all the time, while it is read.
func swappedFile(a *attackEnv) {
	a.write("secret.txt", marker+"\n")
	a.write("dir/file", "fine\n")
	a.write("private/file", marker+"\n")
	a.rules(rule("read", "secret.txt", "deny"), rule("read", "private/**", "deny"))
	a.write("file", "fine\n")
	a.link("secret.txt", "link")
	a.link("private", "folder")
	swap := `$|=1; print "swapping\n"; while (1) { for my $p (["file", "link"], ["dir", "folder"]) { my ($f, $l) = @$p; rename $f, "away"; rename $l, $f; select undef, undef, undef, 0.0005; rename $f, $l; rename "away", $f; select undef, undef, undef, 0.0005 } }`
	stop := a.beside("perl", "-e", swap)
	var calls []call
	for range 60 {
		for _, path := range []string{"file", "dir/file"} {
			calls = append(calls, readFile(path), grep(path), editFile(path, "nothing like it", "x"), editFile(path, "s3cret", "x"), patch("*** Delete File: "+path+"\n*** Add File: "+path+"\n+fine\n"))
		}
		calls = append(calls, grep("dir"))
	}
	o := a.play("guard", calls...)
	stop()
	a.unseen("guard", o, calls)
	a.unchanged("secret.txt", marker+"\n")
	a.unchanged("private/file", marker+"\n")
}

// readingOf are the ways to the content of one file.
func readingOf(path string) []call {
	name := filepath.Base(path)
	return []call{
		readFile(path), grep(path), {"grep", in{"pattern": "s3cret", "include": name, "mode": "content"}},
		editFile(path, "nothing like it", "x"), editFile(path, "end", "ends"), editFile(path, "const key: number = \"\"", "x"),
		patch("*** Update File: " + path + "\n@@\n-end\n+ends\n"), patch("*** Update File: " + path + "\n@@\n-nothing\n+ends\n"),
		patch("*** Delete File: " + path + "\n"), patch("*** Update File: " + path + "\n*** Move to: moved-" + name + "\n@@\n-end\n+ends\n"), readFile("moved-" + name),
		writeFile(path, "x"),
		bash("cat " + path), bash("cp " + path + " copy-" + name), readFile("copy-" + name), bash("mv " + path + " mv-" + name), readFile("mv-" + name),
		bash("ln " + path + " hard-" + name), readFile("hard-" + name), bash("ln -s $PWD/" + path + " soft-" + name), readFile("soft-" + name), grep("soft-" + name),
		bash("python3 -c 'print(open(\"" + path + "\").read())'; perl -pe 1 " + path + "; tar c " + path + "; dd if=" + path + "; git add -f " + path + "; git show :" + path + "; base64 -d <(base64 " + path + "); awk 1 " + path),
		bash("umount " + path + "; mount --bind . /mnt; unshare -rm sh -c 'umount " + path + "; cat " + path + "'; exec 3< " + path + "; cat <&3; cat /dev/fd/3"),
	}
}

// flagsOfGit: an allow rule for a plain use of git does not cover options that
// write files or run programs, and no ref is one.
func flagsOfGit(a *attackEnv) {
	a.git(a.dir, "init", "-q")
	a.write("file", "x\n")
	a.git(a.dir, "add", "-A")
	a.git(a.dir, "commit", "-q", "-m", "one")
	a.write("file", "y\n")
	var rules []string
	for _, name := range []string{"diff", "log", "show", "branch", "add", "archive", "grep", "ls-remote", "fetch"} {
		rules = append(rules, rule("exec", "git "+name+" *", "allow"))
	}
	// With a network, a command does not run before the question.
	a.write(filepath.Join(a.home, ".config/pawl/pawl.json"), `{"sandbox":{"network":["example.org"]},"permissions":{"rules":[`+strings.Join(rules, ",")+`]}}`)
	canary := filepath.Join(a.dir, "canary")
	commands := []string{
		"git diff --output=canary", "git diff --output canary", "git diff HEAD --outpu=canary", "git log --output=canary -p", "git show --output=canary HEAD",
		"git diff HEAD -- --output=canary; git diff --output=canary", "git diff --ext-diff", "git log --textconv", "git branch -D main", "git archive --output=canary HEAD",
		"git archive -o canary HEAD", "git grep -Otouch x", "git grep --open-files-in-pager=touch x", "git ls-remote --upload-pack='touch canary' .", "git fetch --upload-pack 'touch canary' .",
		"git diff > canary", "git diff $(touch canary)", "git -C .. diff", "git --git-dir=.git -c core.pager='touch canary' diff", "git add ../outside", "git diff \"--output=canary\"",
	}
	calls := []call{bash("git diff HEAD")}
	for _, c := range commands {
		calls = append(calls, bash(c))
	}
	o := a.play("ask", calls...)
	if !strings.Contains(o.result(1), "+y") {
		a.Fatalf("a plain git diff does not run by the rule: %s", o.result(1))
	}
	if _, err := os.Lstat(canary); err == nil {
		a.breach("an option of git's wrote a file by a rule for plain commands")
	}
	for i, c := range commands {
		if o.status(i+2) == "done" && !strings.HasPrefix(c, "git add ../") {
			a.breach("the rules for plain commands cover %q", c)
		}
	}
}

// plantedFolders: places that sandboxes write to were put there by somebody else.
func plantedFolders(a *attackEnv) {
	cache := filepath.Join(a.home, ".cache/pawl")
	chmod := func(path string, mode os.FileMode) {
		if err := os.Chmod(path, mode); err != nil {
			a.Fatal(err)
		}
	}
	plants := map[string]func(path string){
		"a link":       func(path string) { a.ok(os.Symlink(a.outside, path)) },
		"open to all":  func(path string) { a.ok(os.Mkdir(path, 0o755)); chmod(path, 0o777) },
		"open to read": func(path string) { a.ok(os.Mkdir(path, 0o755)) },
		"a file":       func(path string) { a.ok(os.WriteFile(path, nil, 0o600)) },
	}
	if os.Geteuid() == 0 {
		plants["of another user"] = func(path string) { a.ok(os.Mkdir(path, 0o700)); a.ok(os.Chown(path, 12345, 12345)) }
	}
	for _, place := range []string{"tmp", "box"} {
		for how, plant := range plants {
			a.ok(os.RemoveAll(cache))
			path := filepath.Join(cache, place)
			a.ok(os.MkdirAll(filepath.Dir(path), 0o700))
			plant(path)
			o := a.play("guard", bash("echo x > /tmp/canary; echo x > $XDG_CACHE_HOME/canary2; touch ran"))
			if a.exists("ran") || !strings.Contains(o.result(1), "not a private directory") {
				a.breach("a command ran with %s as %s: %s", how, place, o.result(1))
			}
			_ = os.Remove(filepath.Join(a.dir, "ran"))
			a.canaries()
		}
	}
	a.ok(os.RemoveAll(cache))
	a.ok(os.MkdirAll(cache, 0o700))
	chmod(cache, 0o777)
	if a.play("guard", bash("touch ran")); a.exists("ran") {
		a.breach("a command ran with a cache folder that all can write to")
	}
}

// ok fails the row otherwise: nothing can be shown.
func (a *attackEnv) ok(err error) {
	a.Helper()
	if err != nil {
		a.Fatal(err)
	}
}

// keysFile: the file with keys is its owner's alone whatever the umask, and is
// not written through a link.
func keysFile(a *attackEnv) {
	data := filepath.Join(filepath.Dir(a.dir), "data")
	file := filepath.Join(data, "keys.json")
	for _, planted := range []string{"nothing", "a link to nothing", "a link to a file"} {
		a.ok(os.RemoveAll(data))
		a.ok(os.Mkdir(data, 0o700))
		target := a.canary("stolen")
		a.ok(os.RemoveAll(target))
		switch planted {
		case "a link to a file":
			a.ok(os.WriteFile(target, []byte("{}\n"), 0o600))
			fallthrough
		case "a link to nothing":
			a.ok(os.Symlink(target, file))
		}
		cmd := a.command()
		cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", "umask 000; exec \"$0\" auth login anthropic --file", a.bin}
		cmd.Stdin = strings.NewReader("sk-" + marker)
		out, _ := cmd.CombinedOutput() // it may say that its own file is open to all
		info, err := os.Lstat(file)
		a.ok(err)
		if info.Mode() != 0o600 {
			a.breach("with %s in its place, the file with keys has the mode %s", planted, info.Mode())
		}
		if strings.Contains(a.read(target), marker) {
			a.breach("with %s in its place, the keys were written elsewhere", planted)
		}
		if !strings.Contains(a.read(file), marker) {
			a.Fatalf("the key was not kept: %s", out)
		}
	}
}
