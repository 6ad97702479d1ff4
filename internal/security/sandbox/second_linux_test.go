package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/security/sandbox/supervise"
)

// TestSecondBarrier: a command of a helper can write only where it may, even if a mount that should be read-only is not:
// this test has no mounts at all.
func TestSecondBarrier(t *testing.T) {
	t.Parallel()
	if landlockABI() == 0 {
		t.Fatal("this kernel has no landlock: nothing is shown")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	inside, outside := filepath.Join(base, "inside"), filepath.Join(base, "outside")
	for _, path := range []string{filepath.Join(inside, "dir"), filepath.Join(outside, "dir")} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "file"), []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const script = `
		fine() { "$@" || echo "failed: $*"; }
		denied() { "$@" 2>/dev/null && echo "succeeded: $*"; }
		fine sh -c 'echo new > dir/file'; fine mkdir d; fine mv d e; fine mv dir/file e/f; fine ln e/f g; fine ln -s g h; fine mkfifo p; fine rm -r e
		fine sh -c 'echo x > /dev/null'
		cd ../outside
		for f in dir/file new /proc/sys/kernel/domainname; do denied sh -c "echo x > $f"; done
		denied truncate -s 0 dir/file; denied mkdir d; denied mv dir e; denied rm dir/file; denied rmdir dir; denied ln dir/file l; denied ln -s x l; denied mkfifo p
		denied mv dir/file ../inside/; denied mv ../inside/g dir/; denied ln dir/file ../inside/l; denied touch ../new
		cat dir/file`
	cmd := exec.CommandContext(t.Context(), self, supervise.Command{Writable: []string{inside, "/dev"}, Argv: []string{"/bin/sh", "-c", script}}.Args()...)
	cmd.Env, cmd.Dir = append(os.Environ(), supervise.Var+"="+supervise.Renames), inside
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "old" {
		t.Errorf("%v, %s", err, out)
	}
}
