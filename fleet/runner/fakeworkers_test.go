package runner

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
)

// fakeWorkers answers a workflow in place of coordinators and executors, and records the requests.
type fakeWorkers struct {
	t   *testing.T
	env *testsuite.TestWorkflowEnvironment

	// on replaces the default answer to a request, by its line in asked.
	on map[string]func(context.Context, StepRequest) (StepResult, error)
	// place answers the n-th request for a host, from 1; nil means host hN.
	place func(n int, lost string) (Place, error)

	mu     sync.Mutex
	asked  []string
	placed int
	begun  bool
	began  time.Time
}

// oneTurn is the turn that the fake executors offer: a call, then a text.
var oneTurn = agent.Turn{Session: "s", Number: 1, Prompt: 2}

const (
	begins  = "Begin h1 again"
	thinks  = "Think 1 h1"
	answers = "Think 2 h1 runs c"
	ends    = "Finish h1 end_turn"
)

func newFakeWorkers(t *testing.T) *fakeWorkers {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	c := &fakeWorkers{t: t, env: suite.NewTestWorkflowEnvironment(), on: map[string]func(context.Context, StepRequest) (StepResult, error){}}
	c.env.SetTestTimeout(time.Minute)
	c.env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // the host may be busy
	register(c.env, timingFor(0))
	for _, name := range []string{"Begin", "Think", "Act", "Settle", "Finish", "Interrupt"} {
		c.env.RegisterActivityWithOptions(func(ctx context.Context, req StepRequest) (StepResult, error) {
			return c.step(ctx, name, req)
		}, activity.RegisterOptions{Name: name})
	}
	c.env.RegisterActivityWithOptions(c.find, activity.RegisterOptions{Name: "Place"})
	return c
}

// run runs the workflow to its end and returns its error.
func (c *fakeWorkers) run(job Job) error {
	c.t.Helper()
	c.began = c.env.Now()
	c.env.ExecuteWorkflow(sessionFlow, job)
	if !c.env.IsWorkflowCompleted() {
		c.t.Fatal("the workflow has not ended")
	}
	return c.env.GetWorkflowError()
}

// took returns how long the workflow ran, by its own clock.
func (c *fakeWorkers) took() time.Duration { return c.env.Now().Sub(c.began) }

func (c *fakeWorkers) find(_ context.Context, _ Job, lost string) (Place, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.placed++
	line := "Place"
	if lost != "" {
		line += ", lost is " + lost
	}
	c.asked = append(c.asked, line)
	if c.place != nil {
		return c.place(c.placed, lost)
	}
	return Place{Host: fmt.Sprintf("h%d", c.placed), Dir: "/w", Epoch: int64(c.placed)}, nil
}

func (c *fakeWorkers) step(ctx context.Context, name string, t StepRequest) (StepResult, error) {
	line := requestLine(activity.GetInfo(ctx).TaskQueue, name, t)
	c.mu.Lock()
	c.asked = append(c.asked, line)
	on := c.on[line]
	c.mu.Unlock()
	if on != nil {
		return on(ctx, t)
	}
	return c.usual(name, t)
}

// requestLine describes a request in one line: activity, step, host.
func requestLine(queue, name string, t StepRequest) string {
	words := []string{name}
	if t.Turn.Step > 0 {
		words = append(words, fmt.Sprint(t.Turn.Step))
	}
	words = append(words, strings.TrimPrefix(queue, executorPrefix))
	for _, id := range t.Calls {
		words = append(words, "runs", string(id))
	}
	if t.Stop != nil {
		words = append(words, string(t.Stop.Reason))
	}
	if t.Canceled > 0 {
		words = append(words, fmt.Sprintf("canceled to %d", t.Canceled))
	}
	if t.Again {
		words = append(words, "again")
	}
	return strings.Join(words, " ")
}

// usual is the default answer to a request.
func (c *fakeWorkers) usual(name string, t StepRequest) (StepResult, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case name == "Begin" && !c.begun:
		c.begun = true
		return StepResult{Turn: oneTurn}, nil
	case name == "Think" && t.Turn.Step == 1:
		return StepResult{Reply: agent.Reply{Finish: pawl.FinishToolUse, Calls: []pawl.CallID{"c"}}}, nil
	case name == "Think":
		return StepResult{Reply: agent.Reply{Finish: pawl.FinishEndTurn}, Settled: true}, nil
	default:
		return StepResult{}, nil
	}
}

// check fails unless these requests were made, in this order.
func (c *fakeWorkers) check(want ...string) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if diff := cmp.Diff(want, c.asked); diff != "" {
		c.t.Errorf("asked (- want, + got):\n%s", diff)
	}
}

// count returns how often a request was made.
func (c *fakeWorkers) count(line string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.asked {
		if l == line {
			n++
		}
	}
	return n
}

// fails returns a step that fails with err.
func fails(err error) func(context.Context, StepRequest) (StepResult, error) {
	return func(context.Context, StepRequest) (StepResult, error) { return StepResult{}, err }
}

// The errors by which Temporal reports a lost host.
var (
	notTaken = temporal.NewTimeoutError(enums.TIMEOUT_TYPE_SCHEDULE_TO_START, nil)
	silent   = temporal.NewTimeoutError(enums.TIMEOUT_TYPE_HEARTBEAT, nil)
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
