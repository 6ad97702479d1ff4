package snapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
)

// Environment variables that make the test binary run as another process.
const (
	childDo    = "PAWL_SNAPSHOT_DO"    // take, or undo followed by two ids
	childDir   = "PAWL_SNAPSHOT_DIR"   // the directory
	childStore = "PAWL_SNAPSHOT_STORE" // the store
	childDie   = "PAWL_SNAPSHOT_DIE"   // kill itself at this point, counted from 1; 0 means never
	childLimit = "PAWL_SNAPSHOT_LIMIT" // maximum file size in bytes; 0 means no limit
)

func TestMain(m *testing.M) {
	if os.Getenv(childDo) == "" {
		os.Exit(m.Run())
	}
	if err := child(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func child() error {
	g, err := git.Find(bg, os.Getenv(childDir))
	if err != nil {
		return err
	}
	s, err := Open(Config{Dir: os.Getenv(childStore), Git: g})
	if err != nil {
		return err
	}
	die, err := strconv.Atoi(os.Getenv(childDie))
	if err != nil {
		return err
	}
	s.trace = func(string) {
		if die--; die == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	if limit, err := strconv.ParseUint(os.Getenv(childLimit), 10, 64); err == nil && limit > 0 {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
	}
	words := strings.Fields(os.Getenv(childDo))
	if words[0] == "take" {
		_, err = s.Take(bg, os.Getenv(childDir), pawl.SessionID(words[1]))
		return err
	}
	p, err := s.Plan(bg, os.Getenv(childDir), []Span{{Before: ID(words[1]), After: ID(words[2])}}, false)
	if err != nil {
		return err
	}
	_, err = s.Apply(bg, p, KeepAside)
	return err
}

// child runs the test binary as another process with the same store.
func (w *env) child(do string, die, limit int) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDo+"="+do, childDir+"="+w.dir, childStore+"="+w.store.Dir, fmt.Sprintf("%s=%d", childDie, die), fmt.Sprintf("%s=%d", childLimit, limit))
	return cmd
}

// killed runs a process that kills itself at a point, and reports whether it got that
// far.
func (w *env) killed(do string, point int) bool {
	w.t.Helper()
	out, err := w.child(do, point, 0).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled() {
		return true
	}
	if err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	return false
}

// TestKilledTake: after a Take was killed at any point, the next one is correct.
func TestKilledTake(t *testing.T) {
	t.Parallel()
	points := 0
	for point := 1; ; point++ {
		w := newEnv(t)
		w.sh("mkdir d; echo 1 >d/f; echo 1 >g")
		first := ID("")
		if point%2 == 0 { // also with an existing store
			first = w.take()
			w.sh("echo 2 >d/f; echo 2 >h")
		}
		want := w.show()
		if !w.killed("take "+string(alice), point) {
			break
		}
		points++
		s := Span{Before: w.take()}
		if first != "" {
			if changes, err := w.store.Changes(t.Context(), w.dir, first, s.Before); err != nil || len(changes) != 2 {
				t.Errorf("point %d: %+v, %v", point, changes, err)
			}
		}
		w.sh("rm -r d g; echo 3 >f")
		s.After = w.take()
		w.undo(Refuse, s)
		if diff := cmp.Diff(want, w.show()); diff != "" {
			t.Errorf("point %d: %s", point, diff)
		}
		if _, err := w.store.GC(t.Context(), GC{}); err != nil {
			t.Errorf("point %d: %v", point, err)
		}
	}
	if points < 8 {
		t.Errorf("only %d points", points)
	}
}

// TestKilledApply: after an Apply was killed at any point, repeating it leads to the
// same state and copies nothing aside twice.
func TestKilledApply(t *testing.T) {
	t.Parallel()
	points := 0
	for point := 1; ; point++ {
		w := newEnv(t)
		w.sh("mkdir d x; echo 1 >d/f; echo 1 >g; echo 1 >gone; echo 1 >x/y; echo 1 >flat; echo 1 >mine; echo 1 >mine2")
		want := w.show()
		s := w.span("rm -r gone x; echo 2 >d/f; echo 2 >g; mkdir -p new/deep; echo 2 >new/deep/n; echo 2 >x; rm flat; mkdir flat; echo 2 >flat/in; rm mine; echo 2 >mine2")
		w.sh("echo theirs >mine; echo theirs >mine2")
		ended := !w.killed("undo "+string(s.Before)+" "+string(s.After), point)
		r := w.undo(KeepAside, s)
		if diff := cmp.Diff(want, w.show()); diff != "" {
			t.Errorf("point %d: %+v %s", point, r, diff)
		}
		aside := 0
		for name, text := range showDir(t, w.store.Dir) {
			if strings.Contains(name, "/"+asideName+"/") && text == "-rw------- theirs\n" {
				aside++
			}
		}
		if aside != 2 {
			t.Errorf("point %d: %d files are kept aside", point, aside)
		}
		if ended {
			break
		}
		points++
	}
	if points < 20 {
		t.Errorf("only %d points", points)
	}
}

// TestTwoProcesses: several processes and goroutines take snapshots of the same
// directory at once, and all snapshots are correct.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.files(200)
	before := w.show()
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			owner := alice
			if i%2 == 0 {
				owner = bob
			}
			if i < 4 {
				if out, err := w.child("take "+string(owner), 0, 0).CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
			} else if _, err := w.store.Take(t.Context(), w.dir, owner); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	owners, err := w.store.Owners(t.Context())
	if diff := cmp.Diff([]pawl.SessionID{alice, bob}, owners); diff != "" || err != nil {
		t.Errorf("%s, %v", diff, err)
	}
	w.undo(Refuse, w.span("rm -r d0; echo 2 >d1/e10/f100.txt"))
	if diff := cmp.Diff(before, w.show()); diff != "" {
		t.Error(diff)
	}
}

// TestDiskFull: a Take that cannot write fails and does not damage earlier snapshots.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 100, 1000, 20_000} {
		w := newEnv(t)
		w.sh("echo 1 >f")
		first := w.take()
		w.sh("echo 2 >f; head -c 50000 /dev/urandom >big")
		out, err := w.child("take "+string(alice), 0, limit).CombinedOutput()
		if err == nil {
			t.Errorf("%d: it was taken", limit)
		}
		changes, err := w.store.Changes(t.Context(), w.dir, first, w.take())
		if err != nil || len(changes) != 2 {
			t.Errorf("%d: %+v, %v, after %s", limit, changes, err, out)
		}
	}
}

// bg is the context of the other process, which has no testing.T.
var bg = context.Background()
