//go:build e2e

package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/harness"
)

// mounted runs pawl in a mount namespace in which a file system is mounted in the working directory.
func mounted(b *harness.Workdir, args ...string) *exec.Cmd {
	cmd := b.Command(args...)
	options := []string{"unshare", "--mount"}
	if os.Geteuid() != 0 {
		options = append(options, "--map-root-user")
	}
	cmd.Args = append(append(options, "sh", "-ec", `mount -t tmpfs none data; exec "$@"`, "sh", cmd.Path), cmd.Args[1:]...)
	cmd.Path, cmd.Err = exec.LookPath("unshare")
	return cmd
}

// TestCopiedProject: where an overlay is impossible, commands of a session run on copies, one notice says so, and
// pawl doctor says why.
func TestCopiedProject(t *testing.T) {
	t.Parallel()
	const call = `{"calls":[{"name":"bash","input":{"command":"cat data/in; echo new >> a; mkdir -p .vscode; echo {} > .vscode/tasks.json"}}]}` + "\n"
	b, _ := newInterrupted(t, "", "true")
	b.Write(t, "s.jsonl", call+call+`{"text":"done"}`+"\n")
	if err := os.Mkdir(filepath.Join(b.Dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := mounted(b, "run", "--mode", "auto", "--model", "script:s.jsonl", "go").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const notice = "pawl: transactions: copy: commands run on a copy of the directory"
	if n := strings.Count(string(out), notice); n != 1 || !strings.Contains(string(out), "no overlay: another file system is mounted at "+filepath.Join(b.Dir, "data")) {
		t.Errorf("the notice occurs %d times in\n%s", n, out)
	}
	if got, err := os.ReadFile(filepath.Join(b.Dir, "a")); err != nil || string(got) != "old\nnew\nnew\n" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := os.Lstat(filepath.Join(b.Dir, ".vscode")); err == nil {
		t.Error("a protected name was created")
	}
	out, _ = mounted(b, "doctor", "--json").Output() // other findings may be failures
	var report struct {
		Checks []struct{ Name, Status, Detail, Fix string }
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found := false
	for _, f := range report.Checks {
		found = found || f.Name == "transactions" && f.Status == "warn" && strings.HasPrefix(f.Detail, "copy: ") && strings.Contains(f.Detail, "is mounted at") && f.Fix != ""
	}
	if !found {
		t.Errorf("doctor says\n%s", out)
	}
}
