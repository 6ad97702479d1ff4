//go:build fleet

package fleet

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/runner"
)

// What a fleet is compared with: the engine alone, with as many activities.
const (
	bareQueue  = "bare"
	bareEager  = "PAWL_BARE_EAGER"  // lets activities run where their workflow is
	bareWorker = "PAWL_BARE_WORKER" // makes this test program a worker: where the engine is
)

var quiet = slog.New(slog.DiscardHandler)

func newSession() pawl.SessionID { return pawl.SessionID(ulid.Make().String()) }

// Bare is a turn without pawl: an activity a step, and one at either end.
func Bare(ctx workflow.Context, steps int, delay time.Duration) (each []time.Duration, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Hour, HeartbeatTimeout: 10 * time.Second})
	sleep := func(d time.Duration) error { return workflow.ExecuteActivity(ctx, Sleep, d).Get(ctx, nil) }
	if err := sleep(0); err != nil {
		return nil, err
	}
	last := workflow.Now(ctx)
	for i := range steps {
		if err := sleep(delay); err != nil {
			return nil, err
		}
		if now := workflow.Now(ctx); i > 0 {
			each, last = append(each, now.Sub(last)), now
		} else {
			last = now
		}
	}
	return each, sleep(0)
}

// Sleep is an activity that does nothing.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestMain lets the program be a worker of bare activities.
func TestMain(m *testing.M) {
	address := os.Getenv(bareWorker)
	if address == "" {
		os.Exit(m.Run())
	}
	engine, err := runner.Dial(context.Background(), address, "pawl", quiet)
	if err != nil {
		panic(err)
	}
	w := worker.New(engine.Client, bareQueue, worker.Options{
		MaxConcurrentActivityExecutionSize: 2000, MaxConcurrentActivityTaskPollers: 8, MaxConcurrentWorkflowTaskPollers: 8, // as a fleet has them
		DisableEagerActivities: os.Getenv(bareEager) == "", // a step goes to the queue of its host, past which there is no way
	})
	w.RegisterWorkflow(Bare)
	w.RegisterActivity(Sleep)
	if err := w.Start(); err != nil {
		panic(err)
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM)
	<-c
	os.Exit(0)
}

// bareWorkers starts four.
func (w *env) bareWorkers() (runner.Engine, func()) {
	w.Helper()
	engine, err := runner.Dial(w.Context(), w.address("PAWL_TEMPORAL_PORT"), "pawl", quiet)
	if err != nil {
		w.Fatal(err)
	}
	var procs []*exec.Cmd
	for range 4 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), bareWorker+"="+w.address("PAWL_TEMPORAL_PORT"))
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			w.Fatal(err)
		}
		procs = append(procs, cmd)
	}
	run, err := engine.ExecuteWorkflow(w.Context(), client.StartWorkflowOptions{TaskQueue: bareQueue}, Bare, 2, time.Millisecond) // they are up when it has ended
	if err == nil {
		err = run.Get(w.Context(), nil)
	}
	if err != nil {
		w.Fatal(err)
	}
	return engine, func() {
		for _, p := range procs {
			_ = p.Process.Signal(syscall.SIGTERM)
			_ = p.Wait()
		}
		engine.Close()
	}
}
