//go:build cheats

package gate

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestCorpusIsNaive: every change of the corpus passes the project's own checks, as a person would run them,
// unless the story says otherwise. A cheat that fails its checks shows nothing about the gate.
func TestCorpusIsNaive(t *testing.T) {
	t.Parallel()
	bases := &baseRuns{done: map[[sha256.Size]byte]*sync.Once{}, out: map[[sha256.Size]byte]naiveRun{}}
	for kind := range corpusSizes {
		for _, s := range readCorpus(t, kind) {
			t.Run(kind+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				s.verifyNaive(t, bases)
			})
		}
	}
}

// verifyNaive runs the checks of a story on its base and on its candidate.
func (s corpusStory) verifyNaive(t *testing.T, bases *baseRuns) {
	t.Helper()
	checks := s.naiveChecks()
	if len(checks) == 0 && !s.has("base", "untested") {
		t.Fatal("no checks found; mark a project without any with base: untested")
	}
	for _, c := range checks {
		if _, err := exec.LookPath(c[0]); err != nil {
			t.Fatal(err)
		}
	}
	expectRun(t, "base", s.keys["base"], bases.run(t, s, checks))
	dir := t.TempDir()
	s.commit(t, dir) // the candidate stays in dir
	expectRun(t, "candidate", s.keys["naive"], runNaive(t, dir, checks))
}

// expectRun reports a result that is not the one that the story names: it passes if nothing is named.
func expectRun(t *testing.T, what string, want []string, run naiveRun) {
	t.Helper()
	switch {
	case slices.Contains(want, "flaky"):
	case run.passed == slices.Contains(want, "fails"):
		t.Errorf("the checks of the %s pass: %t\n%s", what, run.passed, run.out)
	}
}

// naiveChecks returns the commands of the story, or those that a person would run in such a project.
func (s corpusStory) naiveChecks() [][]string {
	var list [][]string
	for _, line := range s.keys["check"] {
		list = append(list, strings.Fields(line)[2:])
	}
	if len(list) > 0 {
		return list
	}
	switch {
	case s.base["Makefile"] != "":
		return [][]string{{"make", "-s", "test"}}
	case s.base["go.mod"] != "":
		return [][]string{{"go", "test", "./..."}}
	case s.base["Cargo.toml"] != "":
		return [][]string{{"cargo", "test", "-q", "--offline"}}
	case s.base["package.json"] != "":
		return [][]string{{"npm", "run", "--silent", "test"}}
	}
	return s.pythonNaive()
}

// pythonNaive returns pytest if the project uses it, otherwise unittest.
func (s corpusStory) pythonNaive() [][]string {
	var tests bool
	for name, text := range s.base {
		if filepath.Ext(name) == ".py" && strings.HasPrefix(filepath.Base(name), "test_") {
			tests = true
		}
		if strings.Contains(text, "pytest") {
			return [][]string{{"python3", "-m", "pytest", "-q", "-p", "no:cacheprovider"}}
		}
	}
	if tests {
		return [][]string{{"python3", "-m", "unittest", "-q"}}
	}
	return nil
}

// naiveRun is the result of a project's checks.
type naiveRun struct {
	passed bool
	out    string
}

// baseRuns runs the checks of each distinct base once.
type baseRuns struct {
	mu   sync.Mutex
	done map[[sha256.Size]byte]*sync.Once
	out  map[[sha256.Size]byte]naiveRun
}

func (b *baseRuns) run(t *testing.T, s corpusStory, checks [][]string) naiveRun {
	t.Helper()
	text, err := json.Marshal([]any{s.base, s.keys["exec"], checks})
	fatal(t, err)
	key := sha256.Sum256(text)
	b.mu.Lock()
	if b.done[key] == nil {
		b.done[key] = &sync.Once{}
	}
	once := b.done[key]
	b.mu.Unlock()
	once.Do(func() {
		dir := t.TempDir()
		s.writeBase(t, dir)
		run := runNaive(t, dir, checks)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.out[key] = run
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out[key]
}

// corpusCache returns a build cache that all stories and runs share, so that the standard library is built once.
func corpusCache(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(os.TempDir(), "pawl-gate-corpus-"+strconv.Itoa(os.Getuid()))
	fatal(t, os.MkdirAll(dir, 0o700))
	return dir
}

// runNaive runs checks in a directory until one fails.
func runNaive(t *testing.T, dir string, checks [][]string) naiveRun {
	t.Helper()
	home := t.TempDir()
	env := map[string]string{
		"HOME": home, "XDG_CACHE_HOME": home, "GOCACHE": corpusCache(t), "GOPROXY": "off", "GOTOOLCHAIN": "local",
		"PATH": os.Getenv("PATH"), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "USER": "dev", "LOGNAME": "dev",
		"CARGO_HOME": os.Getenv("CARGO_HOME"), "RUSTUP_HOME": os.Getenv("RUSTUP_HOME"), "TMPDIR": home,
	}
	if old, err := os.UserHomeDir(); err == nil && env["RUSTUP_HOME"] == "" {
		env["CARGO_HOME"], env["RUSTUP_HOME"] = filepath.Join(old, ".cargo"), filepath.Join(old, ".rustup")
	}
	var out bytes.Buffer
	for _, args := range checks {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, &out, &out, time.Minute
		for _, key := range slices.Sorted(maps.Keys(env)) {
			cmd.Env = append(cmd.Env, key+"="+env[key])
		}
		if err := cmd.Run(); err != nil {
			fmt.Fprintf(&out, "%q: %v\n", args, err)
			return naiveRun{false, out.String()}
		}
	}
	return naiveRun{true, out.String()}
}
