//go:build e2e

package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/test/security"
)

// TestHostileFolder: the project configuration has no effect on pawl: it runs nothing
// of it, asks no address of it, reads no variable of it. Rows A1 to A10, A16 to A19.
func TestHostileFolder(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	canary := filepath.Join(root, "canary")
	if err := os.Mkdir(canary, 0o700); err != nil {
		t.Fatal(err)
	}
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	security.Hostile(t, b.Dir, canary)
	b.Env = append(b.Env, "HOME="+root, "PAWL_DATA="+root+"/data", "XDG_CONFIG_HOME="+root+"/config")
	b.Write(t, "s.jsonl", `{"text":"said"}`+"\n")
	b.Write(t, "evil.jsonl", `{"text":"evil"}`+"\n")
	for _, args := range [][]string{
		{"trust", "--status"}, {"trust"}, {"trust", "--list"}, {"version"}, {"session", "list"}, {"permissions", "list"}, {"config", "managed"}, {"stats"}, {"models"},
	} {
		if out := b.Run(t, args...); out.Code != 0 && out.Code != cli.ExitDenied {
			t.Errorf("%q: %+v", args, out)
		}
	}
	if out := b.Must(t, "permissions", "list"); !strings.HasPrefix(out.Stdout, "mode: guard\n") {
		t.Errorf("the folder has set the mode: %s", out.Stdout)
	}
	if out := b.Must(t, "run", "--mode", "plan", "--model", "script:s.jsonl", "hello"); out.Stdout != "said\n" {
		t.Errorf("%+v", out)
	}
	b.Write(t, "work.jsonl", `{"calls":[{"name":"write","input":{"path":"new.ts","content":"let x: number = 1\n"}},{"name":"diagnostics","input":{"paths":["new.ts"]}},{"name":"bash","input":{"command":"git status; git log; true"}}]}
{"text":"worked"}
`)
	if out := b.Must(t, "run", "--model", "script:work.jsonl", "work"); out.Stdout != "worked\n" || !strings.Contains(out.Stderr, "pawl trust") {
		t.Errorf("%+v", out)
	}
	if got := b.Must(t, "session", "export", "--format", "jsonl", "last").Stdout; strings.Contains(got, security.Marker) {
		t.Error("the folder's instructions are in the session")
	}
	if got := security.Tripped(t, canary); len(got) > 0 {
		t.Errorf("gone off: %q", got)
	}
	for _, name := range []string{".pawl/data", ".pawl/evil.db"} {
		if exists(filepath.Join(b.Dir, name)) {
			t.Errorf("%s is there: a variable of the folder's was read", name)
		}
	}
}

// TestManagedPolicy: the real program, with an /etc of its own. No variable
// moves the policy, and one that others could have written stops pawl. Row A20.
func TestManagedPolicy(t *testing.T) {
	t.Parallel()
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Fatal(err)
	}
	bin := harness.Binary(t, "")
	run := func(mode, folder os.FileMode, env ...string) harness.Output {
		t.Helper()
		etc := t.TempDir()
		path := filepath.Join(etc, "managed.json")
		if err := errors.Join(os.WriteFile(path, []byte(`{"max_mode":"ask","sandbox_required":true}`), 0o600), os.Chmod(path, mode), os.Chmod(etc, folder)); err != nil {
			t.Fatal(err)
		}
		other := filepath.Join(t.TempDir(), "other.json")
		if err := os.WriteFile(other, []byte(`{"max_mode":"yolo"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(bwrap, "--unshare-user", "--uid", "0", "--gid", "0", "--ro-bind", "/", "/", "--tmpfs", "/etc", "--dev-bind", "/dev", "/dev", "--bind", etc, "/etc/pawl", bin, "config", "managed") //nolint:gosec // our own words
		cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + etc, "PAWL_MANAGED=" + other, "PAWL_MANAGED_CONFIG_PATH=" + other, "PAWL_CONFIG=" + other, "XDG_CONFIG_DIRS=" + filepath.Dir(other)}
		cmd.Env = append(cmd.Env, env...)
		return harness.Wait(t, cmd)
	}
	want := harness.Output{Stdout: "maximum mode: ask\nsandbox: required\n"}
	if diff := cmp.Diff(want, run(0o644, 0o755)); diff != "" {
		t.Error(diff)
	}
	for _, modes := range [][2]os.FileMode{{0o664, 0o755}, {0o646, 0o755}, {0o644, 0o775}, {0o644, 0o757}} {
		if out := run(modes[0], modes[1]); out.Code != 1 || !strings.Contains(out.Stderr, "users other than root can write to") || out.Stdout != "" {
			t.Errorf("%o %o: %+v", modes[0], modes[1], out)
		}
	}
}
