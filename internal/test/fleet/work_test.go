//go:build fleet

package fleet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/blob"
	"github.com/pawl-dev/pawl/fleet/checkpoint"
	"github.com/pawl-dev/pawl/fleet/runner"
)

// job is a session whose every side effect is seen: each of its steps but the last
// writes a line into a file that all hosts share, and one into its own directory.
type job struct {
	w     *env
	name  string
	steps int
	id    pawl.SessionID
	dir   string
}

// newJob begins a session of so many steps, whose model thinks for so long at each.
// In the mode auto its commands run in the sandbox.
func (w *env) newJob(ctx context.Context, c pawl.Service, name, mode string, steps int, think time.Duration) (*job, error) {
	j := &job{w: w, name: name, steps: steps, dir: w.folder()}
	calls := fmt.Sprintf(`{"name":"bash","input":{"command":"echo %[1]s-%%d >> %[2]s && sleep 1 && echo %[1]s-%%d >> count"}},`+
		`{"name":"read","input":{"path":"count"}},{"name":"write","input":{"path":"note-%%d","content":"%[1]s"}}`, name, j.shared())
	model := w.script(stepsOf(steps, think, calls)...)
	s, err := c.Create(ctx, pawl.NewSession{Dir: j.dir})
	if err != nil {
		return nil, err
	}
	j.id = s.ID
	_, err = c.Send(ctx, s.ID, pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: model, Mode: mode}})
	return j, err
}

func (j *job) shared() string { return filepath.Join(j.w.dir, "shared", j.name) }

// line is what the job writes at a step.
func (j *job) line(step int) string { return fmt.Sprintf("%s-%d", j.name, step) }

// check looks at a job that has ended: it went as its script says, nothing was done
// twice, and nothing that was done is lost. It returns how many of its calls were
// interrupted.
func (j *job) check(t testing.TB) (interrupted int) {
	t.Helper()
	events := j.w.events(j.id)
	if _, err := pawl.Fold(pawl.SliceLog(events)); err != nil {
		t.Errorf("%s: the log does not fold: %v", j.name, err)
	}
	for i, e := range events {
		if e.Seq != pawl.Seq(i+1) {
			t.Fatalf("%s: event %d has the number %d", j.name, i+1, e.Seq)
		}
	}
	j.checkTurn(t, events)
	done, interrupted := j.checkCalls(t, events)
	if len(done) == 0 {
		t.Errorf("%s: no call has written anything", j.name)
	}
	shared := lines(t, j.shared())
	j.checkLines(t, "the shared folder", shared, done)
	j.checkLines(t, "the last checkpoint", lines(t, filepath.Join(j.restored(t), "count")), done)
	return interrupted
}

// checkTurn sees that each reply of the script came once, and that the turn ended.
func (j *job) checkTurn(t testing.TB, events []pawl.Event) {
	t.Helper()
	var want, got []string
	for i := range j.steps - 1 {
		want = append(want, fmt.Sprintf("step %d", i+1))
	}
	want = append(want, "done", fmt.Sprintf("%s after %d", pawl.ReasonEndTurn, j.steps))
	for _, e := range events {
		switch b := e.Body.(type) {
		case pawl.Replied:
			for _, p := range b.Parts {
				if text, ok := p.(pawl.Text); ok {
					got = append(got, text.Text)
				}
			}
		case pawl.TurnFinished:
			got = append(got, fmt.Sprintf("%s after %d%s", b.Reason, b.Steps, b.Message))
		default:
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (%s) did not go as scripted (-want +got):\n%s", j.name, j.id, d)
	}
}

// checkCalls sees that each call has one result. It returns the steps whose line was
// written for sure.
func (j *job) checkCalls(t testing.TB, events []pawl.Event) (done map[int]bool, interrupted int) {
	t.Helper()
	step := map[pawl.CallID]int{} // of a call that writes
	results := map[pawl.CallID]int{}
	done = map[int]bool{}
	for _, e := range events {
		switch b := e.Body.(type) {
		case pawl.Replied:
			for _, p := range b.Parts {
				c, ok := p.(pawl.ToolCall)
				if !ok {
					continue
				}
				if _, twice := results[c.ID]; twice {
					t.Errorf("%s: the id %s was given twice", j.name, c.ID)
				}
				if results[c.ID] = 0; c.Name == "bash" {
					step[c.ID] = b.Step
				}
			}
		case pawl.CallFinished:
			results[b.Call]++
			if b.Status == pawl.CallUnknown || b.Status == pawl.CallCanceled { // canceled: none of its changes were applied
				interrupted++
			}
			if s := step[b.Call]; s > 0 && b.Status == pawl.CallDone && !b.Result.IsError {
				done[s] = true
			}
		default:
		}
	}
	for id, n := range results {
		if n != 1 {
			t.Errorf("%s: call %s has %d results", j.name, id, n)
		}
	}
	return done, interrupted
}

// checkLines sees that each line is there at most once, and that of each step that
// is done.
func (j *job) checkLines(t testing.TB, where string, got []string, done map[int]bool) {
	t.Helper()
	n := map[string]int{}
	for _, l := range got {
		n[l]++
	}
	for step := range j.steps {
		l := j.line(step + 1)
		if n[l] > 1 || n[l] < 1 && done[step+1] {
			t.Errorf("%s (%s): %q is %d times in %s, and its call is done: %v", j.name, j.id, l, n[l], where, done[step+1])
		}
		delete(n, l)
	}
	if len(n) > 0 {
		t.Errorf("%s: there is more in %s: %v", j.name, where, n)
	}
}

// restored returns a directory with what the newest checkpoint holds.
func (j *job) restored(t testing.TB) string {
	t.Helper()
	row, err := j.w.log.Workspace(t.Context(), j.dir)
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.Open(t.Context(), "file://"+filepath.Join(j.w.dir, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	k := checkpoint.Store{Blobs: blobs, Dir: filepath.Join(dir, "index")}
	roots := []checkpoint.Root{{Name: "work", Path: filepath.Join(dir, "work")}, {Name: "undo", Path: filepath.Join(dir, "undo")}}
	for _, r := range roots {
		if err := os.MkdirAll(r.Path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Restore(t.Context(), runner.Key("", j.dir), row.Checkpoint, roots); err != nil {
		t.Fatalf("%s: restore %s: %v", j.name, row.Checkpoint, err)
	}
	return roots[0].Path
}

// lines returns those of a file; none if it does not exist.
func lines(t testing.TB, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// follow reads a session's events as a front end does, until its turn has ended. It
// returns what was wrong with them.
func (j *job) follow(ctx context.Context, c pawl.Service) error {
	last := pawl.Seq(0)
	for e, err := range c.Events(ctx, j.id, 0) {
		switch {
		case err != nil:
			return fmt.Errorf("%s: after event %d: %w", j.name, last, err)
		case e.Seq == 0:
			continue // it is not of the log
		case e.Seq != last+1:
			return fmt.Errorf("%s: event %d came after %d", j.name, e.Seq, last)
		}
		last = e.Seq
		if _, ended := e.Body.(pawl.TurnFinished); ended {
			return nil
		}
	}
	return fmt.Errorf("%s: the end was not seen, only %d events", j.name, last)
}

// wentOn returns how long after an instant the session's log grew again, and whether
// that can be determined by now: it did, or (0) the session had ended before.
func (j *job) wentOn(at time.Time) (wait time.Duration, known bool) {
	for e, err := range j.w.log.Events(j.w.Context(), j.id, 0) {
		if err != nil {
			return 0, false // the database may be what is missing
		}
		if e.At.After(at) {
			return e.At.Sub(at), true
		}
		_, known = e.Body.(pawl.TurnFinished)
	}
	return 0, known
}
