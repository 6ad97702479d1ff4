package tool

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/redact"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/store"
)

const (
	lookBytes = 256 << 10             // bytes of output that are cleaned at a time
	settle    = 50 * time.Millisecond // wait after the first output, since related output often comes in several writes
)

// job is a command that bash has started.
type job struct {
	id      string // "" while it is in the foreground
	session pawl.SessionID
	command string
	began   time.Time
	process *proc.Process
	boxed   sandbox.Wrapped
	news    []string      // changes to protected files; set before checked is closed
	checked chan struct{} // closed after the command has ended and its sandbox was inspected
	out     *output
	killed  atomic.Bool

	looking chan struct{} // held by who looks, so that no output is shown twice
	clean   cleaner
	seen    atomic.Int64 // bytes of output that were shown
}

// over reports whether the command has ended.
func (j *job) over() bool {
	select {
	case <-j.process.Done():
		return true
	default:
		return false
	}
}

// attend waits for the end of the command, collects what its sandbox reports
// and closes the sandbox.
func (j *job) attend() {
	<-j.process.Done()
	defer close(j.checked)
	defer j.boxed.Close()
	var err error
	if j.news, err = j.boxed.Check(); err != nil {
		j.news = append(j.news, "(the workspace could not be read: "+err.Error()+")")
	}
}

// kill kills the command and all processes that it has started, within a
// second.
func (j *job) kill() {
	if !j.over() {
		j.killed.Store(true)
	}
	j.process.Kill()
}

// await waits up to d until the job has ended or has printed something new.
func (j *job) await(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-j.out.after(j.seen.Load()):
	case <-j.process.Done():
		return
	case <-timer.C:
		return
	case <-ctx.Done():
		return
	}
	timer.Reset(settle)
	select {
	case <-j.process.Done():
	case <-timer.C:
	case <-ctx.Done():
	}
}

// look returns the output since the last look, and whether it is complete
// because the command has ended.
func (j *job) look(ctx context.Context, blobs store.Blobs, red *redact.Redactor) (r pawl.Result, over bool, err error) {
	select {
	case j.looking <- struct{}{}:
	case <-ctx.Done():
		return r, false, context.Cause(ctx)
	}
	defer func() { <-j.looking }()
	over = j.over() // before reading: all output up to the end is there then
	if over {
		<-j.checked
	}
	from := j.seen.Load()
	printed, end := j.out.since(from)
	j.clean.bytes, j.clean.bad = 0, 0
	text := &cleanReader{r: printed, c: &j.clean, last: over, raw: make([]byte, min(max(end-from, 1), lookBytes))}
	r.Content, r.Full = TruncateResult(ctx, blobs, j.session, red.Reader(text), ResultBytes)
	j.seen.Store(end)
	r.Meta = j.meta(over)
	if j.clean.binary() {
		r.Meta["binary"] = "true"
	}
	return r, over, nil
}

// meta returns the command's state as result metadata.
func (j *job) meta(over bool) map[string]string {
	took := time.Since(j.began)
	meta := map[string]string{}
	if over {
		exit, _ := j.process.Wait()
		took = exit.Duration
		meta["exit_code"] = strconv.Itoa(exit.Code)
		if exit.Signal != "" {
			meta["signal"] = exit.Signal
		}
	}
	if over && len(j.news) > 0 {
		meta["protected"] = strings.Join(j.news, "\n")
	}
	meta["duration_ms"] = strconv.FormatInt(took.Milliseconds(), 10)
	if j.killed.Load() {
		meta["killed"] = "true"
	}
	if j.id != "" {
		meta["background"], meta["job"] = "true", j.id
	}
	return meta
}

// state returns the command's state as text for the model.
func (j *job) state(over bool) string {
	if !over {
		return fmt.Sprintf("running, %.1f s", time.Since(j.began).Seconds())
	}
	switch exit, err := j.process.Wait(); {
	case err != nil:
		return err.Error()
	case j.killed.Load():
		return "killed"
	case exit.Signal != "":
		return "ended by signal: " + exit.Signal
	default:
		return fmt.Sprintf("exit code %d", exit.Code)
	}
}

// failed reports whether a command that has ended was unsuccessful.
func (j *job) failed() bool {
	exit, err := j.process.Wait()
	return err != nil || exit.Code != 0
}

// closing appends a line with notes to the content of a result.
func closing(r *pawl.Result, notes ...string) {
	if r.Meta["binary"] != "" {
		notes = append([]string{"binary output"}, notes...)
	}
	if news := r.Meta["protected"]; news != "" {
		notes = append(notes, "other programs take orders from what came up: "+strings.ReplaceAll(news, "\n", ", ")+". Say so to the user")
	}
	if len(notes) == 0 {
		return
	}
	if r.Content = strings.TrimRight(r.Content, "\n"); r.Content != "" {
		r.Content += "\n"
	}
	r.Content += "(" + strings.Join(notes, "; ") + ")"
}
