package tool

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/redact"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// Jobs holds the commands that bash has started in this process, by session.
// They end with the process.
type Jobs struct {
	Redact *redact.Redactor // masks secrets in output; set before the first command

	blobs   store.Blobs
	sandbox Sandbox

	attending sync.WaitGroup // the commands whose changes are not applied or discarded yet

	mu       sync.Mutex
	sessions map[pawl.SessionID]*jobTable
	closed   bool
}

// NewJobs returns an empty Jobs. Output beyond what a model gets is stored in
// blobs. Commands run in the sandbox.
func NewJobs(blobs store.Blobs, s Sandbox) *Jobs {
	return &Jobs{blobs: blobs, sandbox: s, sessions: map[pawl.SessionID]*jobTable{}}
}

// jobTable holds one session's jobs, the oldest first.
type jobTable struct {
	scope string // marks all processes of the session; see proc.KillAll

	mu      sync.Mutex // also held while a command starts, so that end misses none
	jobs    []*job
	last    int // number of the newest job
	ended   bool
	notices map[string]bool // that the user has seen
}

var errEnding = errors.New("no command can be started: the session is ending")

// table returns the session's jobs.
func (js *Jobs) table(id pawl.SessionID) (*jobTable, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	if js.closed {
		return nil, errEnding
	}
	t := js.sessions[id]
	if t == nil {
		t = &jobTable{scope: rand.Text()}
		js.sessions[id] = t
	}
	return t, nil
}

// start starts a command. A background command is a job from the beginning and
// is not started if there are too many.
func (js *Jobs) start(ctx context.Context, call toolapi.Call, dir string, in bashInput) (*job, error) {
	t, err := js.table(call.Session)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return nil, errEnding
	}
	if in.Background {
		if err := t.checkCapacity(); err != nil {
			return nil, err
		}
	}
	j := &job{
		session: call.Session, command: in.Command, began: time.Now(),
		out: newOutput(BashBytes, BashDiskBytes, call.Progress), looking: make(chan struct{}, 1), checked: make(chan struct{}),
	}
	if call.Review != nil {
		j.review = func(list []sandbox.Changes) error { return call.Review(ctx, js.describe(list)) }
	}
	j.boxed, err = js.sandbox.Wrap(ctx, sandbox.Request{
		Session: call.Session, Call: call.ID, Workspace: call.Dir, Dirs: call.Dirs, Mode: call.Mode, Sandboxed: call.Sandboxed,
		Args: []string{"bash", "--noprofile", "--norc", "-c", "--", in.Command}, Dir: dir, Network: in.Network, Escape: in.Unsandboxed,
		Review: call.Review != nil, Job: in.Background,
	})
	if err != nil {
		return nil, err
	}
	t.notice(call, j.boxed.Notice)
	if j.review != nil && j.boxed.Finish == nil {
		j.boxed.Close()
		return nil, errors.New("not run: its changes need approval, and there is no copy-on-write view here")
	}
	j.process, err = proc.Start(proc.Command{
		Args: j.boxed.Args, Env: j.boxed.Env, Bare: true, Files: j.boxed.Files, Attr: j.boxed.Attr,
		Dir:    dir,
		Output: j.out,
		Scope:  t.scope,
	})
	if err != nil {
		j.boxed.Close()
		return nil, err
	}
	js.attending.Go(j.attend)
	if in.Background {
		t.add(j)
	}
	return j, nil
}

// notice shows a message to the user, once.
func (t *jobTable) notice(call toolapi.Call, text string) {
	if text == "" || call.Notice == nil || t.notices[text] {
		return
	}
	if t.notices == nil {
		t.notices = map[string]bool{}
	}
	t.notices[text] = true
	call.Notice(text)
}

// keep turns a foreground command into a background job.
func (js *Jobs) keep(j *job) error {
	t, err := js.table(j.session)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return errEnding
	}
	if err := t.checkCapacity(); err != nil {
		return err
	}
	t.add(j)
	return nil
}

// checkCapacity returns an error if the session has as many running jobs as it may.
func (t *jobTable) checkCapacity() error {
	running := 0
	for _, j := range t.jobs {
		if !j.over() {
			running++
		}
	}
	if running >= BashJobs {
		return fmt.Errorf("%d jobs are running, which is the most: end one with bash_kill", running)
	}
	return nil
}

// add gives the job an id and forgets the oldest jobs that have ended.
func (t *jobTable) add(j *job) {
	t.last++
	j.id = fmt.Sprintf("job_%d", t.last)
	if j.boxed.Follow != nil && j.review == nil && !j.over() { // which applies changes while the job runs
		j.boxed.Follow(j.process.PID())
	}
	t.jobs = append(t.jobs, j)
	ended := 0
	for _, j := range t.jobs {
		if j.over() {
			ended++
		}
	}
	t.jobs = slices.DeleteFunc(t.jobs, func(j *job) bool {
		if ended <= BashEndedJobs || !j.over() {
			return false
		}
		ended--
		j.out.close()
		return true
	})
}

// find returns the session's job with that id. The error lists the ids that
// exist.
func (js *Jobs) find(session pawl.SessionID, id string) (*job, error) {
	js.mu.Lock()
	t := js.sessions[session]
	js.mu.Unlock()
	running := []string{}
	if t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, j := range t.jobs {
			if j.id == id {
				return j, nil
			}
			if !j.over() {
				running = append(running, j.id)
			}
		}
	}
	if len(running) == 0 {
		running = append(running, "none")
	}
	return nil, fmt.Errorf("job %q not found; running: %s. Jobs end with Pawl and with their session", id, strings.Join(running, ", "))
}

// End kills the session's commands and all processes they have left behind,
// and forgets its jobs. It takes less than a second. The session can start new
// ones.
func (js *Jobs) End(id pawl.SessionID) {
	js.mu.Lock()
	t := js.sessions[id]
	delete(js.sessions, id)
	js.mu.Unlock()
	if t != nil {
		end(t)
	}
	js.sandbox.End(id)
}

// Close kills the commands of all sessions. No command can be started after
// it.
func (js *Jobs) Close() {
	js.mu.Lock()
	tables := slices.Collect(maps.Values(js.sessions))
	clear(js.sessions)
	js.closed = true
	js.mu.Unlock()
	if len(tables) > 0 {
		end(tables...)
	}
	js.attending.Wait()
	js.sandbox.Close()
}

// end ends all tables in parallel, because finding processes is slow.
func end(tables ...*jobTable) {
	var scopes []string
	var processes []*proc.Process
	var jobs []*job
	for _, t := range tables {
		t.mu.Lock()
		t.ended = true
		scopes = append(scopes, t.scope)
		jobs = append(jobs, t.jobs...)
		t.mu.Unlock()
	}
	for _, j := range jobs {
		if !j.over() {
			j.killed.Store(true)
		}
		processes = append(processes, j.process)
	}
	proc.KillAll(scopes, processes...)
	for _, j := range jobs {
		j.out.close()
	}
}
