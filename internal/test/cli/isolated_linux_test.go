//go:build e2e

package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

// isolated runs a prompt on a view of the project, and returns the session's id and what Pawl printed.
func (p *project) isolated(calls ...call) (id, out string) {
	p.t.Helper()
	out = p.prompt([]string{"--isolated", "--mode", "yolo", "go"}, calls...)
	found := regexp.MustCompile(`pawl session apply (\w+)`).FindStringSubmatch(out)
	if found == nil {
		p.t.Fatalf("Pawl does not say how to apply the changes:\n%s", out)
	}
	return found[1], out
}

// session runs 'pawl session …' and returns its output, and whether it succeeded.
func (p *project) session(args ...string) (string, bool) {
	out, err := p.pawl(append([]string{"session"}, args...)).CombinedOutput()
	return string(out), err == nil
}

// listing returns the files of the project with their contents, without git's objects and index.
func (p *project) listing() string {
	return p.sh(`find . -path ./.git/objects -prune -o -path ./.git/index -prune -o -type f -printf '%P ' -exec sha256sum {} \; | sort; git rev-parse HEAD; git status --short`)
}

func newIsolatedProject(t *testing.T) *project {
	p := newTransactionProject(t, "/var/tmp")
	p.sh("git init -q -b main .; git config user.name n; git config user.email e@example.org; echo 1 >a; echo 2 >b; mkdir d; echo 3 >d/c; echo ignored >.gitignore; git add -A; git commit -qm one")
	return p
}

// TestIsolatedSession: tools, commands in the sandbox and commands outside of it change the view, not the project, until
// the user applies it. What the user changed meanwhile stays, and protected names are refused.
func TestIsolatedSession(t *testing.T) {
	t.Parallel()
	p := newIsolatedProject(t)
	before := p.listing()
	id, out := p.isolated(
		bash("echo outside >a; echo evil >.git/hooks/pre-commit; mkdir -p .vscode; echo evil >.vscode/tasks.json; rm -r d; echo x >"+p.dir+"/new; echo i >ignored"),
		call{"write", map[string]any{"path": "tool", "content": "tool\n"}},
		call{"bash", map[string]any{"command": "cat a tool; ls", "background": false}},
	)
	if after := p.listing(); after != before {
		t.Fatalf("the project has changed:\n%s\nbefore:\n%s\n%s", after, before, out)
	}
	if !strings.Contains(out, `outside\ntool\n`) {
		t.Errorf("the session does not see its changes:\n%s", out)
	}
	if out, ok := p.session("shell", id, "echo leak >leak"); ok || !strings.Contains(out, "is isolated") {
		t.Errorf("a command of the session ran outside of the view: %s", out)
	}
	if out, ok := p.session("branch", id, "try"); !ok {
		t.Error(out)
	}
	if got := p.sh("git show try:a try:tool; git ls-tree -r --name-only try"); got != "outside\ntool\n.gitignore\na\nb\nnew\ntool\n" {
		t.Errorf("the branch has %q", got)
	}
	if out, ok := p.session("branch", id, "main"); ok {
		t.Errorf("an existing branch was replaced: %s", out)
	}
	p.sh("git branch -qD try; echo user >new")
	out, ok := p.session("apply", id)
	if ok || !strings.Contains(out, "new not changed: ") || !strings.Contains(out, ".git/hooks/pre-commit not changed: ") || !strings.Contains(out, ".vscode/tasks.json not changed: ") {
		t.Errorf("not all refusals are reported: %s", out)
	}
	if got := p.sh("cat a new tool ignored; ls -A; ls .git/hooks | grep -c '^pre-commit$'; true"); got != "outside\nuser\ntool\ni\n.git\n.gitignore\na\nb\nignored\nnew\ntool\n0\n" {
		t.Errorf("after applying: %q", got)
	}
	if out, ok := p.session("apply", id); ok {
		t.Errorf("it was applied twice: %s", out)
	}
	if out, ok := p.session("shell", id, "echo now >now"); !ok || p.sh("cat now") != "now\n" {
		t.Errorf("the session does not work on the project after it was applied: %s", out)
	}
}

// TestDiscardedSession: nothing of a discarded session remains, and the session works on the project again.
func TestDiscardedSession(t *testing.T) {
	t.Parallel()
	p := newIsolatedProject(t)
	before := p.listing()
	id, _ := p.isolated(bash("echo 2 >a; git commit -qam two; git branch other; chmod 500 d"))
	if out, ok := p.session("discard", id); !ok {
		t.Error(out)
	}
	if after := p.listing(); after != before || p.sh("git branch") != "* main\n" {
		t.Errorf("the project has changed:\n%s", after)
	}
	if left, err := os.ReadDir(filepath.Join(p.data, "isolated")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestKilledIsolatedSession: when Pawl is killed, the process in the view ends with it, and the session resumes on the
// view with everything that it had changed.
func TestKilledIsolatedSession(t *testing.T) {
	t.Parallel()
	p := newIsolatedProject(t)
	before := p.listing()
	ready := filepath.Join(p.home, "ready")
	cmd := p.pawl([]string{"run", "--isolated", "--mode", "yolo", "--format", "stream-json", "go"}, bash("echo first >a"), bash("touch "+ready+"; sleep 1000"), bash("cat a; echo second >b"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the second command", func() bool { return exists(ready) })
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait() // also waits until the process in the view has closed the output
	if after := p.listing(); after != before {
		t.Fatalf("the project has changed:\n%s", after)
	}
	resumed, err := p.pawl([]string{"resume", "--format", "stream-json"}, bash("echo first >a"), bash("exit 3"), bash("cat a; echo second >b")).CombinedOutput()
	if err != nil || !strings.Contains(string(resumed), `first\n`) {
		t.Errorf("%v\n%s\nfirst:\n%s", err, resumed, out.String())
	}
	if after := p.listing(); after != before {
		t.Fatalf("the project has changed:\n%s", after)
	}
	if out, ok := p.session("apply", "last"); !ok || p.sh("cat a b") != "first\nsecond\n" {
		t.Errorf("%s\n%s", out, p.sh("cat a b"))
	}
}

// TestIsolatedAttack: a command in the sandbox of an isolated session finds no way to the project below the view.
func TestIsolatedAttack(t *testing.T) {
	t.Parallel()
	p := newIsolatedProject(t)
	before := p.listing()
	out := p.prompt([]string{"--isolated", "--mode", "auto", "go"}, bash(`umount `+p.dir+`; umount -l `+p.dir+`; unshare -Urm umount -l `+p.dir+`
for r in /proc/[0-9]*/root /proc/[0-9]*/cwd; do echo evil >$r`+p.dir+`/a; done
mkdir /tmp/m; mount --bind `+p.dir+` /tmp/m
ls `+p.data+`/isolated && echo evil >`+p.data+`/isolated/x
cd /; echo evil >`+p.dir+`/a; echo done`))
	if after := p.listing(); after != before {
		t.Fatalf("the project has changed:\n%s\n%s", after, out)
	}
	if left, err := filepath.Glob(filepath.Join(p.data, "isolated", "x")); err != nil || len(left) > 0 {
		t.Errorf("%v was written, %v", left, err)
	}
	if left, err := os.ReadDir(filepath.Join(p.data, "transactions")); len(left) > 0 {
		t.Errorf("the next start of Pawl would complete %v in the project, %v", left, err)
	}
	if !strings.Contains(out, "M a") {
		t.Errorf("the view has no change:\n%s", out)
	}
	// A linked worktree has its git directory elsewhere.
	p.sh("git worktree add -q ../linked")
	linked := *p
	linked.dir = filepath.Join(filepath.Dir(p.dir), "linked")
	if out, err := linked.pawl([]string{"run", "--isolated", "go"}).CombinedOutput(); err == nil || !strings.Contains(string(out), "linked worktree") {
		t.Errorf("a linked worktree was isolated: %s", out)
	}
}

// TestKilledApply kills 'pawl session apply' while it applies changes. The next start of Pawl leaves the project as before
// or as after it, and a second call completes it.
func TestKilledApply(t *testing.T) {
	t.Parallel()
	p := newIsolatedProject(t)
	p.sh("mkdir many; for i in $(seq 500); do echo 0 >many/$i; done; touch new0")
	state := func() string { return p.sh("cat many/* | sort -u; ls | grep new") }
	random := rand.New(rand.NewPCG(1, 2))
	halves := 0
	for n := 1; n <= 6; n++ {
		id, _ := p.isolated(bash(fmt.Sprintf("for f in many/*; do echo %d >$f; done; mv new%d new%d", n, n-1, n)))
		before, after := fmt.Sprintf("%d\nnew%d\n", n-1, n-1), fmt.Sprintf("%d\nnew%d\n", n, n)
		if got := state(); got != before {
			t.Fatalf("before call %d: %q", n, got)
		}
		p.killAtChange(p.pawl([]string{"session", "apply", id}), "many", time.Duration(random.IntN(n))*time.Millisecond)
		if half := state(); half != before && half != after {
			halves++
			if out, ok := p.session("discard", id); ok {
				t.Errorf("half of the changes were discarded: %s", out)
			}
		}
		if out, ok := p.session("list"); !ok {
			t.Fatal(out)
		}
		if got := state(); got != before && got != after {
			t.Fatalf("after kill %d: %q", n, got)
		}
		if out, ok := p.session("apply", id); !ok && !strings.Contains(out, "has no view") {
			t.Errorf("the second call: %s", out)
		}
		if got := state(); got != after {
			t.Errorf("after the second call: %q", got)
		}
	}
	t.Logf("%d calls were killed half-way", halves)
}

// killAtChange runs a command and kills it some time after the first change of a directory of the project.
func (p *project) killAtChange(cmd *exec.Cmd, dir string, later time.Duration) {
	p.t.Helper()
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = unix.Close(watch) }()
	if _, err := unix.InotifyAddWatch(watch, filepath.Join(p.dir, dir), unix.IN_MOVED_TO); err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	if _, err := unix.Read(watch, make([]byte, 4096)); err != nil {
		p.t.Error(err)
	}
	time.AfterFunc(later, func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
	_ = cmd.Wait() // it was killed, or was faster
}

// TestIsolateLineUI: /isolate of the line UI continues the session on a view, and input that follows reaches the new process.
func TestIsolateLineUI(t *testing.T) {
	t.Parallel()
	p := newIsolatedProject(t)
	cmd := p.pawl(nil, call{"write", map[string]any{"path": "n", "content": "session\n"}})
	b := &harness.Workdir{Bin: p.bin, Dir: p.dir, Env: cmd.Env}
	x := b.Terminal(t, "--screen-reader", "--mode", "auto", "--tools", "write,read")
	x.Await("mode auto;")
	x.Type("/isolate\n")
	x.Await("isolated: ")
	x.Await("mode auto, isolated;")
	x.Await("\n> ")
	x.Type("go\n")
	x.Await("\n> ")
	if exists(filepath.Join(p.dir, "n")) {
		t.Error("the project has changed")
	}
	x.Type("/quit\n")
	x.Await("[s/a/b/d/K]")
	x.Type("s\n")
	x.Await("+session")
	x.Type("a\n")
	x.Await("Applied 1 file change.")
	ended(t, x, 0)
	if p.sh("cat n") != "session\n" {
		t.Error("the changes were not applied")
	}
	y := b.Terminal(t, "--screen-reader", "-c")
	y.Await("\n> ")
	y.Type("/isolate\n")
	y.Await("next: ")
	y.Type("/quit\n")
	y.Await("bye")
	ended(t, y, 0)
}

// TestIsolatedQuestion: at the end of an isolated session the user decides on the terminal what happens with its changes.
func TestIsolatedQuestion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer, said string
		applied      bool
		left         int // views
	}{
		"apply":         {answer: "a", said: "Applied 1 file change.", applied: true},
		"discard":       {answer: "discard"},
		"branch":        {answer: "b", said: "Committed the changes to pawl/", left: 1},
		"keep":          {answer: "", said: "Kept.", left: 1},
		"anything else": {answer: "yes", said: "Kept.", left: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newIsolatedProject(t)
			cmd := p.pawl(nil, call{"write", map[string]any{"path": "n", "content": "session\n"}})
			b := &harness.Workdir{Bin: p.bin, Dir: p.dir, Env: cmd.Env}
			x := b.Terminal(t, "run", "--isolated", "--mode", "yolo", "go")
			if screen := x.Await("[s/a/b/d/K]"); !strings.Contains(screen, "A n") {
				t.Errorf("the screen shows\n%s", screen)
			}
			if exists(filepath.Join(p.dir, "n")) {
				t.Error("the project has changed before the answer")
			}
			x.Type(c.answer + "\r")
			x.Await(c.said)
			ended(t, x, 0)
			if exists(filepath.Join(p.dir, "n")) != c.applied {
				t.Errorf("the changes are applied: %v", !c.applied)
			}
			if got := p.sh("git branch --list 'pawl/*' --format='%(refname:short)' | xargs -I{} git show {}:n"); got == "session\n" != (c.answer == "b") {
				t.Errorf("the branch has %q", got)
			}
			if left, err := os.ReadDir(filepath.Join(p.data, "isolated")); err != nil || len(left) != c.left {
				t.Errorf("views: %v, %v", left, err)
			}
		})
	}
}
