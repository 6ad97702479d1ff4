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

	"github.com/rogpeppe/go-internal/txtar"

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

// story is a change and what happens to it: a file of testdata. Its comment holds
// lines "key: value", the files of the project are below base/, what the change
// writes is below change/.
//
//	on: NAME              the project is that of testdata/bases, apart from base/
//	reject: RULE ITEM     it must be refused for this; none means that it must not be
//	delete: PATH          the change deletes this
//	rename: PATH PATH     or gives it another path
//	allow-tests: PATTERN  what was approved on
//	allow-files: PATTERN
//	check: ID FORMAT COMMAND...  in place of what is found
type story struct {
	name   string
	keys   map[string][]string
	base   map[string]string
	change map[string]string
}

func readStory(t *testing.T, path string) story {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := story{name: strings.TrimSuffix(filepath.Base(path), ".txtar"), keys: map[string][]string{}, base: map[string]string{}, change: map[string]string{}}
	for line := range strings.Lines(string(archive.Comment)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && !strings.HasPrefix(key, "#") {
			s.keys[key] = append(s.keys[key], strings.TrimSpace(value))
		}
	}
	for _, name := range s.keys["on"] {
		project, err := txtar.ParseFile(filepath.Join("testdata", "bases", name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range project.Files {
			s.base[f.Name] = string(f.Data)
		}
	}
	for _, f := range archive.Files {
		if name, ok := strings.CutPrefix(f.Name, "base/"); ok {
			s.base[name] = string(f.Data)
		} else if name, ok := strings.CutPrefix(f.Name, "change/"); ok {
			s.change[name] = string(f.Data)
		} else {
			t.Fatalf("%s: %s is neither below base/ nor change/", path, f.Name)
		}
	}
	return s
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

// play makes the story's base and candidate and runs the gate on it.
func (w *testRepo) play(s story) Outcome {
	w.t.Helper()
	base := w.commit(s.base)
	var approved pawl.Approval
	approved.Tests, approved.Files = s.keys["allow-tests"], s.keys["allow-files"]
	g, criteria := w.gate(base, pawl.Criteria{Approval: approved}, s.checks())
	if s.base["go.mod"] != "" {
		g.Seed = seed(w.t)
	}
	for _, pair := range s.keys["rename"] {
		from, to, _ := strings.Cut(pair, " ")
		if err := os.MkdirAll(filepath.Dir(filepath.Join(w.dir, to)), 0o700); err != nil {
			w.t.Fatal(err)
		}
		w.git("mv", from, to)
	}
	candidate := w.commit(s.change, s.keys["delete"]...)
	o, err := g.Run(w.t.Context(), criteria, candidate)
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

func (s story) checks() []pawl.Check {
	var checks []pawl.Check
	for _, line := range s.keys["check"] {
		words := strings.Fields(line)
		c := pawl.Check{ID: words[0], Kind: pawl.CheckTest, Tests: words[1], Args: words[2:]}
		if c.Tests == "-" {
			c.Tests, c.Kind = "", pawl.CheckOther
		}
		if c.Tests == "junit" || c.Tests == "jest" {
			c.Report = ".pawl-tests.xml"
		}
		checks = append(checks, c)
	}
	return checks
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
	g := &Gate{Repo: repo, Dir: filepath.Join(w.t.TempDir(), "gate"), Hidden: []string{w.dir}, Sandbox: inSandbox, Reruns: 2}
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

// rules are what an outcome was refused for.
func rules(o Outcome) []string {
	var list []string
	for _, f := range o.Faults {
		list = append(list, f.Rule+" "+f.Item)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
