//go:build sectest

package security

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// spellings are names that some file system takes for a protected one.
var spellings = []string{
	".cUrSoR/mcp.json", ".CLAUDE/settings.json", ".Git/hooks/pre-commit", ".GIT/config", ".VsCode/settings.json", ".MCP.json", ".EnvRC",
	"sub/.Claude/settings.json", ".pawl./x", ".pawl /x", ".git::$INDEX_ALLOCATION/hooks/x", "git~1/hooks/x", "GIT~1/config", ".git\\hooks\\x",
	".clau\u200cde/settings.json", ".g\u200dit/hooks/x", "\ufeff.vscode/x", ".hu\u017fky/pre-commit", ".\u212ashrc",
	".\uff43laude/settings.json", ".\uff27\uff29\uff34/hooks/x", "\uff0egit/hooks/x", "\u2024claude/x",
}

// spelledNames: file tools write to no spelling of a protected name.
func spelledNames(a *attackEnv) {
	a.write("mine", "mine\n")
	calls := []call{writeFile("sub/works", "x")}
	for _, name := range spellings {
		a.write("there/"+name, "old\n")
		calls = append(calls, writeFile(name, "x"), patch("*** Add File: added/"+name+"\n+x\n"),
			patch("*** Update File: mine\n*** Move to: moved/"+name+"\n@@\n-mine\n+x\n"),
			editFile("there/"+name, "old", "new"), patch("*** Delete File: there/"+name+"\n"))
	}
	for _, mode := range []string{"guard", "auto"} {
		a.play(mode, calls...)
		if !a.exists("sub/works") {
			a.Fatal("nothing can be written at all")
		}
		for _, name := range spellings {
			for _, folder := range []string{"", "added/", "moved/"} {
				if a.exists(folder + name) {
					a.breach("in the mode %s %q was written", mode, folder+name)
				}
			}
			a.unchanged("there/"+name, "old\n")
		}
	}
}

// spelledNamesInCommands: what is there under such a name cannot be changed from
// the sandbox. What did not exist can come up, where the file system tells one
// spelling from the other; then the model and the user learn that.
func spelledNamesInCommands(a *attackEnv) {
	a.git(a.dir, "init", "-q")
	there := []string{".Claude/settings.json", ".CURSOR/mcp.json", "sub/.VSCode/tasks.json", ".EnvRC", "deep/er/.Husky/pre-commit", ".clau\u200cde/x", ".ba\u017fhrc", ".\uff43laude/settings.json"}
	for _, name := range there {
		a.write(name, "old\n")
	}
	var script strings.Builder
	for _, name := range there {
		fmt.Fprintf(&script, "echo new > '%[1]s'; rm -f '%[1]s'; mv '%[1]s' gone; ln -f sub '%[1]s'; d='%[2]s'; [ $d = . ] || { mv $d moved; rm -rf $d; }\n", name, filepath.Dir(name))
	}
	for _, name := range []string{".claude/settings.json", ".pawl/pawl.json", ".envrc", ".mcp.json", ".git/hooks/pre-commit", ".vscode/x"} {
		fmt.Fprintf(&script, "mkdir -p '%s'; echo new > '%s'\n", filepath.Dir(name), name)
	}
	a.write("attack.sh", script.String()+"touch ran\n") // in a file, where nobody looks before it runs
	o := a.play("guard", bash("sh attack.sh"))
	if !a.exists("ran") {
		a.Fatalf("it did not run: %s", o.result(1))
	}
	for _, name := range there {
		a.unchanged(name, "old\n")
	}
	for _, name := range []string{".claude", ".pawl", ".envrc", ".mcp.json", ".vscode", ".git/hooks/pre-commit"} {
		if info, err := os.Lstat(filepath.Join(a.dir, name)); err == nil && (!info.IsDir() || info.Mode()&os.ModeSticky == 0) {
			a.breach("a command made %s", name)
		}
	}
	for _, name := range []string{".CLAUDE/x", "new/.claude/settings.json", ".G\u200dit/hooks/x", ".VSCODE/x"} {
		o := a.play("guard", bash(fmt.Sprintf("mkdir -p '%s'; echo x > '%s'", filepath.Dir(name), name)))
		if a.exists(name) && !strings.Contains(o.result(1), "other programs take orders") {
			a.breach("%s came up and nobody was told", name)
		}
	}
}

// plantedHooks: what a command leaves in a repository runs neither when a
// command commits, nor when the user does.
func plantedHooks(a *attackEnv) {
	a.visible()
	a.git(a.dir, "init", "-q")
	a.write("sub/file", "x\n")
	hook := fmt.Sprintf("#!/bin/sh\\ntouch %s %s\\n", a.canary("hooked"), filepath.Join(a.dir, "hooked"))
	plant := fmt.Sprintf(`h() { mkdir -p "$1"; for n in pre-commit post-commit post-checkout reference-transaction fsmonitor; do printf '%s' > "$1/$n"; chmod +x "$1/$n"; done; }
h .git/hooks; h hooks2
rm -rf .git/hooks; h .git/hooks
mv .git/hooks .git/old; h .git/hooks
git config core.hooksPath "$PWD/hooks2"; git config core.fsmonitor "$PWD/hooks2/fsmonitor"; git config core.editor "$PWD/hooks2/pre-commit"
printf '[core]\n hooksPath = %%s/hooks2\n' "$PWD" >> .git/config
printf '[core]\n hooksPath = %%s/hooks2\n' "$PWD" > c; mv c .git/config; cp c .git/config.worktree
git config extensions.worktreeConfig true; git config --worktree core.hooksPath "$PWD/hooks2"
git config --global core.hooksPath "$PWD/hooks2"
mv .git g2; cp -r g2 .git; h .git/hooks
export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@y GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@y
git add sub; git commit -m one; rm -f hooked; echo end`, hook) // its own hooks may run in its own view
	a.write("attack.sh", plant)
	o := a.play("guard", bash("bash attack.sh"),
		writeFile(".git/hooks/pre-commit", strings.ReplaceAll(hook, "\\n", "\n")), writeFile(".git/config", "[core]\n\thooksPath = hooks2\n"),
		patch("*** Add File: .git/hooks/post-commit\n+#!/bin/sh\n"), editFile(".git/config", "[core]", "[core]\n\thooksPath = hooks2\n"),
		bash("export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@y GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@y; git commit --allow-empty -m two; git log --oneline"))
	if a.exists("hooked") {
		a.breach("a hook ran when a command committed")
		return
	}
	if !strings.Contains(o.result(1), "end") || !strings.Contains(o.result(6), "two") {
		a.Fatalf("the commands did not run: %s\n%s", o.result(1), o.result(6))
	}
	a.git(a.dir, "commit", "-q", "--allow-empty", "-m", "three")
	a.canaries()
}

// renamedAncestors: what is protected stays what it is, also when a command moves
// a directory above it and puts another in its place.
func renamedAncestors(a *attackEnv) {
	a.visible()
	a.git(a.dir, "init", "-q")
	a.write("sub/.claude/settings.json", "old\n")
	a.write("sub/deep/.vscode/tasks.json", "old\n")
	a.git(filepath.Join(a.dir, "sub"), "init", "-q", "repo")
	a.write("private/key", marker+"\n")
	a.write("p/q/key", marker+"\n")
	a.rules(rule("read", "private/key", "deny"), rule("read", "p/q/key", "deny"))
	config := a.read("sub/repo/.git/config")
	move := `mv sub sub2 && { mkdir -p sub/.claude sub/deep/.vscode; cp -r sub2/repo sub/repo; }; mv sub/deep sub/deep2; mkdir -p sub/deep/.vscode
mv sub/repo sub/repo2; cp -r sub/repo2 sub/repo; mv .git g2; mkdir .git; cp -r g2/. .git
echo new > sub/.claude/settings.json; echo new > sub/deep/.vscode/tasks.json; echo new > sub/repo/.git/config
mv private private2; mv p p2; mv p/q p/q2; mv ../ws ../ws2; mv "$PWD" "$PWD-2"; mount --bind /tmp "$PWD"
for n in .git sub/repo/.git; do mkdir -p $n/hooks; echo new > $n/hooks/pre-commit; done; touch ran`
	a.write("attack.sh", move)
	o := a.play("guard", bash("sh attack.sh"), readFile("private2/key"), readFile("p2/q/key"), readFile("p/q2/key"), grep("."))
	if !a.exists("ran") {
		a.Fatalf("it did not run: %s", o.result(1))
	}
	a.unchanged("sub/.claude/settings.json", "old\n")
	a.unchanged("sub/deep/.vscode/tasks.json", "old\n")
	a.unchanged("sub/repo/.git/config", config)
	for _, path := range []string{".git/hooks/pre-commit", "sub/repo/.git/hooks/pre-commit"} {
		if a.exists(path) {
			a.breach("%s came up", path)
		}
	}
	for n := 2; n <= 5; n++ {
		if strings.Contains(o.result(n), marker) {
			a.breach("a file that is denied was read under another name: call %d", n)
		}
	}
}
