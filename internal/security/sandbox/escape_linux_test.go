package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/test/wait"
)

// attack is a way out that a hostile command tries. The damage is looked for
// afterwards: in the files outside, in what was printed, at those it could have
// reached. Each is stopped by the defenses of its group.
type attack struct {
	group            string // the defenses that stop it, as Weaken knows them, with a comma between
	name             string
	script           string
	reported         []string // what Check reports in the bubblewrap sandbox, where only that can be done
	reportedLandlock []string // and in the landlock sandbox
	open             string   // why it works in the landlock sandbox
	view             string   // why it works in a copy-on-write view
}

var attacks = []attack{
	{group: "root", name: "write outside", script: `echo bad > {out}/canary.txt; echo bad > {out}/new.txt && echo ESCAPED`},
	{group: "root", name: "write beside the workspace", script: `echo bad > {root}/wsx/canary.txt`},
	{group: "root,home", name: "write to the home folder", script: `echo bad >> {home}/.bashrc; touch {home}/x && echo ESCAPED`},
	{group: "root", name: "write through a link", script: `ln -s {out} src/l; echo bad > src/l/canary.txt; ln -s {out}/canary.txt src/f; echo bad > src/f`},
	{group: "root", name: "write through /proc/self/root", script: `echo bad > /proc/self/root{out}/canary.txt`},
	{group: "root", name: "write through /proc/self/cwd", script: `echo bad > /proc/self/cwd/../outside/canary.txt`},
	{group: "root", name: "write through a hard link", script: `ln {out}/canary.txt src/h && echo bad > src/h`},
	{group: "root", name: "move away", script: `mv {out} {root}/gone; mv {out}/canary.txt src/; rm -f {out}/canary.txt`},
	{group: "root", name: "truncate", script: `truncate -s 0 {out}/canary.txt; : > {out}/canary.txt`},
	{group: "root", name: "replace the workspace", script: `cd /; mv {ws} {root}/ws2; rm -rf {root}/wsx`},
	{group: "root", name: "write to /etc, /usr and /sys", script: `for f in /etc/pawl-x /usr/pawl-x /sys/pawl-x; do touch $f && { echo ESCAPED; rm -f $f; }; done;
		v=$(cat /sys/kernel/mm/transparent_hugepage/enabled | sed 's/.*\[\(.*\)\].*/\1/'); echo $v > /sys/kernel/mm/transparent_hugepage/enabled && echo ESCAPED`},
	{group: "root,proc", name: "write to /proc/sys", script: `for f in /proc/sys/kernel/printk_ratelimit_burst /proc/sys/vm/swappiness; do cat $f > src/v; cat src/v > $f && echo ESCAPED; done; true`},

	{group: "protected", name: "write what is protected", script: `for f in .git/config .vscode/settings.json .mcp.json .npmrc pkg/.cursor/mcp.json lib/.git/config; do echo bad > $f; done`},
	{group: "protected", name: "append, truncate, copy over, move over", script: `echo bad >> .mcp.json; truncate -s 0 .npmrc; cp src/main.go .git/config; mv -f src/main.go .vscode/settings.json; ln -f src/main.go .mcp.json`},
	{group: "protected", name: "remove what is protected", script: `rm -rf .vscode .mcp.json .git/config .npmrc pkg/.cursor`},
	{group: "protected", name: "create what is protected", script: `for d in .claude .pawl .agents .husky .cursor .codex .gemini; do mkdir $d; done; echo bad > .claude/settings.json; echo bad > .pawl/pawl.json;
		echo bad > .agents/AGENT.md; echo bad > .husky/pre-commit; echo bad > .gitmodules; echo bad > .envrc; echo bad > .bashrc; mkdir .zshrc; echo bad > .zshrc/x; touch .codex .gemini .cursor`},
	{group: "protected", name: "move something to a protected name", script: `mkdir src/d; echo bad > src/d/settings.json; mv src/d .claude; mv -T src/d .pawl; ln -s src/d .agents; cp -r src/d .husky; git mv src .husky`},
	{group: "protected", name: "create in what is protected", script: `echo bad > .vscode/tasks.json; mkdir -p .git/hooks; echo bad > .git/hooks/pre-commit; echo bad > lib/.git/hooks/pre-commit; echo bad > pkg/.cursor/rules`},
	{group: "protected", name: "another case", script: `echo bad > .Idea/workspace.xml; rm -rf .Idea`},
	{group: "protected", name: "through a link", script: `ln -s ../.git src/g; echo bad > src/g/config; echo bad > src/g/hooks/pre-commit; ln -s {ws}/.vscode src/v; echo bad > src/v/settings.json`},
	{group: "protected", name: "through a hard link", script: `ln .git/config src/c && echo bad > src/c; ln .mcp.json src/m && echo bad > src/m`},
	{group: "protected", name: "through /proc/self/cwd and /proc/1/root", script: `echo bad > /proc/self/cwd/.mcp.json; echo bad > /proc/1/root{ws}/.mcp.json; echo bad > /proc/self/root{ws}/.git/config`},
	{group: "protected", name: "by moving the folder above", script: `mv .git src/old; mkdir .git .git/hooks; echo bad > .git/config; echo bad > .git/hooks/pre-commit; rm -rf .git`},
	{group: "above,after", name: "by moving the folder above, below", script: `mv pkg src/old; mkdir -p pkg/.cursor; echo bad > pkg/.cursor/mcp.json; echo bad > pkg/.cursor/rules`},
	{group: "after", name: "below, where nothing was", script: `mkdir -p src/new/.cursor; echo bad > src/new/.cursor/mcp.json; echo bad > src/.mcp.json; echo bad > src/.MCP.json`,
		reported: []string{"src/.MCP.json", "src/.mcp.json", "src/new/.cursor"}, reportedLandlock: []string{"src/.MCP.json", "src/.mcp.json", "src/new/.cursor"}},
	{group: "after", name: "a separate repository", script: `git init -q src/evil; git -C src/evil config core.fsmonitor 'touch /tmp/x'`, reported: []string{"src/evil/.git"}, reportedLandlock: []string{"src/evil/.git"}},
	{group: "after", name: "another configuration for git", script: `echo ../../src > .git/commondir; echo bad > .git/config.worktree; sleep 0`, reported: []string{".git/commondir", ".git/config.worktree"}},
	{group: "protected", name: "with git itself", script: `git config core.fsmonitor bad; git config --file .gitmodules a.b c; git remote add x y; git -C lib config core.hooksPath bad`},
	{group: "protected", name: "change modes and times", script: `chmod 777 .git/config && echo ESCAPED; touch .mcp.json && echo ESCAPED; true`, reportedLandlock: []string{".git/config", ".mcp.json"}, open: "landlock knows no modes and times", view: "only in the view"},
	{group: "protected,seccomp", name: "mount and unmount", script: `umount .git/config; {probe} umount {ws}/.git/config; {probe} mount {ws}/src; {probe} remount {ws}/.git/config; echo bad > .git/config`},

	{group: "masks", name: "cat", script: `cat {home}/.ssh/id_ed25519 {home}/.aws/credentials {home}/.netrc {home}/.git-credentials {home}/.bash_history`},
	{group: "masks", name: "grep", script: `grep -rs secret {home} .env conf; rg -uuu secret {home} .; true`},
	{group: "masks", name: "find", script: `find {home} . -type f -exec cat {} + 2>/dev/null`},
	{group: "masks", name: "tar and cp", script: `tar -C {home} -cf - . 2>/dev/null | tr -d '\0'; cp -r {home}/.ssh src/; cat src/.ssh/*`, reportedLandlock: []string{"src/.ssh"}},
	{group: "masks", name: "a link", script: `ln -s {home}/.ssh/id_ed25519 src/k; cat src/k; ln -s {home} src/h; cat src/h/.kube/config`},
	{group: "masks", name: "a hard link", script: `ln {home}/.ssh/id_ed25519 src/k; cat src/k; ln .env src/e; cat src/e`},
	{group: "masks", name: "redirection and source", script: `while read -r l; do echo "$l"; done < .env; . ./.env; echo "$(<.env)"`},
	{group: "masks", name: "git", script: `git diff --no-index /dev/null .env; git hash-object -w .env; git cat-file -p $(git hash-object -w .env); git add -f .env; git show :.env`},
	{group: "masks", name: "/proc/self/root", script: `cat /proc/self/root{home}/.ssh/id_ed25519 /proc/1/root{home}/.aws/credentials /proc/self/cwd/../home/.netrc /proc/self/cwd/.env`},
	{group: "masks", name: "dd, base64, od", script: `dd if=.env 2>/dev/null; base64 {home}/.netrc | base64 -d; od -c .env; tail -c 100 {home}/.kube/config`},
	{group: "masks", name: "move the mask away", script: `mv .env src/e; cat src/e; mv src src2; cat conf/.env.local; mv conf src/; cat src/conf/.env.local; rm -f .env; cat .env`},
	{group: "masks", name: "pawl's own data", script: `cat {home}/.local/share/pawl/pawl.db; cat {home}/.local/share/keyrings/*; cat {home}/.mozilla/firefox/*; cat {home}/.config/gcloud/* {home}/.docker/config.json {home}/.gnupg/*/*`},
	{group: "masks", name: "system secrets", script: `cat /etc/shadow > src/s; [ -s src/s ] && echo ESCAPED; cat /etc/shadow- > src/s; [ -s src/s ] && echo ESCAPED; true`},
	{group: "masks", name: "sockets of servers", script: `{probe} dial unix {home}/.docker/docker.sock; {probe} dial unix {out}/agent.sock; {probe} dial unix {ws}/db.sock`},
	{group: "masks", name: "a socket in /tmp", script: `{probe} dial unix {tmpsock}`},
	{group: "masks", name: "a socket in /run", script: `for s in /run/docker.sock /var/run/docker.sock /run/dbus/system_bus_socket; do [ -e $s ] && {probe} dial unix $s; done; true`},
	{group: "masks", name: "files of others in /tmp", script: `cat /tmp/pawl-box-canary*; ls /tmp /var/tmp /dev/shm | grep pawl-box-canary && echo ESCAPED; true`},

	{group: "env", name: "variables", script: `env; set; export -p; cat /proc/self/environ; tr '\0' '\n' < /proc/1/environ; cat /proc/*/environ 2>/dev/null | tr '\0' '\n'`},

	{group: "net", name: "TCP", script: `{probe} dial tcp {tcp}; exec 3<>/dev/tcp/${A=127.0.0.1}/$(echo {tcp} | cut -d: -f2)`},
	{group: "net", name: "UDP", script: `{probe} dial udp {udp}`},
	{group: "net", name: "an abstract socket", script: `{probe} dial unix {abstract}`},
	{group: "net", name: "DNS", script: `getent ahosts example.com && echo ESCAPED; {probe} dial udp 8.8.8.8:53; {probe} dial udp $(awk '/^nameserver/ {print $2":53"; exit}' /etc/resolv.conf); true`},

	{group: "pid", name: "kill", script: `{probe} kill {victim}; kill -9 {victim}`},
	{group: "pid", name: "another process's variables", script: `cat /proc/{victim}/environ; cat /proc/{victim}/root{home}/.ssh/id_ed25519; echo bad > /proc/{victim}/root{out}/canary.txt`},
	{group: "pid", name: "see other processes", script: `tr '\0' ' ' < /proc/{victim}/cmdline | grep -q sleep && echo ESCAPED; true`, open: "landlock shows the processes of the machine"},
	{group: "pid,seccomp", name: "another process's limits", script: `prlimit --pid {victim} --nofile=1:1 && echo ESCAPED; true`},
	{group: "ipc", name: "another process's memory", script: `{probe} shm {shm}`},
	{group: "device", name: "another's terminal", script: `echo bad > {pts}; true`},
	{group: "pid,seccomp", name: "debug another process", script: `{probe} ptrace {victim}; {probe} vm_read {victim}`},

	{group: "seccomp", name: "refused calls", script: `{probe} calls; {probe} traceme`},
	{group: "seccomp", name: "families of sockets", script: `{probe} family`},
	{group: "seccomp", name: "type into the terminal", script: `{probe} tiocsti`},
	{group: "seccomp,userns", name: "a user namespace", script: `{probe} userns; {probe} cloneuns; unshare -Ur true && echo ESCAPED; true`},
	{group: "seccomp", name: "calls of x32", script: `{probe} x32`},
	{group: "seccomp", name: "calls of another architecture", script: `src/int80; [ $? = 7 ] && echo ESCAPED; true`},

	{group: "device", name: "devices", script: `for d in /dev/sda /dev/vda /dev/mem /dev/kmsg /dev/loop0 /dev/vsock /dev/kvm /dev/fuse /dev/net/tun; do head -c 1 $d >/dev/null 2>&1 && echo ESCAPED $d; done;
		{probe} mknod {ws}/src/disk; mknod src/disk2 b 254 0 && head -c 1 src/disk2 && echo ESCAPED; true`},
	{group: "", name: "a setuid program", script: `src/suid probe setuid; grep -q 'NoNewPrivs:.1' /proc/self/status || echo ESCAPED; grep -q 'CapEff:.0000000000000000' /proc/self/status || echo ESCAPED; grep -q 'CapBnd:.*[1-9a-f]' /proc/self/status && [ $(id -u) = 0 ] && echo ESCAPED; true`},
	{group: "files", name: "files that pawl has open", script: `for f in /proc/self/fd/*; do n=${f##*/}; [ $n -gt 2 ] && [ $n -lt 250 ] && [ -e $f ] && echo ESCAPED $n $(readlink $f); done; true`},
}

func TestEscapes(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	for _, backend := range allBackends(t) {
		for _, a := range attacks {
			t.Run(backend.Name()+"/"+a.group+"/"+a.name, func(t *testing.T) { a.try(t, backend) })
		}
	}
}

// try makes the attack and fails the test if it gets through, or if it does
// not where it is known to.
func (a attack) try(t *testing.T, backend Backend) {
	t.Helper()
	w := newTestEnv(t, backend)
	w.weapons(a.script)
	o := w.run(w.profile, a.script)
	reported := a.reported
	if backend.Name() == "view" {
		reported = nil // nothing that it writes to the workspace is in effect
	}
	if backend.Name() == "landlock" {
		reported = a.reportedLandlock
	}
	if !slices.Equal(o.reported, reported) {
		t.Errorf("Check tells of %q, want %q\n%s", o.reported, reported, o.output)
	}
	damage := w.damage(o)
	if len(reported) > 0 { // it is not prevented, but reported
		damage = slices.DeleteFunc(damage, func(d string) bool {
			return strings.Contains(d, w.ws+"/pkg/.cursor/") || strings.Contains(d, w.ws+"/.git/config.worktree")
		})
	}
	if a.open != "" && backend.Name() == "landlock" || a.view != "" && backend.Name() == "view" {
		return
	}
	for _, d := range damage {
		t.Errorf("%s\n%s", d, o.output)
	}
}

// weapons adds what a script needs: a program that speaks to the kernel in 32
// bits, a copy of the probe that belongs to another user and is setuid, a file
// in /tmp, and a file that is open in this process.
func (w *testEnv) weapons(script string) {
	w.t.Helper()
	check := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	check(unix.Dup2(2, leaked))
	check(os.WriteFile(filepath.Join(w.ws, "src", "int80"), int80, 0o755))
	canary, err := os.CreateTemp("/tmp", "pawl-box-canary-")
	check(err)
	w.t.Cleanup(func() { _ = os.Remove(canary.Name()) })
	_, err = canary.WriteString(w.secret("a file in /tmp"))
	check(errors.Join(err, canary.Close()))
	if !strings.Contains(script, "suid") {
		return
	}
	suid := filepath.Join(w.ws, "src", "suid")
	check(copyFile(filepath.Join(w.ws, "src", "probe"), suid))
	if os.Geteuid() == 0 {
		check(os.Chown(suid, 12345, 12345))
	}
	check(os.Chmod(suid, 0o4755))
}

// int80 is a program that exits with 7 by the call of 32-bit programs:
// mov eax, 1; mov ebx, 7; int 0x80.
var int80 = append([]byte{
	0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 62, 0, 1, 0, 0, 0, 0x78, 0, 0x40, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 64, 0, 0, 0, 0, 0,
	1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0x84, 0, 0, 0, 0, 0, 0, 0,
	0x84, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0,
}, 0xb8, 1, 0, 0, 0, 0xbb, 7, 0, 0, 0, 0xcd, 0x80)

// sandboxes are those that are tested here: both.
func backends(t testing.TB) []Backend {
	t.Helper()
	path, finding := findBubblewrap(bubblewrapPaths)
	if path == "" {
		t.Fatal(finding.Detail, finding.Fix)
	}
	if l := landlockFinding(); !l.OK {
		t.Fatal(l.Detail)
	}
	return []Backend{&Bubblewrap{Path: path}, &Landlock{}}
}

// allBackends adds a sandbox with a copy-on-write view, for tests that do not look at
// what a command wrote to the workspace.
func allBackends(t testing.TB) []Backend {
	t.Helper()
	list := backends(t)
	return append(list, &viewBackend{Bubblewrap{Path: list[0].(*Bubblewrap).Path}, t})
}

// TestEscapesAsNobody does it all again as a user without rights, if it is root
// who tests.
func TestEscapesAsNobody(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	if os.Geteuid() != 0 {
		t.Log("this is a user without rights already")
		return
	}
	asNobody(t, "^(TestEscapes|TestWorks|TestDaemons)$")
}

// asNobody runs tests of this program as another user.
func asNobody(t *testing.T, tests string) {
	t.Helper()
	const nobody = 65534
	dir := base(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "sandbox.test")
	if err := copyFile(self, program); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"base", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(filepath.Join(dir, name), nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "-test.run", tests, "-test.timeout", "10m")
	cmd.Dir = filepath.Join(dir, "tmp")
	cmd.Env = append(os.Environ(), baseVar+"="+filepath.Join(dir, "base"), "TMPDIR="+filepath.Join(dir, "tmp"), "HOME="+filepath.Join(dir, "tmp"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}

// TestDaemons: what a command leaves behind ends with it. In the landlock sandbox
// that is for the marks of package proc to see to.
func TestDaemons(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	for _, backend := range allBackends(t) {
		t.Run(backend.Name(), func(t *testing.T) {
			w := newTestEnv(t, backend)
			token := fmt.Sprintf("98%d", os.Getpid())
			t.Cleanup(func() {
				for _, pid := range running(token) {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			})
			w.run(w.profile, `sleep `+token+` & setsid sleep `+token+` & (setsid nohup sleep `+token+` >/dev/null 2>&1 </dev/null &)`)
			if backend.Name() == "landlock" {
				if len(running(token)) == 0 {
					t.Error("daemons end in the landlock box: say so in the guide")
				}
				return
			}
			wait.Until(t, "all that it left behind has ended", func() bool { return len(running(token)) == 0 })
		})
	}
}

// running returns the processes that sleep for that time.
func running(token string) []int {
	var pids []int
	found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err == nil && string(text) == "sleep\x00"+token+"\x00" {
			pids = append(pids, number(strings.Split(path, "/")[2]))
		}
	}
	return pids
}
