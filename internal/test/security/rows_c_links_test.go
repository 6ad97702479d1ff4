//go:build sectest

package security

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// denyByLink: what the user denies is denied by its own name and by that of a
// link to it.
func denyByLink(a *attackEnv) {
	a.write("secret.txt", marker+"\n")
	a.write("private/key", marker+"\n")
	a.write("real/key", marker+"\n")
	a.write("keep/file", "kept\n")
	a.link("secret.txt", "a-file")
	a.link("private", "a-folder")
	a.link("a-folder", "again")
	a.link("../private/key", "sub/key")
	a.link("real", "alias") // the rule names the link
	a.link("keep", "spare")
	a.rules(rule("read", "secret.txt", "deny"), rule("read", "private/**", "deny"), rule("read", "alias/**", "deny"), rule("write", "keep/**", "deny"))
	var calls []call
	for _, path := range []string{"secret.txt", "a-file", "private/key", "a-folder/key", "again/key", "sub/key", "alias/key", "real/key"} {
		calls = append(calls, readFile(path), grep(path), grep(filepath.Dir(path)), bash("cat "+path), editFile(path, "nothing like it", "x"))
	}
	for _, path := range []string{"keep/file", "spare/file"} {
		calls = append(calls, editFile(path, "kept", "lost"), patch("*** Delete File: "+path+"\n"), writeFile(filepath.Dir(path)+"/new", "x"))
	}
	a.unseen("guard", a.play("guard", calls...), calls)
	a.unchanged("keep/file", "kept\n")
	if a.exists("keep/new") {
		a.breach("a file came up where the user denies writing")
	}
}

// plantedLink: a command in the sandbox makes links, and file tools are to
// follow them out of it.
func plantedLink(a *attackEnv) {
	a.git(a.dir, "init", "-q")
	a.write("docs/a.md", "x\n")
	o := a.play("guard", bash(fmt.Sprintf("ln -s %s evil; ln -s %s note.txt; ln -s .git/hooks hk; ln -s ../.git/config docs/b.md; mkdir -p d/e; ln -s %s d/e/f; ls -A", a.outside, a.canary("note"), a.outside)))
	if !strings.Contains(o.result(1), "evil") {
		a.Fatalf("the links were not planted: %s", o.result(1))
	}
	config := a.read(".git/config")
	calls := []call{
		writeFile("evil/canary", "x"), writeFile("note.txt", "x"), writeFile("d/e/f/canary", "x"), writeFile("hk/pre-commit", "x"), writeFile("docs/b.md", "x"),
		patch("*** Add File: evil/added\n+x\n"), patch("*** Add File: hk/pre-push\n+x\n"), patch("*** Update File: docs/a.md\n*** Move to: evil/moved\n@@\n-x\n+y\n"),
		editFile("docs/b.md", "core", "x"), patch("*** Delete File: hk/pre-commit.sample\n"),
	}
	for _, mode := range []string{"guard", "yolo"} {
		a.play(mode, calls...)
		a.canaries()
		a.unchanged(".git/config", config)
		for _, name := range []string{"pre-commit", "pre-push"} {
			if a.exists(".git/hooks/" + name) {
				a.breach("in the mode %s .git/hooks/%s came up", mode, name)
			}
		}
	}
}

// linksOfRepository: links that come with a repository lead file tools nowhere.
func linksOfRepository(a *attackEnv) {
	a.link(a.outside, "docs")
	a.link("../outside", "lib/up")
	a.link("../../outside", "lib/down")
	a.tools("docs", "lib/down")
}

// linkChains: links to links, through /proc, and to what does not exist yet.
func linkChains(a *attackEnv) {
	a.link(a.outside, "one")
	a.link("one", "two")
	a.link("sub/../two", "three")
	a.link("..", "up")
	a.link("/proc/self/cwd/../outside", "proc")
	a.link("/proc/self/root"+a.outside, "root")
	a.write("sub/file", "x\n")
	a.link(a.canary("new"), "dangling")
	a.link("dangling", "dangling2")
	a.tools("three", "up/outside", "proc", "root", "sub/../two")
	a.play("yolo", writeFile("dangling", "x"), writeFile("dangling2", "x"), patch("*** Add File: dangling\n+x\n"))
	a.onlyOutside("secret")
}

// swapped: what is a file or a directory when a call is permitted is a link when it
// runs.
func swapped(a *attackEnv) {
	swappedFolder(a)
	b := newAttackEnv(a.T, a.without)
	swappedFile(b)
	a.breaches = append(a.breaches, b.breaches...)
}

// swappedFolder: another program makes a directory a link and back all the
// time, while files in it are written and edited.
func swappedFolder(a *attackEnv) {
	a.git(a.dir, "init", "-q")
	a.write("d/file", "old\n")
	a.link(".git/hooks", "hooks")
	a.link(a.outside, "out")
	swap := `$|=1; print "swapping\n"; while (1) { for my $l ("hooks", "out") { rename "d", "away"; rename $l, "d"; select undef, undef, undef, 0.003; rename "d", $l; rename "away", "d"; select undef, undef, undef, 0.003 } }`
	stop := a.beside("perl", "-e", swap)
	var calls []call
	for i := range 40 {
		calls = append(calls, writeFile(fmt.Sprintf("d/new%d", i), "x\n"), editFile("d/file", "o", "oo"),
			patch(fmt.Sprintf("*** Add File: d/patched%d\n+x\n", i)))
	}
	a.play("guard", calls...)
	stop()
	hooks := filepath.Join(a.dir, ".git/hooks")
	entries, err := os.ReadDir(hooks)
	if err != nil {
		a.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".sample") {
			a.breach("%s came up in .git/hooks", e.Name())
		}
	}
	a.canaries()
}

// swappedAfterApproval: a person permits a patch of docs/; before they answer,
// docs has become a link to where git looks for hooks.
func swappedAfterApproval(a *attackEnv) {
	a.git(a.dir, "init", "-q")
	a.write("docs/readme", "x\n")
	script := filepath.Join(a.TempDir(), "model.jsonl")
	a.write(script, `{"calls":[{"name":"apply_patch","input":{"patch":"*** Begin Patch\n*** Add File: docs/pre-commit\n+#!/bin/sh\n*** End Patch\n"}}]}`+"\n"+`{"text":"done"}`+"\n")
	cmd := a.command("run", "--mode", "ask", "--model", "script:"+script, "go")
	t := a.terminal(cmd)
	t.until("Allow this?")
	if err := os.Rename(filepath.Join(a.dir, "docs"), filepath.Join(a.dir, "was")); err != nil {
		a.Fatal(err)
	}
	a.link(".git/hooks", "docs")
	t.say("y\n")
	t.end()
	if a.exists(".git/hooks/pre-commit") {
		a.breach("what was permitted for docs/ was written to .git/hooks")
	}
}

// screen is a terminal that a person sits at.
type screen struct {
	a    *attackEnv
	cmd  *exec.Cmd
	main *os.File
	seen bytes.Buffer
}

// terminal starts a command at a terminal.
func (a *attackEnv) terminal(cmd *exec.Cmd) *screen {
	a.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		a.Fatal(err)
	}
	main := os.NewFile(uintptr(fd), "/dev/ptmx")
	a.Cleanup(func() { _ = main.Close() })
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		a.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		a.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		a.Fatal(err)
	}
	defer tty.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		a.Fatal(err)
	}
	return &screen{a: a, cmd: cmd, main: main}
}

// until reads what is shown until a text is among it.
func (s *screen) until(text string) {
	s.a.Helper()
	if err := s.main.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		s.a.Fatal(err)
	}
	buf := make([]byte, 4096)
	for !strings.Contains(s.seen.String(), text) {
		n, err := s.main.Read(buf)
		s.seen.Write(buf[:n])
		if err != nil {
			s.a.Fatalf("%q is not shown: %v\n%s", text, err, s.seen.String())
		}
	}
}

// say types.
func (s *screen) say(text string) {
	s.a.Helper()
	if _, err := s.main.WriteString(text); err != nil {
		s.a.Fatal(err)
	}
}

// end waits for the command's end. How it ends does not matter.
func (s *screen) end() {
	s.a.Helper()
	buf := make([]byte, 4096)
	for {
		n, err := s.main.Read(buf) // it fails when nobody has the terminal open any more
		s.seen.Write(buf[:n])
		if err != nil {
			break
		}
	}
	_ = s.cmd.Wait()
}
