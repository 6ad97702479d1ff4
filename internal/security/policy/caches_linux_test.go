package policy

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

const (
	sessionOne pawl.SessionID = "01JD0000000000000000000001"
	sessionTwo pawl.SessionID = "01JD0000000000000000000002"
)

// openCached is open with a home directory that sandboxes do not replace as a whole, as
// they do with temporary directories. It has a cache.
func openCached(t *testing.T) (s *Safety, dir, home string) {
	t.Helper()
	base, err := os.MkdirTemp(cmp.Or(os.Getenv("PAWL_TEST_BASE"), "/var/lib"), "pawl-policy-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	t.Setenv("TMPDIR", base)
	t.Setenv("XDG_CACHE_HOME", "")
	s, dir, _ = open(t)
	s.home = os.Getenv("HOME")
	put(t, s.home, ".cache/go-build/00/x", "mine\n")
	put(t, s.home, "go/pkg/mod/m/m.go", "mine\n")
	return s, dir, s.home
}

// cachedCommand is a command that was started.
type cachedCommand struct {
	process *proc.Process
	w       sandbox.Wrapped
	out     bytes.Buffer
}

func startCached(t *testing.T, s *Safety, dir string, id pawl.SessionID, job bool, script string) *cachedCommand {
	t.Helper()
	c := &cachedCommand{}
	var err error
	c.w, err = s.Wrap(t.Context(), sandbox.Request{Session: id, Workspace: dir, Dir: dir, Mode: "auto", Sandboxed: true, Job: job, Args: []string{"bash", "-c", script}})
	if err != nil {
		t.Fatal(err)
	}
	c.process, err = proc.Start(proc.Command{Args: c.w.Args, Env: c.w.Env, Bare: true, Files: c.w.Files, Attr: c.w.Attr, Dir: dir, Output: &c.out})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// output waits for the end of the command.
func (c *cachedCommand) output() string {
	<-c.process.Done()
	c.w.Close()
	return c.out.String()
}

func runCached(t *testing.T, s *Safety, dir string, id pawl.SessionID, script string) string {
	t.Helper()
	return startCached(t, s, dir, id, false, script).output()
}

// TestCaches: commands of a session use the caches of the user and of earlier commands.
// Nobody else sees what they write.
func TestCaches(t *testing.T) { //nolint:paralleltest // it sets environment variables
	if asUser(t) {
		return
	}
	s, dir, home := openCached(t)
	const show = `cat $XDG_CACHE_HOME/go-build/00/x ~/go/pkg/mod/m/m.go 2>&1; ls ~/.cache/go-build/00`
	out := runCached(t, s, dir, sessionOne, `echo evil > $XDG_CACHE_HOME/go-build/00/x; echo new > ~/.cache/go-build/00/y; echo evil > ~/go/pkg/mod/m/m.go; `+show)
	if want := "evil\nevil\nx\ny\n"; out != want {
		t.Errorf("the command sees %q, want %q", out, want)
	}
	if out, want := runCached(t, s, dir, sessionOne, show), "evil\nevil\nx\ny\n"; out != want {
		t.Errorf("the next command of the session sees %q, want %q", out, want)
	}
	if out, want := runCached(t, s, dir, sessionTwo, show), "mine\nmine\nx\n"; out != want {
		t.Errorf("another session sees %q, want %q", out, want)
	}
	for _, name := range []string{".cache/go-build/00/x", "go/pkg/mod/m/m.go"} {
		if text, err := os.ReadFile(filepath.Join(home, name)); string(text) != "mine\n" {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(s.dirs.cache, "box", "*", "open", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestCachesOfJobs: while a job runs, other commands of the session see and keep what they
// write to caches. What the job writes is dropped.
func TestCachesOfJobs(t *testing.T) { //nolint:paralleltest // it sets environment variables
	if asUser(t) {
		return
	}
	s, dir, _ := openCached(t)
	job := startCached(t, s, dir, sessionOne, true, `echo job > ~/.cache/go-build/job; until [ -e ~/.cache/go-build/end ]; do sleep 0.01; done`)
	runCached(t, s, dir, sessionOne, `echo one > ~/.cache/go-build/one`)
	second := startCached(t, s, dir, sessionOne, true, `ls ~/.cache/go-build`)
	if out, want := second.output(), "00\none\n"; out != want {
		t.Errorf("a job that starts later sees %q, want %q", out, want)
	}
	if out, want := runCached(t, s, dir, sessionOne, `ls ~/.cache/go-build`), "00\none\n"; out != want {
		t.Errorf("a command sees %q, want %q", out, want)
	}
	job.process.Kill()
	job.output()
	if out, want := runCached(t, s, dir, sessionOne, `ls ~/.cache/go-build`), "00\none\n"; out != want {
		t.Errorf("after the job a command sees %q, want %q", out, want)
	}
}

// TestAbandonedCaches: what a killed Pawl has left of a command's caches is removed by the
// next command.
func TestAbandonedCaches(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, dir, _ := openCached(t)
	own, err := s.dirs.private("box", string(sessionOne))
	if err != nil {
		t.Fatal(err)
	}
	put(t, own, "open/abandoned/go-build/work/x", "x")
	runCached(t, s, dir, sessionOne, "true")
	if _, err := os.Lstat(filepath.Join(own, "open", "abandoned")); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}

// TestRemovedCache: a session goes on with an empty cache if the user removes one.
func TestRemovedCache(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, dir, home := openCached(t)
	const script = `mkdir -p $XDG_CACHE_HOME/go-build && ls $XDG_CACHE_HOME/go-build`
	if out := runCached(t, s, dir, sessionOne, script); out != "00\n" {
		t.Errorf("got %q", out)
	}
	if err := os.RemoveAll(filepath.Join(home, ".cache/go-build")); err != nil {
		t.Fatal(err)
	}
	if out := runCached(t, s, dir, sessionOne, script); out != "" {
		t.Errorf("got %q", out)
	}
}

// TestLinkInCaches: a command cannot make Pawl create anything outside of its caches.
func TestLinkInCaches(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, dir, home := openCached(t)
	put(t, home, ".npm/_cacache/x", "mine\n")
	runCached(t, s, dir, sessionOne, `rm -rf $XDG_CACHE_HOME/*; ln -s `+home+` $XDG_CACHE_HOME/npm`)
	before := list(t, home)
	runCached(t, s, dir, sessionOne, "true")
	if after := list(t, home); after != before {
		t.Errorf("%s, before: %s", after, before)
	}
}

func list(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// TestWorkersShareCache: each worker of a mission starts with the cache of the mission's
// checks, and all need hardly more disk space than one.
func TestWorkersShareCache(t *testing.T) { //nolint:paralleltest // it sets environment variables
	const workers, size = 20, 4 << 20
	s, dir, _ := openCached(t)
	base := filepath.Join(s.dirs.cache, "gate")
	put(t, base, "tool/large", strings.Repeat("x", size))
	for i := range workers {
		worktree := filepath.Join(dir, string(rune('a'+i)))
		if err := os.Mkdir(worktree, 0o700); err != nil {
			t.Fatal(err)
		}
		seed, err := s.Cache(worktree)
		if err != nil {
			t.Fatal(err)
		}
		put(t, seed, "tool/.keep", "")
		if err := os.Link(filepath.Join(base, "tool/large"), filepath.Join(seed, "tool/large")); err != nil {
			t.Fatal(err)
		}
		id := pawl.SessionID("01JD00000000000000000000" + string([]byte{'A', "0123456789ABCDEFGHJK"[i]}))
		if out := runCached(t, s, worktree, id, `cat $XDG_CACHE_HOME/tool/large | wc -c; echo own > $XDG_CACHE_HOME/tool/small; ls $XDG_CACHE_HOME/tool`); out != "4194304\nlarge\nsmall\n" {
			t.Fatalf("worker %d sees %q", i, out)
		}
	}
	if used := diskUsage(t, s.dirs.cache); used > 2*size {
		t.Errorf("%d workers with a cache of %d bytes use %d bytes", workers, size, used)
	}
}

// diskUsage returns the disk space that a directory uses.
func diskUsage(t *testing.T, dir string) (total int64) {
	t.Helper()
	seen := map[uint64]bool{}
	err := filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && !seen[st.Ino] {
			seen[st.Ino] = true
			total += st.Blocks * 512
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return total
}
