package gate

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// processVar says that this is not a test but another process that has a gate.
const processVar = "PAWL_TEST_GATE_PROCESS"

// TestMain has the system's own programs found first: others may be wrappers that
// need more than a sandbox shows.
func TestMain(m *testing.M) {
	if err := os.Setenv("PATH", "/usr/bin:"+os.Getenv("PATH")); err != nil {
		panic(err)
	}
	if os.Getenv(processVar) != "" {
		if err := gateProcess(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// testRepo is a repository with a base and a candidate.
type testRepo struct {
	t   *testing.T
	dir string
}

func newTestRepo(t *testing.T) *testRepo {
	t.Helper()
	return newTestRepoIn(t, t.TempDir())
}

func newTestRepoIn(t *testing.T, dir string) *testRepo {
	t.Helper()
	w := &testRepo{t, filepath.Join(dir, "repo")}
	if err := os.Mkdir(w.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w.git("init", "-q", "-b", "main", ".")
	return w
}

func (w *testRepo) git(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.org"}, args...)...)
	cmd.Dir = w.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files and commits them. One that begins with #! can be run.
func (w *testRepo) commit(files map[string]string, deleted ...string) string {
	w.t.Helper()
	for _, name := range deleted {
		w.git("rm", "-q", "-r", name)
	}
	for name, text := range files {
		path := filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			w.t.Fatal(err)
		}
		mode := os.FileMode(0o600)
		if strings.HasPrefix(text, "#!") {
			mode = 0o700
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			w.t.Fatal(err)
		}
	}
	w.git("add", "-A", "-f")
	w.git("commit", "-q", "--allow-empty", "-m", "c")
	return w.git("rev-parse", "HEAD")
}

func (w *testRepo) gate(base string, f pawl.Criteria, checks []pawl.Check) (*Gate, pawl.Criteria) {
	w.t.Helper()
	found, err := git.Find(w.t.Context(), w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	repo, err := found.Open(w.t.Context(), w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	criteria, err := NewCriteria(w.t.Context(), repo, base, checks, f)
	if err != nil {
		w.t.Fatal(err)
	}
	g := &Gate{Repo: repo, Dir: filepath.Join(w.t.TempDir(), "gate"), Hidden: []string{w.dir}, Sandbox: inSandbox, Views: views}
	if err := os.Mkdir(g.Dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := g.Close(); err != nil {
			w.t.Error(err)
		}
	})
	return g, criteria
}

// seed is a cache that all stories share: the standard library is built once.
func seed(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(os.TempDir(), "pawl-gate-seed-"+strconv.Itoa(os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// inSandbox runs a check in the sandbox of this host.
func inSandbox(ctx context.Context, args []string, p sandbox.Profile, _ []string) (sandbox.Wrapped, error) {
	detected, _ := sandbox.Detect(ctx)
	p.Pass, p.Env = proc.Marks(), append([]string{"GOPATH", "GOROOT", "GOTOOLCHAIN", "CARGO_HOME", "RUSTUP_HOME"}, p.Env...)
	return detected.Wrap(args, p)
}

// rules are the rules and items of faults.
func rules(faults []pawl.GateFault) (list []string) {
	for _, f := range faults {
		list = append(list, f.Rule+" "+f.Item)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// views says that the sandbox of this host shows copy-on-write views.
func views(context.Context) (bool, error) { return true, nil }
