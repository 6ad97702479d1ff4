package runner

import (
	"errors"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
)

const (
	scheduleToStart = enums.TIMEOUT_TYPE_SCHEDULE_TO_START
	heartbeatMissed = enums.TIMEOUT_TYPE_HEARTBEAT
)

// Session is the workflow of a session; its id is derived from the session's. It runs one turn after the other until
// none is left. It fails only if something it needs stays down for retryTimeout; the turn then stays open in the log
// and can be resumed.
func (f flows) Session(ctx workflow.Context, job Job) error {
	s := &session{
		flows: f, job: job,
		wake: workflow.GetSignalChannel(ctx, signalWake), cancel: workflow.GetSignalChannel(ctx, signalCancel),
	}
	for {
		seen := s.receiveSignals()
		out, err := s.runStep(ctx, executor.Begin, StepRequest{Again: true}) // a terminated workflow may have left a running step
		for err == nil && out.Turn.Number != 0 {
			out, seen, err = s.turn(ctx, out)
		}
		if errors.Is(err, errContinueAsNew) {
			return workflow.NewContinueAsNewError(ctx, sessionFlow, s.job) // continues from the log
		}
		if err != nil {
			return err
		}
		if s.receiveSignals() == seen {
			return nil
		}
	}
}

// errContinueAsNew means that the history has grown long and a new workflow must continue.
var errContinueAsNew = errors.New("continue as new")

// The workflow types.
const (
	sessionFlow     = "Session"
	folderQueryFlow = "FolderQuery"
)

// flows implements the workflows with their timeouts.
type flows struct{ timing }

// register registers the workflows with a worker or a replayer.
func register(r worker.WorkflowRegistry, t timing) {
	f := flows{t}
	r.RegisterWorkflowWithOptions(f.Session, workflow.RegisterOptions{Name: sessionFlow})
	r.RegisterWorkflowWithOptions(f.FolderQuery, workflow.RegisterOptions{Name: folderQueryFlow})
}

// session is the state of a session's workflow.
type session struct {
	flows
	job   Job
	place *Place // nil if a host must be found
	lost  string // the host that did not start the last step or missed its heartbeats
	news  int    // number of signals received

	wake, cancel workflow.ReceiveChannel
}

// executor and coordinator only name the activities; the workers register their own values.
var (
	executor    *Executor
	coordinator *Coordinator
)

// receiveSignals records cancels, and returns the number of signals received so far. It is the only receiver of these
// signals, so none is lost between two receivers.
func (s *session) receiveSignals() int {
	for s.wake.ReceiveAsync(nil) {
		s.news++
	}
	for upTo := pawl.Seq(0); s.cancel.ReceiveAsync(&upTo); {
		s.news++
		s.job.Canceled = max(s.job.Canceled, upTo)
	}
	return s.news
}

// interrupt tells the host that runs the step what was canceled. It does not wait: the step itself ends with an error.
func (s *session) interrupt(ctx workflow.Context) {
	workflow.ExecuteActivity(s.executorContext(ctx, s.place.Host, time.Minute), executor.Interrupt, StepRequest{Job: s.job, Place: *s.place})
}

// canceled reports whether a turn was canceled.
func (s *session) canceled(t agent.Turn) bool {
	s.receiveSignals()
	return t.Prompt <= s.job.Canceled
}

// turn runs a turn and records its end. It returns the next turn, and the signal count from before that was asked for.
func (s *session) turn(ctx workflow.Context, begun StepResult) (next StepResult, seen int, err error) {
	t := begun.Turn
	reason, err := agent.Run(ctx, &steps{session: s, taken: begun.Taken}, t)
	stop, err := agent.StopOf(reason, err)
	if s.canceled(t) && !final(err) {
		stop, err = agent.Stop{Reason: pawl.ReasonCanceled, UpTo: s.job.Canceled}, nil // whatever the turn returned: the cancel was accepted
	}
	if err != nil {
		return StepResult{}, 0, err
	}
	seen = s.receiveSignals()
	next, err = s.runStep(ctx, executor.Finish, StepRequest{Turn: t, Stop: &stop})
	return next, seen, err
}

// runStep runs an activity on the workspace's host. It retries failures there or on another host, with backoff, until
// one is final or retryTimeout has passed.
func (s *session) runStep(ctx workflow.Context, activity any, t StepRequest) (out StepResult, err error) {
	began := workflow.Now(ctx)
	for wait := minBackoff; ; wait = min(2*wait, maxBackoff) {
		if out, err = s.try(ctx, activity, t); err == nil {
			if out.Leave {
				s.place = nil
			}
			return out, nil
		}
		if err = decodeError(err); final(err) || workflow.Now(ctx).Sub(began) > retryTimeout {
			return out, err
		}
		if s.lost = ""; s.place != nil && (notStarted(err) || heartbeatLost(err)) {
			s.lost = s.place.Host
		}
		s.place, t.Again = nil, true
		if err := workflow.Sleep(ctx, wait); err != nil {
			return out, err
		}
	}
}

func (s *session) try(ctx workflow.Context, activity any, t StepRequest) (out StepResult, err error) {
	if s.place == nil {
		var place Place
		ctx := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
			ScheduleToCloseTimeout: s.timing.place, RetryPolicy: once,
		})
		if err := workflow.ExecuteLocalActivity(ctx, coordinator.Place, s.job, s.lost).Get(ctx, &place); err != nil {
			return out, err
		}
		s.place, s.lost = &place, ""
	}
	s.receiveSignals() // a cancel may have arrived while a host was searched for
	t.Job, t.Place = s.job, *s.place
	step := workflow.ExecuteActivity(s.executorContext(ctx, s.place.Host, stepTimeout), activity, t)
	s.waitForStep(ctx, step)
	err = step.Get(ctx, &out)
	return out, err
}

// waitForStep waits for a step, and passes cancels that arrive in the meantime on to its host.
func (s *session) waitForStep(ctx workflow.Context, step workflow.Future) {
	for {
		known := s.job.Canceled
		err := workflow.Await(ctx, func() bool {
			s.receiveSignals()
			return step.IsReady() || s.job.Canceled > known
		})
		if err != nil || step.IsReady() {
			return
		}
		s.interrupt(ctx)
	}
}

// once disables Temporal's retries: runStep decides about them.
var once = &temporal.RetryPolicy{MaximumAttempts: 1}

func (f flows) executorContext(ctx workflow.Context, host string, timeout time.Duration) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: ExecutorQueue(host), ScheduleToStartTimeout: f.start, StartToCloseTimeout: timeout,
		HeartbeatTimeout: f.heartbeat, WaitForCancellation: true, RetryPolicy: once,
	})
}

// await waits for a new signal, or until the given time if it is not zero.
func (s *session) await(ctx workflow.Context, seen int, until time.Time) error {
	news := func() bool { return s.receiveSignals() != seen }
	if until.IsZero() {
		return workflow.Await(ctx, news)
	}
	_, err := workflow.AwaitWithTimeout(ctx, max(until.Sub(workflow.Now(ctx)), time.Millisecond), news)
	return err
}
