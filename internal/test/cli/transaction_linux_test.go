//go:build e2e

package cli

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/test/harness"
)

var transactions = flag.Int("transactions", 25, "commands of each transaction test")

// project is a directory in which commands run with 'pawl sandbox', and its home directory.
type project struct {
	t               *testing.T
	bin             string
	dir, home, data string
}

// newTransactionProject returns a project on the disk. The views of its commands are in a directory of data.
func newTransactionProject(t *testing.T, data string) *project {
	t.Helper()
	var base [2]string
	for i, at := range []string{"/var/tmp", data} { // commands do not see /tmp
		var err error
		if base[i], err = os.MkdirTemp(at, "pawl-transaction-"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = exec.Command("chmod", "-R", "u+rwx", base[i]).Run()
			_ = os.RemoveAll(base[i])
		})
	}
	p := &project{t: t, bin: harness.Binary(t, ""), dir: filepath.Join(base[0], "project"), home: filepath.Join(base[0], "home"), data: base[1]}
	for _, dir := range []string{p.dir, p.home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *project) command(script string) *exec.Cmd {
	cmd := exec.Command(p.bin, "sandbox", "--", "bash", "-c", script)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "HOME="+p.home, "PAWL_DATA="+p.data, "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=")
	return cmd
}

func (p *project) run(script string) string {
	p.t.Helper()
	out, err := p.command(script).CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// sh runs a command of the user, outside of Pawl.
func (p *project) sh(script string) string {
	p.t.Helper()
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "HOME="+p.home)
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// TestKilledTransaction kills Pawl at any time of a command that changes many files. After the next command, all of
// them are as before or as after it.
func TestKilledTransaction(t *testing.T) {
	t.Parallel()
	const files = 40
	for name, data := range map[string]string{"same file system": "/var/tmp", "memory": "/dev/shm"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTransactionProject(t, data)
			p.sh(fmt.Sprintf("mkdir d; for i in $(seq %d); do echo 0 >d/$i; done", files))
			began := time.Now()
			p.run("for f in d/*; do echo 0 >$f; done")
			whole := time.Since(began) * 3 / 2
			random := rand.New(rand.NewPCG(1, uint64(len(name))))
			applied := 0
			for n := 1; n <= *transactions; n++ {
				cmd := p.command(fmt.Sprintf("for f in d/*; do echo %d >$f; done; touch new%d", n, n))
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				timer := time.AfterFunc(time.Duration(random.Int64N(int64(whole))), func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
				_ = cmd.Wait() // it was killed, or was faster
				timer.Stop()
				p.run("true") // completes or discards it
				got := strings.Fields(p.sh("cat d/* | sort -u; ls | grep -c new" + fmt.Sprint(n) + "; true"))
				if len(got) != 2 || got[0] == fmt.Sprint(n) != (got[1] == "1") {
					t.Fatalf("command %d: the files have %v", n, got)
				}
				if got[1] == "1" {
					applied++
				}
			}
			t.Logf("%d of %d commands were applied", applied, *transactions)
		})
	}
}

// TestNothingOfPawl watches the directory while commands run, and one of them is killed: no file of Pawl's appears.
func TestNothingOfPawl(t *testing.T) {
	t.Parallel()
	p := newTransactionProject(t, "/var/tmp")
	p.sh("git init -q; mkdir src; echo 0 >src/a; echo 0 >b")
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(watch) }()
	for _, dir := range []string{"", "src", ".git"} {
		if _, err := unix.InotifyAddWatch(watch, filepath.Join(p.dir, dir), unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_DELETE|unix.IN_MOVED_FROM); err != nil {
			t.Fatal(err)
		}
	}
	for n := range *transactions {
		cmd := p.command(fmt.Sprintf("echo %d >src/a; echo %d >b; touch src/new%d; sleep 0.0%d", n, n, n, n%10))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if n%5 == 4 {
			_ = cmd.Process.Signal(syscall.SIGKILL)
		}
		_ = cmd.Wait()
	}
	for _, name := range watched(t, watch) {
		if name != "a" && name != "b" && !strings.HasPrefix(name, "new") {
			t.Errorf("%q appeared in the project", name)
		}
	}
}

// watched returns the names that inotify has reported.
func watched(t *testing.T, watch int) (names []string) {
	t.Helper()
	buffer := make([]byte, 1<<20)
	for {
		n, err := unix.Read(watch, buffer)
		if errors.Is(err, unix.EAGAIN) {
			return names
		}
		if err != nil || n == 0 {
			t.Fatal(n, err)
		}
		for at := 0; at < n; {
			length := int(uint32(buffer[at+12]) | uint32(buffer[at+13])<<8)
			names = append(names, string(bytes.TrimRight(buffer[at+unix.SizeofInotifyEvent:at+unix.SizeofInotifyEvent+length], "\x00")))
			at += unix.SizeofInotifyEvent + length
		}
	}
}

// TestUserWinsConflict: what the user writes while a command runs is never overwritten, and the command's version is
// kept.
func TestUserWinsConflict(t *testing.T) {
	t.Parallel()
	p := newTransactionProject(t, "/var/tmp")
	p.sh("echo old >f; echo old >g")
	cmd := p.command("echo command >f; echo command >g; echo started; read -r _")
	input, output, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = input
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := stdout.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	p.sh("echo user >f")
	_, _ = output.WriteString("\n")
	_ = cmd.Wait()
	if got := p.sh("cat f g"); got != "user\ncommand\n" {
		t.Errorf("%q\n%s", got, stderr.String())
	}
	if !strings.Contains(stderr.String(), "f not changed: ") {
		t.Errorf("the user does not learn of it: %s", stderr.String())
	}
}

// TestTrackedSecret: a hidden file that git tracks has the content of the index in the view, so that a commit does not
// delete it, and what the user has in it stays hidden.
func TestTrackedSecret(t *testing.T) {
	t.Parallel()
	p := newTransactionProject(t, "/var/tmp")
	p.sh("git init -q .; git config user.name n; git config user.email e@example.org; echo KEY=example >.env; mkdir sub; echo KEY=sub >sub/.env; echo 1 >a; git add -A; git commit -qm one; echo KEY=secret >.env; echo KEY=local >.env.local")
	out := p.run("cat .env sub/.env; ls -A; git status --short; echo 2 >a; git commit -qam two; git status --short")
	if !strings.HasPrefix(out, "KEY=example\nKEY=sub\n") || strings.Contains(out, "secret") || strings.Contains(out, ".env.local") {
		t.Errorf("the command saw:\n%s", out)
	}
	if got := p.sh("git show --stat --format=%s HEAD -- .env sub/.env a | tail -1; cat .env; git status --short"); got != " 1 file changed, 1 insertion(+), 1 deletion(-)\nKEY=secret\n M .env\n?? .env.local\n" {
		t.Errorf("%q", got)
	}
	// An entry in the index, which a command can make, shows its own content only.
	p.run(`git update-index --add --cacheinfo 100644,$(echo mine | git hash-object -w --stdin),.env.local`)
	if out := p.run("cat .env.local"); out != "mine\n" {
		t.Errorf("the command saw %q", out)
	}
}
