package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

// A command that takes longer than its timeout is not started anew: it goes on.
func TestBashGoesOnInTheBackground(t *testing.T) {
	t.Parallel()
	w := newJobEnv(t)
	c := w.call(fields{"command": "mkfifo more printed; echo begun; read -r line <more; echo $line; printf 日 | head -c 2; echo >printed; exec sleep 1000", "timeout": 1})
	var returned atomic.Bool
	c.Progress = func(text string) {
		if returned.Load() {
			t.Errorf("%q is shown after the call's end", text)
		}
	}
	got, err := try(t.Context(), w.tools["bash"], c)
	returned.Store(true)
	if err != nil {
		t.Fatal(err)
	}
	want := pawl.Result{
		Content: "begun\n(still running after 1s, now as job_1: see bash_output and bash_kill)",
		Meta:    map[string]string{"timeout": "true", "background": "true", "job": "job_1"},
	}
	if diff := cmp.Diff(want, got, meta); diff != "" {
		t.Error(diff)
	}
	w.want("bash_output", fields{"id": "job_1"}, "(no new output; job_1: running)", "background=true job=job_1")
	w.say("more", "hello\n")
	w.want("bash_output", fields{"id": "job_1", "wait": 60}, "hello\n(job_1: running)", "background=true job=job_1")
	if _, err := os.ReadFile(filepath.Join(w.dir, "printed")); err != nil {
		t.Fatal(err)
	}
	// The beginning of a rune is not shown, nor is it lost.
	w.want("bash_output", fields{"id": "job_1"}, "(no new output; job_1: running)", "background=true job=job_1")
	const ended = "background=true exit_code=-1 job=job_1 killed=true signal=terminated"
	w.want("bash_kill", fields{"id": "job_1"}, "\uFFFD\n(job_1: killed)", ended)
	w.want("bash_output", fields{"id": "job_1"}, "(no new output; job_1: killed)", ended)
	w.want("bash_kill", fields{"id": "job_1"}, "(no new output; job_1: killed)", ended)
}

func TestBackgroundJobs(t *testing.T) {
	t.Parallel()
	w := newJobEnv(t)
	const is = "background=true job="
	w.want("bash", fields{"command": "echo begun; mkfifo one; read -r <one; echo ended; exit 3", "background": true},
		"begun\n(running as job_1: see bash_output and bash_kill)", is+"job_1")
	w.want("bash", fields{"command": "mkfifo two; read -r <two; kill -SEGV $$", "background": true},
		"(running as job_2: see bash_output and bash_kill)", is+"job_2")
	w.say("one", "\n")
	w.say("two", "\n")
	wait.Until(t, "both have ended", func() bool {
		return w.must("bash_output", fields{"id": "job_2", "wait": 1}).Meta["exit_code"] != "" && w.overJob("job_1")
	})
	w.want("bash_output", fields{"id": "job_1"}, "ended\n(job_1: exit code 3)", "background=true exit_code=3 job=job_1")
	w.want("bash_output", fields{"id": "job_1"}, "(no new output; job_1: exit code 3)", "background=true exit_code=3 job=job_1")
	w.want("bash_output", fields{"id": "job_2"}, "(no new output; job_2: ended by signal: segmentation fault)",
		"background=true exit_code=-1 job=job_2 signal=segmentation fault")
	// One that has ended by itself was not killed.
	w.want("bash_kill", fields{"id": "job_1"}, "(no new output; job_1: exit code 3)", "background=true exit_code=3 job=job_1")
}

// overJob reports whether the job has ended.
func (w *jobEnv) overJob(id string) bool {
	j, err := w.jobs.find(session, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return j.over()
}

// What fails at once is seen at once.
func TestBackgroundJobThatFails(t *testing.T) {
	t.Parallel()
	w := newJobEnv(t)
	got := w.must("bash", fields{"command": "echo no; exit 2", "background": true})
	want := pawl.Result{
		Content: "no\n(job_1: exit code 2)", IsError: true,
		Meta: map[string]string{"background": "true", "job": "job_1", "exit_code": "2"},
	}
	if diff := cmp.Diff(want, got, meta); diff != "" {
		t.Error(diff)
	}
	_, err := w.try("bash", fields{"command": "true", "background": true, "workdir": "nope"})
	checkError(t, err, "nope")
	w.want("bash_output", fields{"id": "job_1"}, "(no new output; job_1: exit code 2)", "background=true exit_code=2 job=job_1")
}

func TestUnknownJobs(t *testing.T) {
	t.Parallel()
	w := newJobEnv(t)
	for _, tool := range []string{"bash_output", "bash_kill"} {
		_, err := w.try(tool, fields{"id": "job_1"})
		checkError(t, err, `job "job_1" not found; running: none. Jobs end with Pawl and with their session`)
	}
	w.startMany(2, "exec sleep 1000")
	w.must("bash", fields{"command": "true", "background": true}) // job_3
	for _, tool := range []string{"bash_output", "bash_kill"} {
		_, err := w.try(tool, fields{"id": "job_4"})
		checkError(t, err, `job "job_4" not found; running: job_1, job_2. Jobs end with Pawl and with their session`)
	}
	other := w.call(fields{"id": "job_1"})
	other.Session = "01JD0000000000000000000001"
	for _, tool := range []string{"bash_output", "bash_kill"} {
		_, err := try(t.Context(), w.tools[tool], other)
		checkError(t, err, `job "job_1" not found; running: none`)
	}
}

func TestBashKillAccess(t *testing.T) {
	t.Parallel()
	w := newJobEnv(t)
	w.must("bash", fields{"command": "exec sleep  1000 # and more", "background": true})
	got, err := w.tools["bash_kill"].Access(t.Context(), w.call(fields{"id": "job_1"}))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 0 {
		t.Errorf("got %v: whoever was let start it may end it", got)
	}
}

// wait ends with the first output, with the job, with the time, or with the context.
func TestBashOutputWaits(t *testing.T) {
	t.Parallel()
	w := newJobEnv(t)
	w.must("bash", fields{"command": "mkfifo more; exec 3<>more; while read -r line <&3; do echo $line; done", "background": true})
	first := make(chan pawl.Result)
	go func() { first <- w.must("bash_output", fields{"id": "job_1", "wait": 60}) }()
	w.say("more", "one\n")
	if got := <-first; !strings.HasPrefix(got.Content, "one\n(job_1: running") {
		t.Errorf("got %q", got.Content)
	}
	began := time.Now()
	w.want("bash_output", fields{"id": "job_1", "wait": 1}, "(no new output; job_1: running)", "background=true job=job_1")
	if took := time.Since(began); took < time.Second || took > 30*time.Second {
		t.Errorf("it waited %s for a second", took)
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	ended := make(chan error)
	go func() {
		_, err := try(ctx, w.tools["bash_output"], w.call(fields{"id": "job_1", "wait": 60}))
		ended <- err
	}()
	began = time.Now()
	cancel(why)
	if err := <-ended; !errors.Is(err, why) || time.Since(began) > 30*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}

	last := make(chan pawl.Result)
	go func() { last <- w.must("bash_output", fields{"id": "job_1", "wait": 60}) }()
	w.must("bash_kill", fields{"id": "job_1"})
	if got := <-last; got.Content != "(no new output; job_1: killed)" {
		t.Errorf("got %q", got.Content)
	}
}

// Whoever looks, nothing is shown twice and nothing is lost.
func TestConcurrentLooks(t *testing.T) {
	t.Parallel()
	w := newJobEnv(t)
	w.must("bash", fields{"command": "mkfifo go; read -r <go; for i in {1..3000}; do printf x; [ $((i % 100)) = 0 ] && sleep 0.002; done", "background": true})
	var wg sync.WaitGroup
	var seen atomic.Int64
	for range 8 {
		wg.Go(func() {
			for {
				r := w.must("bash_output", fields{"id": "job_1", "wait": 1})
				seen.Add(int64(strings.Count(r.Content, "x") - strings.Count(r.Content, "exit")))
				if r.Meta["exit_code"] != "" {
					return
				}
			}
		})
	}
	w.say("go", "\n")
	wg.Wait()
	if n := seen.Load(); n != 3000 {
		t.Errorf("%d of 3000 were shown", n)
	}
}

// A look at a lot is truncated like any other result.
func TestALookAtALot(t *testing.T) {
	t.Parallel()
	w := newJobEnv(t)
	w.must("bash", fields{"command": "mkfifo go; read -r <go; seq 1000000; read -r <go", "background": true})
	w.say("go", "\n")
	j, err := w.jobs.find(session, "job_1")
	if err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "all is printed", func() bool {
		_, end := j.out.since(0)
		return end == 6888896
	})
	got := w.must("bash_output", fields{"id": "job_1"})
	if got.Full == nil || got.Full.Size != 6888896 || !strings.HasPrefix(got.Content, "1\n2\n") || !strings.Contains(got.Content, "\n1000000\n(job_1: running") {
		t.Errorf("%+v, %d bytes", got.Full, len(got.Content))
	}
	w.say("go", "\n")
	wait.Until(t, "it has ended", func() bool { return w.overJob("job_1") })
	w.want("bash_output", fields{"id": "job_1"}, "(no new output; job_1: exit code 0)", "background=true exit_code=0 job=job_1")
}

// Nobody asks for its end, and yet it is not left as a zombie.
func TestAJobIsReapedByItself(t *testing.T) {
	t.Parallel()
	w := newJobEnv(t)
	got := w.must("bash", fields{"command": "echo $$; mkfifo go; read -r <go", "background": true})
	pid, _, _ := strings.Cut(got.Content, "\n")
	if _, err := os.Stat(filepath.Join("/proc", pid)); err != nil {
		t.Fatal(err)
	}
	w.say("go", "\n")
	wait.Until(t, "the process is gone", func() bool {
		_, err := os.Stat(filepath.Join("/proc", pid))
		return os.IsNotExist(err)
	})
}

const leavesMany = `sleep 1000 & setsid sleep 1000 & (setsid sleep 1000 >/dev/null 2>&1 </dev/null &) ; (setsid sh -c "trap '' TERM; while :; do sleep 1; done" &); `

// Servers that were started with & go on when their command has ended, until
// the session does.
func TestWhatIsLeftBehindEndsWithTheSession(t *testing.T) { //nolint:paralleltest // it sets environment variables
	mine := markProcesses(t)
	for name, end := range map[string]func(*Jobs){
		"End":   func(js *Jobs) { js.End(session) },
		"Close": func(js *Jobs) { js.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newJobEnv(t)
			began := time.Now()
			w.want("bash", fields{"command": leavesMany + "echo begun"}, "begun\n", "exit_code=0")
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("a daemon that holds the output was waited for %s", took)
			}
			w.must("bash", fields{"command": leavesMany + "wait", "background": true})
			other := w.call(fields{"command": "exec sleep 1000", "background": true})
			other.Session = "01JD0000000000000000000001"
			if _, err := try(t.Context(), w.tools["bash"], other); err != nil {
				t.Fatal(err)
			}
			wait.Until(t, "all run", func() bool { return len(mine()) >= 4+5+1 })
			began = time.Now()
			end(w.jobs)
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
			spared := 0
			if name == "End" {
				spared = 1
			}
			if left := mine(); len(left) != spared {
				t.Errorf("processes %v are left, want %d", left, spared)
			}
			_, err := w.try("bash_output", fields{"id": "job_1"})
			checkError(t, err, `job "job_1" not found`)
			_, err = w.try("bash", fields{"command": "exec sleep 1000", "background": true})
			if name == "End" {
				checkError(t, err, "")
			} else {
				checkError(t, err, "no command can be started: the session is ending")
			}
			w.jobs.Close()
			wait.Until(t, "the ended are waited for", func() bool { return zombies(t) == 0 })
			if left := mine(); len(left) > 0 {
				t.Errorf("processes %v are left", left)
			}
		})
	}
}

// The end of a session meets commands at every point of their lives.
func TestEndBesideStarts(t *testing.T) { //nolint:paralleltest // it sets environment variables
	mine := markProcesses(t)
	w := newJobEnv(t)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			_, _ = w.try("bash", fields{"command": "sleep 1000 & wait", "background": i%2 == 0, "timeout": 1})
		})
	}
	wait.Until(t, "some run", func() bool { return len(mine()) > 3 })
	w.jobs.Close()
	wg.Wait()
	if left := mine(); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

// A call may have found its session's table just before the session ended.
func TestStartAfterTheEnd(t *testing.T) {
	t.Parallel()
	w := newJobEnv(t)
	table, err := w.jobs.table(session)
	if err != nil {
		t.Fatal(err)
	}
	end(table)
	for _, in := range []fields{{"command": "touch ran", "background": true}, {"command": "touch ran"}} {
		_, err := w.try("bash", in)
		checkError(t, err, "the session is ending")
	}
	checkError(t, w.jobs.keep(&job{session: session}), "the session is ending")
	if diff := cmp.Diff(map[string]string{}, files(t, w.dir)); diff != "" {
		t.Error(diff)
	}
}

func TestJobsLeakNothing(t *testing.T) { //nolint:paralleltest // it counts goroutines
	w := newJobEnv(t)
	w.must("bash", fields{"command": "true"})        // starts the keeper
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would close forgotten files
	current, before := goleak.IgnoreCurrent(), openFiles(t)
	for i := range 20 {
		w.must("bash", fields{"command": fmt.Sprintf("head -c %dM /dev/zero", i%3), "background": i%2 == 0})
	}
	w.must("bash", fields{"command": leavesMany})
	w.must("bash", fields{"command": leavesMany + "wait", "background": true})
	w.jobs.End(session)
	goleak.VerifyNone(t, current)
	if after := openFiles(t); after > before {
		t.Errorf("%d files are open, %d were before", after, before)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}
