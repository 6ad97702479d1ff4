//go:build bench

package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

const (
	manyVar      = "PAWL_BENCH_MANY" // the directory that a child process works in
	manySessions = 1000
	manySteps    = 10
)

// TestBenchManySessions: 1,000 sessions at once in one process, of its own so
// that its memory can be measured.
func TestBenchManySessions(t *testing.T) { //nolint:paralleltest // it measures time
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), manyVar+"="+t.TempDir())
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	turns := time.Duration(manySessions * manySteps)
	t.Logf("%s: wall %.1f s, CPU %s a step, peak RSS %.1f MB", strings.TrimSpace(string(out)),
		time.Since(began).Seconds(), ms(cpu/turns), mb(used.Maxrss<<10))
}

// manyMain is the child: it runs all sessions at once and checks each.
func manyMain() int {
	if err := many(os.Getenv(manyVar)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Printf("%d sessions of %d steps at once, all ended right\n", manySessions, manySteps)
	return 0
}

func many(dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	e, err := newEngine(ctx, dir, filepath.Join(dir, "pawl.db"))
	if err != nil {
		return err
	}
	defer func() { _ = e.close() }()
	script, err := writeScript(dir, manySteps, `{"name":"read","input":{"path":"script10.jsonl","limit":STEP}},{"name":"list","input":{}}`)
	if err != nil {
		return err
	}
	errs := make([]error, manySessions)
	var wg sync.WaitGroup
	for i := range manySessions {
		wg.Go(func() {
			s, err := e.turn(ctx, script)
			if err == nil {
				err = check(ctx, e.store, s)
			}
			errs[i] = err
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// check reads a finished session's log and holds it against the script.
func check(ctx context.Context, st store.Store, s pawl.Session) error {
	var h pawl.History
	results := 0
	for e, err := range st.Events(ctx, s.ID, 0) {
		if err != nil {
			return err
		}
		if err := h.Apply(e); err != nil {
			return err
		}
		if f, ok := e.Body.(pawl.CallFinished); ok {
			results++
			if f.Status != pawl.CallDone || f.Result.IsError {
				return fmt.Errorf("session %s: call %s: %s", s.ID, f.Call, f.Result.Content)
			}
		}
	}
	if h.Head() != s.Head || h.Replies() != manySteps || results != 2*(manySteps-1) || s.State() != pawl.StateIdle || s.Usage.Input != manySteps {
		return fmt.Errorf("session %s is not as scripted: %+v, %d replies, %d results", s.ID, s, h.Replies(), results)
	}
	return nil
}
