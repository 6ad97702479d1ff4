//go:build bench

package bench

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// TestBenchSandbox: a command in the sandbox, beside a bwrap that is given the same
// options and nothing else to do, and beside a minimal one: the same namespaces
// and the same machine, nothing guarded in it.
func TestBenchSandbox(t *testing.T) {
	const rounds, most, mostMinimal = 100, 1.3, 2.0
	root := projectDir(t)
	home, ws := filepath.Join(root, "home"), filepath.Join(root, "ws")
	for _, dir := range []string{home + "/.ssh", home + "/.aws", home + "/.gnupg", home + "/.config/gh", ws + "/src/pkg"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	if out, err := exec.Command("git", "init", "-q", ws).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	wrapper, report := sandbox.Detect(context.Background())
	if wrapper.Name() != "bubblewrap" {
		t.Fatalf("%+v", report)
	}
	t.Cleanup(sandbox.Release)
	wrap := func(b sandbox.Backend) sandbox.Wrapped {
		t.Helper()
		w, err := b.Wrap([]string{"true"}, sandbox.Profile{Dir: ws})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	// timed runs a command and returns how long it took since then.
	timed := func(began time.Time, args, env []string, files []*os.File, done func()) time.Duration {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...) //nolint:gosec // fixed words
		cmd.Env, cmd.ExtraFiles, cmd.Dir = env, files, ws
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		done()
		return time.Since(began)
	}
	minimal := []string{
		wrapper.(*sandbox.Bubblewrap).Path, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup", "--unshare-net",
		"--new-session", "--die-with-parent", "--cap-drop", "ALL", "--disable-userns",
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind", ws, ws, "--", "true",
	}
	ways := []struct {
		name string
		run  func() time.Duration
		took []time.Duration
	}{
		{name: "bwrap, minimal", run: func() time.Duration { return timed(time.Now(), minimal, nil, nil, func() {}) }},
		{name: "bwrap, same options", run: func() time.Duration {
			w := wrap(wrapper)
			defer w.Close()
			return timed(time.Now(), w.Args, w.Env, w.Files, func() {})
		}},
		{name: "the box", run: func() time.Duration {
			began, w := time.Now(), wrap(wrapper)
			return timed(began, w.Args, w.Env, w.Files, w.Close)
		}},
		{name: "the landlock box", run: func() time.Duration {
			began, w := time.Now(), wrap(&sandbox.Landlock{})
			return timed(began, w.Args, w.Env, w.Files, w.Close)
		}},
	}
	for range rounds {
		for _, i := range rand.Perm(len(ways)) { // the kernel takes one sandbox down while the next begins
			ways[i].took = append(ways[i].took, ways[i].run())
		}
	}
	quarter := func(i int) float64 {
		slices.Sort(ways[i].took)
		return float64(ways[i].took[rounds/4])
	}
	for i, w := range ways {
		t.Logf("true, in %-20s a quarter within %s, the fastest %s: %.2f of a minimal one   (at most %.1f)",
			w.name+":", us(time.Duration(quarter(i))), us(w.took[0]), quarter(i)/quarter(0), mostMinimal)
	}
	t.Logf("the box: %.2f of a bwrap with the same options   (at most %.1f)", quarter(2)/quarter(1), most)
	if quarter(2) > most*quarter(1) || quarter(2) > mostMinimal*quarter(0) {
		t.Error("a command in the box takes too long to start")
	}
}

// projectDir returns a directory where people have their projects, and not in
// /tmp, which a sandbox replaces.
func projectDir(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(cache, "pawl-bench-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
