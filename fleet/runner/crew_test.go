package runner

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// crew answers a workflow in the place of coordinators and hosts, and writes down what
// it was asked.
type crew struct {
	t   *testing.T
	env *testsuite.TestWorkflowEnvironment

	// on answers a trip in the place of usual, by its line in asked.
	on map[string]func(context.Context, StepRequest) (StepResult, error)
	// place answers where the directory is, the n-th time from 1 on; nil means on hN.
	place func(n int, lost string) (Place, error)

	mu     sync.Mutex
	asked  []string
	placed int
	begun  bool
	began  time.Time
}

// The turn that a crew has to offer: a call, then a text.
var oneTurn = pawl.Turn{Session: "s", Number: 1, Prompt: 2}

const (
	begins  = "Begin h1 again"
	thinks  = "Think 1 h1"
	answers = "Think 2 h1 runs c"
	ends    = "Finish h1 end_turn"
)

func newCrew(t *testing.T) *crew {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	c := &crew{t: t, env: suite.NewTestWorkflowEnvironment(), on: map[string]func(context.Context, StepRequest) (StepResult, error){}}
	c.env.SetTestTimeout(time.Minute)
	c.env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute}) // the machine may be busy
	register(c.env, timingFor(0))
	for _, name := range []string{"Begin", "Think", "Act", "Settle", "Finish", "Interrupt"} {
		c.env.RegisterActivityWithOptions(func(ctx context.Context, trip StepRequest) (StepResult, error) {
			return c.trip(ctx, name, trip)
		}, activity.RegisterOptions{Name: name})
	}
	c.env.RegisterActivityWithOptions(c.find, activity.RegisterOptions{Name: "Place"})
	return c
}

// run has the workflow run to its end, and returns its error.
func (c *crew) run(job Job) error {
	c.t.Helper()
	c.began = c.env.Now()
	c.env.ExecuteWorkflow(sessionFlow, job)
	if !c.env.IsWorkflowCompleted() {
		c.t.Fatal("the workflow has not ended")
	}
	return c.env.GetWorkflowError()
}

// took is how long it was, by the workflow's clock.
func (c *crew) took() time.Duration { return c.env.Now().Sub(c.began) }

func (c *crew) find(_ context.Context, _ Job, lost string) (Place, error) {
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

func (c *crew) trip(ctx context.Context, name string, t StepRequest) (StepResult, error) {
	line := told(activity.GetInfo(ctx).TaskQueue, name, t)
	c.mu.Lock()
	c.asked = append(c.asked, line)
	on := c.on[line]
	c.mu.Unlock()
	if on != nil {
		return on(ctx, t)
	}
	return c.usual(name, t)
}

// told is a trip in a line: what, which step, on whose queue.
func told(queue, name string, t StepRequest) string {
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

// usual is what a host does with the turn.
func (c *crew) usual(name string, t StepRequest) (StepResult, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case name == "Begin" && !c.begun:
		c.begun = true
		return StepResult{Turn: oneTurn}, nil
	case name == "Think" && t.Turn.Step == 1:
		return StepResult{Reply: pawl.Reply{Finish: pawl.FinishToolUse, Calls: []pawl.CallID{"c"}}}, nil
	case name == "Think":
		return StepResult{Reply: pawl.Reply{Finish: pawl.FinishEndTurn}, Settled: true}, nil
	default:
		return StepResult{}, nil
	}
}

// check fails unless this is what was asked, in this order.
func (c *crew) check(want ...string) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if diff := cmp.Diff(want, c.asked); diff != "" {
		c.t.Errorf("asked (- want, + got):\n%s", diff)
	}
}

// count is how often something was asked.
func (c *crew) count(line string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.asked {
		if l == line {
			n++
		}
	}
	return n
}

// fails is a trip that ends with an error.
func fails(err error) func(context.Context, StepRequest) (StepResult, error) {
	return func(context.Context, StepRequest) (StepResult, error) { return StepResult{}, err }
}

// The ways in which an engine says that a host is gone.
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
