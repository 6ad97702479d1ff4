//go:build bench

package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// TestBenchTransaction: a command on a copy-on-write view, beside a minimal bwrap, in a small and in a large workspace,
// without changes and with some. It prints medians of wall and CPU time.
func TestBenchTransaction(t *testing.T) {
	const rounds = 60
	root := projectDir(t)
	t.Setenv("HOME", filepath.Join(root, "home"))
	t.Setenv("PAWL_DATA", filepath.Join(root, "data"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(root, "cache"))
	safety, err := policy.Open()
	if err != nil {
		t.Fatal(err)
	}
	backend, report := sandbox.Detect(t.Context())
	bwrap, ok := backend.(*sandbox.Bubblewrap)
	if !ok {
		t.Fatalf("%+v", report)
	}
	for _, files := range []int{20, 100_000} {
		ws := filepath.Join(root, fmt.Sprint("ws", files))
		for i := range files {
			if i%100 == 0 {
				if err := os.MkdirAll(filepath.Join(ws, fmt.Sprint("d", i/100)), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(ws, fmt.Sprint("d", i/100), fmt.Sprint("f", i)), []byte("text\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		syscall.Sync() // else the disk is still busy with them
		minimal := []string{
			bwrap.Path, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup", "--unshare-net",
			"--new-session", "--die-with-parent", "--cap-drop", "ALL", "--disable-userns",
			"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind", ws, ws, "--chdir", ws, "--", "sh", "-c",
		}
		transaction := func(script string) {
			t.Helper()
			w, err := safety.Wrap(t.Context(), sandbox.Request{
				Session: pawl.SessionID("01JD0000000000000000000000"), Workspace: ws, Dir: ws, Mode: "auto", Args: []string{"sh", "-c", script},
			})
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(w.Args[0], w.Args[1:]...)
			cmd.Env, cmd.ExtraFiles, cmd.SysProcAttr, cmd.Dir = w.Env, w.Files, w.Attr, ws
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if _, err := w.Finish(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			w.Close()
		}
		scripts := map[string]string{"0 changes": "true", "10 changes": "for i in 0 1 2 3 4 5 6 7 8 9; do date >d0/f$i; done"}
		for name, script := range scripts {
			ways := []*way{
				{name: "bwrap", run: func() {
					if out, err := exec.Command(minimal[0], append(minimal[1:], script)...).CombinedOutput(); err != nil {
						t.Fatalf("%v: %s", err, out)
					}
				}},
				{name: "transaction", run: func() { transaction(script) }},
			}
			for range rounds {
				for _, i := range rand.Perm(len(ways)) {
					ways[i].measure(t)
				}
			}
			for _, w := range ways {
				t.Logf("%d files, %s: %-12s wall %5.1f ms, CPU %5.1f ms", files, name, w.name, middle(w.wall), middle(w.cpu))
			}
		}
	}
}

// way is one way to run a command.
type way struct {
	name      string
	run       func()
	wall, cpu []float64 // in milliseconds
}

func (w *way) measure(t *testing.T) {
	t.Helper()
	began, used := time.Now(), cpuTime(t)
	w.run()
	w.wall = append(w.wall, float64(time.Since(began).Microseconds())/1000)
	w.cpu = append(w.cpu, float64((cpuTime(t)-used).Microseconds())/1000)
}

// cpuTime is the CPU time of this process and of its children that have ended.
func cpuTime(t *testing.T) (sum time.Duration) {
	t.Helper()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			t.Fatal(err)
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}
