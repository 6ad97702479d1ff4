package tool

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/redact"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

const (
	lookBytes = 256 << 10             // bytes of output that are cleaned at a time
	settle    = 50 * time.Millisecond // wait after the first output, since related output often comes in several writes

	maxChanged = 1000 // changed files that a result lists
	maxRefused = 20   // refused changes that a result lists
)

// job is a command that bash has started.
type job struct {
	id      string // "" while it is in the foreground
	session pawl.SessionID
	command string
	began   time.Time
	process *proc.Process
	boxed   sandbox.Wrapped
	news    []string        // changes to protected files; set before checked is closed
	changed sandbox.Outcome // what it changed in its view; set before checked is closed
	failure error           // its changes could not be applied; set before checked is closed
	cancel  atomic.Bool     // its changes are not to be applied
	dropped bool            // its changes were not applied, because of cancel; set before checked is closed

	review   func([]sandbox.Changes) error // asks the user before its changes are applied; nil means that they are allowed
	rejected error                         // why review did not allow them; set before checked is closed
	late     atomic.Bool                   // its call does not wait for it any more, so that the user cannot be asked

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
	if j.boxed.Finish != nil {
		if j.dropped = j.cancel.Load(); !j.dropped {
			j.finish()
		}
		return
	}
	if j.news, err = j.boxed.Check(); err != nil {
		j.news = append(j.news, "(the workspace could not be read: "+err.Error()+")")
	}
}

var errLate = errors.New("its changes to files are discarded, because the user can be asked about them only while the call waits: use a longer timeout")

// finish applies what the command changed in its view, if the user agrees where they
// must be asked.
func (j *job) finish() {
	var review func([]sandbox.Changes) error
	if j.review != nil {
		review = func(list []sandbox.Changes) error {
			if j.late.Load() {
				j.rejected = errLate
			} else {
				j.rejected = j.review(list)
			}
			return j.rejected
		}
	}
	j.changed, j.failure = j.boxed.Finish(context.Background(), review)
	if j.rejected != nil {
		j.failure = nil
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
	if over {
		j.reportChanges(&r)
	}
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

// reportChanges adds what the command changed in its view to its last result.
func (j *job) reportChanges(r *pawl.Result) {
	for _, c := range j.changed.Applied[:min(len(j.changed.Applied), maxChanged)] {
		if c.New.Type != tree.Dir && c.Old.Type != tree.Dir {
			r.Changed = append(r.Changed, sanitize.Line(c.Path))
		}
	}
	reportRefused(r, j.changed.Refused)
	if j.failure != nil {
		r.Refused = append(r.Refused, sanitize.Line(j.failure.Error()))
		r.IsError = true
	}
	if j.rejected != nil {
		r.Refused = append(r.Refused, sanitize.Line(j.rejected.Error()))
		r.IsError = true
	}
	if j.dropped {
		r.Refused = append(r.Refused, "the command was canceled: none of its changes were applied")
	}
}

// reportRefused adds the changes that were not applied to a result.
func reportRefused(r *pawl.Result, list []sandbox.Refusal) {
	for _, refused := range list[:min(len(list), maxRefused)] {
		text := sanitize.Line(refused.Path) + " not changed: " + sanitize.Line(refused.Reason)
		if refused.Kept != "" {
			text += " (the new content is in " + refused.Kept + ")"
		}
		r.Refused = append(r.Refused, text)
	}
	if more := len(list) - maxRefused; more > 0 {
		r.Refused = append(r.Refused, fmt.Sprintf("%s more not changed", humanize.Plural(more, "file")))
	}
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
	notes = append(notes, r.Refused...)
	if len(notes) == 0 {
		return
	}
	if r.Content = strings.TrimRight(r.Content, "\n"); r.Content != "" {
		r.Content += "\n"
	}
	r.Content += "(" + strings.Join(notes, "; ") + ")"
}
