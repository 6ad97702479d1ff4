//go:build sectest

package security

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

var rowsC = []row{
	{id: "C1", title: "Claude Code, MCP fs: string-prefix dir check (/allow-evil)", attack: siblingPrefix, defense: "path.rel,path.root,path.links"},
	{id: "C2", title: "Claude Code: deny rule evaded by symlink", attack: denyByLink, defense: "path.real,read.links"},
	{id: "C3", title: "Claude Code: sandboxed cmd plants symlink, unsandboxed Write tool follows it", attack: plantedLink, defense: "path.links,path.root"},
	{id: "C4", title: "Claude Code: TOCTOU race in Edit", attack: swapped, defense: "path.links,path.real"},
	{id: "C5", title: "Codex: apply_patch target swapped after approval", attack: swappedAfterApproval, defense: "ask.names,path.links"},
	{id: "C6", title: "Zed: agent file tools follow links", attack: linksOfRepository, defense: "path.root,path.links"},
	{id: "C7", title: "MCP fs server: symlink to escape", attack: linkChains, defense: "path.root,path.links"},
	{id: "C8", title: "Cursor: case-insensitive FS: .cUrSoR/mcp.json", attack: spelledNames, defense: "protected"},
	{id: "C9", title: "Gemini: same class, blocklist", attack: spelledNamesInCommands, defense: "sandbox.protected,sandbox.after"},
	{id: "C10", title: "Claude Code: ~/.aws/ rule ignored", attack: ruleForms, defense: "rule.clean"},
	{id: "C11", title: "Codex: join drops left side", attack: tildes, defense: "path.rel,path.root,path.links"},
	{id: "C12", title: "Codex: model-chosen cwd became writable root", attack: chosenFolder, defense: "sandbox.root,sandbox.masks"},
	{id: "C13", title: "Cursor: .git/config or hooks written in sandbox → later RCE", attack: plantedHooks, defense: "sandbox.protected,sandbox.after"},
	{id: "C14", title: "Codex mac: rename ancestor of protected path / replace root", attack: renamedAncestors, defense: "sandbox.protected"},
	{id: "C15", title: "Claude Code: restore or delete through symlink/hardlink; .claude/worktrees link; NTFS junction delete outside", attack: restoredThroughLinks, defense: "snapshot.links"},
	{id: "C16", title: "Zed, code-marketplace: zip-slip in extension install", elsewhere: "pawl unpacks no archive: skills are taken from git's own store, file by file; their paths are in C17"},
	{id: "C17", title: "Codex, Gemini: skill/plugin install with links or precedence-swapping manifest", attack: installedLinks, defense: "skill.regular"},
	{id: "C18", title: "Gemini: @import in memory file via symlink dir escape", attack: importedByLink, defense: "path.links,path.root"},
	{id: "C19", title: "Claude Code: Read(.env) deny evaded by Grep, Bash, @import", attack: deniedReads, defense: "sandbox.masks"},
	{id: "C20", title: "Windsurf: traversal in file tools", attack: traversal, defense: "path.rel,path.root,path.links"},
	{id: "C21", title: "MCP git: flag-like refs (--output=), repo path unchecked, ../ staging", attack: flagsOfGit, defense: "shell.options"},
	{id: "C22", title: "Codex, Claude: editor buffer / IPC dir in world-writable /tmp pre-planted", attack: plantedFolders, defense: "folders.private"},
	{id: "C23", title: "Claude Code: NT path → NTLM leak before approval", elsewhere: "NT paths: Windows only"},
	{id: "C24", title: "Codex: created with umask, follows link", attack: keysFile, defense: "auth.file"},
}

// marker is the text that nobody may see.
const marker = "s3cret-marker"

func readFile(path string) call        { return call{"read", in{"path": path}} }
func writeFile(path, text string) call { return call{"write", in{"path": path, "content": text}} }
func grep(path string) call            { return call{"grep", in{"pattern": "s3cret.*", "path": path}} }
func patch(body string) call {
	return call{"apply_patch", in{"patch": "*** Begin Patch\n" + body + "*** End Patch\n"}}
}

func editFile(path, from, to string) call {
	return call{"edit", in{"path": path, "old": from, "new": to, "all": true}}
}

// rules are the user's.
func (a *attackEnv) rules(rules ...string) {
	a.Helper()
	a.write(filepath.Join(a.home, ".config/pawl/pawl.json"), `{"permissions":{"rules":[`+strings.Join(rules, ",")+`]}}`)
}

// rule is one of them, as JSON.
func rule(kind, pattern, decision string) string {
	text, err := json.Marshal(map[string]string{"kind": kind, "pattern": pattern, "decision": decision})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// visible puts the attackEnv where commands in the sandbox see all of it: not in /tmp, of
// which they have their own, and not in the home directory of who runs the tests.
func (a *attackEnv) visible() {
	a.Helper()
	base, err := os.MkdirTemp(cmp.Or(os.Getenv("SANDBOX_TEST_BASE"), "/var/lib"), "pawl-sectest-")
	a.ok(err)
	a.Cleanup(func() { _ = os.RemoveAll(base) })
	base, err = filepath.EvalSymlinks(base)
	a.ok(err)
	a.dir, a.home, a.outside = filepath.Join(base, "ws"), filepath.Join(base, "home"), filepath.Join(base, "outside")
	for _, dir := range []string{a.dir, a.home, a.outside} {
		a.ok(os.Mkdir(dir, 0o700))
	}
	a.env = append(a.env, "HOME="+a.home, "PAWL_DATA="+filepath.Join(base, "data"))
}

// link makes a symbolic link in the workspace, as a repository may bring it.
func (a *attackEnv) link(to, path string) {
	a.Helper()
	path = filepath.Join(a.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		a.Fatal(err)
	}
	if err := os.Symlink(to, path); err != nil {
		a.Fatal(err)
	}
}

// unseen reports each result that has the marker in it.
func (a *attackEnv) unseen(mode string, o outcome, calls []call) {
	a.Helper()
	for i, c := range calls {
		if strings.Contains(o.result(i+1), marker) {
			a.breach("in the mode %s, %s %v shows what is not to be read", mode, c.Name, c.Input)
		}
	}
}

// unchanged reports a file that is not as it was.
func (a *attackEnv) unchanged(path, text string) {
	a.Helper()
	if got := a.read(path); got != text {
		a.breach("%s was changed to %q", path, got)
	}
}

// touching are calls that read and change what is below a directory in any way
// that file tools know: a file "secret" in it holds the marker.
func touching(dir string) []call {
	at := func(name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }
	return []call{
		readFile(at("secret")), readFile(dir), grep(at("secret")), grep(dir), {"grep", in{"pattern": "s3cret.*", "path": dir, "context": 2}},
		{"list", in{"path": dir}}, {"glob", in{"pattern": at("*")}}, {"glob", in{"pattern": "*", "path": dir}},
		{"diagnostics", in{"path": at("secret")}},
		writeFile(at("new"), "x"), writeFile(at("secret"), "x"), writeFile(at("deep/down/new"), "x"),
		editFile(at("secret"), "s3cret", "x"), editFile(at("secret"), "nothing like it", "x"),
		patch("*** Add File: " + at("added") + "\n+x\n"),
		patch("*** Update File: " + at("secret") + "\n@@\n-" + marker + "\n+x\n"),
		patch("*** Update File: " + at("secret") + "\n*** Move to: taken\n@@\n-" + marker + "\n+x\n"),
		patch("*** Update File: mine\n*** Move to: " + at("moved") + "\n@@\n-mine\n+x\n"),
		patch("*** Delete File: " + at("secret") + "\n"),
	}
}

// tools makes all calls of touching in the modes that let file tools work; the
// marker is in outside/secret, which must stay all that is there.
func (a *attackEnv) tools(dirs ...string) {
	a.Helper()
	a.write(a.canary("secret"), marker+"\n")
	a.write("mine", "mine\n")
	for _, dir := range dirs {
		for _, mode := range []string{"guard", "yolo"} {
			calls := touching(dir)
			a.unseen(mode, a.play(mode, calls...), calls)
			a.unchanged(a.canary("secret"), marker+"\n")
			a.onlyOutside("secret")
		}
	}
}

// onlyOutside reports each file outside that is not one of these.
func (a *attackEnv) onlyOutside(names ...string) {
	a.Helper()
	entries, err := os.ReadDir(a.outside)
	if err != nil {
		a.Fatal(err)
	}
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	for _, e := range entries {
		if !known[e.Name()] {
			a.breach("%s came up outside of the workspace", e.Name())
		}
	}
}

// siblingPrefix: a directory whose name begins like the workspace's is not in it.
func siblingPrefix(a *attackEnv) {
	evil := a.dir + "-evil"
	if err := os.Mkdir(evil, 0o755); err != nil {
		a.Fatal(err)
	}
	a.outside = evil
	a.tools(evil, "../"+filepath.Base(evil), a.dir+"/../ws-evil", a.dir+"-evil/../ws-evil")
	a.play("guard", bash(fmt.Sprintf("echo x > %s/canary; echo x > ../ws-evil/canary2", evil)))
	a.onlyOutside("secret")
}

// traversal: no spelling of a path leads out by file tools.
func traversal(a *attackEnv) {
	a.write("sub/file", "x\n")
	a.tools("../outside", "sub/../../outside", "./.././outside", a.outside, "sub//..//..//outside/", filepath.Dir(a.dir)+"/./outside")
	var calls []call
	for _, path := range []string{
		"..\\outside\\secret", "%2e%2e/outside/secret", "..%2foutside%2fsecret", "....//outside/secret", "../outside/secret\x00.txt", "file://" + a.canary("secret"),
		"sub/../../outside/../outside/secret", strings.Repeat("../", 40) + strings.TrimPrefix(a.canary("secret"), "/"), "/proc/self/root" + a.canary("secret"), "/proc/self/cwd/../outside/secret",
	} {
		calls = append(calls, readFile(path), writeFile(path, "x"), editFile(path, "s3cret", "x"), grep(path),
			patch("*** Delete File: "+path+"\n"), call{"bash", in{"command": "cat secret; touch canary", "workdir": filepath.Dir(path)}})
	}
	for _, mode := range []string{"guard", "yolo"} {
		a.unseen(mode, a.play(mode, calls...), calls)
		a.unchanged(a.canary("secret"), marker+"\n")
		a.onlyOutside("secret")
	}
}

// tildes: a ~ is a name like others for file tools, and what follows it does not
// become a path of its own.
func tildes(a *attackEnv) {
	a.rules(rule("write", "~//outside/**", "allow"), rule("write", "~/**", "allow"))
	a.write(filepath.Join(a.home, "secret"), marker+"\n")
	a.tools("~/../../outside", "~/"+a.outside+"/../../../../../../.."+a.outside, "~//../../outside")
	home := a.home
	calls := touching("~")
	calls = append(calls, touching("~/")...)
	calls = append(calls, touching("~root")...)
	for _, mode := range []string{"guard", "yolo"} {
		a.unseen(mode, a.play(mode, calls...), calls)
		a.unchanged(filepath.Join(home, "secret"), marker+"\n")
		for _, name := range []string{"new", "added", "moved", "deep"} {
			if a.exists(filepath.Join(home, name)) {
				a.breach("in the mode %s %s came up in the home folder", mode, name)
			}
		}
	}
}

// chosenFolder: whatever directory a command is to run in, what it can write to is
// the workspace.
func chosenFolder(a *attackEnv) {
	a.visible()
	a.git(a.dir, "init", "-q")
	a.write("sub/file", "x\n")
	a.link(a.outside, "out")
	a.link("/", "sub/root")
	a.link(".git/hooks", "hooks")
	command := fmt.Sprintf("echo x > canary; echo x > %[1]s; echo x > ../outside/canary3; echo x > ../../outside/canary4; echo x > %[2]s/.git/hooks/pre-commit; echo x > pre-push; echo ran", a.canary("canary2"), a.dir)
	for _, dir := range []string{"/", "..", "../", "sub/../..", a.outside, filepath.Dir(a.dir), "/tmp", "out", "sub/root", "hooks", ".git", "sub", "", "~", "/proc/self/cwd/.."} {
		o := a.play("guard", call{"bash", in{"command": command, "workdir": dir}})
		if dir == "sub" && !strings.Contains(o.result(1), "ran") {
			a.Fatalf("it does not run in a folder of the workspace: %s", o.result(1))
		}
		a.canaries()
		for _, name := range []string{"canary", "pre-commit", "pre-push"} {
			if a.exists(".git/hooks/" + name) {
				a.breach("in %s a command made .git/hooks/%s", dir, name)
			}
		}
	}
}
