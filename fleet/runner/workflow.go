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

// Session is the workflow of a session, under the session's id: it works on one
// turn after the other until nothing waits. It fails only if something that it
// needs stays down; the turn is open in the log then, for whoever comes next.
func (f flows) Session(ctx workflow.Context, job Job) error {
	s := &session{
		flows: f, job: job,
		wake: workflow.GetSignalChannel(ctx, signalWake), cancel: workflow.GetSignalChannel(ctx, signalCancel),
	}
	for {
		seen := s.seen()
		out, err := s.trip(ctx, executor.Begin, StepRequest{Again: true}) // a workflow that was ended may have left a step at work
		for err == nil && out.Turn.Number != 0 {
			out, seen, err = s.turn(ctx, out)
		}
		if errors.Is(err, errAnew) {
			return workflow.NewContinueAsNewError(ctx, sessionFlow, s.job) // which goes on by the log
		}
		if err != nil {
			return err
		}
		if s.seen() == seen {
			return nil
		}
	}
}

// errAnew: the workflow's history has grown long, and another one is to go on.
var errAnew = errors.New("go on in another workflow")

// The names of the workflows.
const (
	sessionFlow = "Session"
	errandFlow  = "Errand"
)

// flows are the workflows, with their timeouts.
type flows struct{ timing }

// register makes a worker, or a replay, run the workflows.
func register(r worker.WorkflowRegistry, t timing) {
	f := flows{t}
	r.RegisterWorkflowWithOptions(f.Session, workflow.RegisterOptions{Name: sessionFlow})
	r.RegisterWorkflowWithOptions(f.FolderQuery, workflow.RegisterOptions{Name: errandFlow})
}

// session is the work on one session, as its workflow knows it.
type session struct {
	flows
	job   Job
	place *Place // nil if it has to be looked for
	lost  string // a host that did not take up its step, or fell silent in it
	news  int    // how often there was something new in the log

	wake, cancel workflow.ReceiveChannel
}

// executor and coordinator name the activities; the workers' own run.
var (
	executor    *Executor
	coordinator *Coordinator
)

// seen takes in what is canceled, and returns how often there was something new in
// the log until now. Nobody else receives these signals, so that none is on its way
// to somebody when it is asked.
func (s *session) seen() int {
	for s.wake.ReceiveAsync(nil) {
		s.news++
	}
	for upTo := pawl.Seq(0); s.cancel.ReceiveAsync(&upTo); {
		s.news++
		s.job.Canceled = max(s.job.Canceled, upTo)
	}
	return s.news
}

// interrupt tells the host that is at work what is canceled. It is not waited for:
// what it ends tells.
func (s *session) interrupt(ctx workflow.Context) {
	workflow.ExecuteActivity(s.executorContext(ctx, s.place.Host, time.Minute), executor.Interrupt, StepRequest{Job: s.job, Place: *s.place})
}

// canceled reports whether a turn is not to be worked on any more.
func (s *session) canceled(t pawl.Turn) bool {
	s.seen()
	return t.Prompt <= s.job.Canceled
}

// turn works on a turn and writes its end. It returns what comes next, and what
// was known of the log when that was asked.
func (s *session) turn(ctx workflow.Context, begun StepResult) (next StepResult, seen int, err error) {
	t := begun.Turn
	reason, err := agent.Run(ctx, &steps{session: s, taken: begun.Taken}, t)
	stop, err := pawl.StopOf(reason, err)
	if s.canceled(t) && !final(err) {
		stop, err = pawl.Stop{Reason: pawl.ReasonCanceled, UpTo: s.job.Canceled}, nil // however far it has come: the cancel was accepted
	}
	if err != nil {
		return StepResult{}, 0, err
	}
	seen = s.seen()
	next, err = s.trip(ctx, executor.Finish, StepRequest{Turn: t, Stop: &stop})
	return next, seen, err
}

// trip has a host do something. Whatever goes wrong on the way is tried again,
// there or on another host, as long as there is hope.
func (s *session) trip(ctx workflow.Context, activity any, t StepRequest) (out StepResult, err error) {
	began := workflow.Now(ctx)
	for wait := soonest; ; wait = min(2*wait, latest) {
		if out, err = s.try(ctx, activity, t); err == nil {
			if out.Leave {
				s.place = nil
			}
			return out, nil
		}
		if err = returned(err); final(err) || workflow.Now(ctx).Sub(began) > patience {
			return out, err
		}
		if s.lost = ""; s.place != nil && (untaken(err) || fellSilent(err)) {
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
	s.seen() // a cancel, if it came while a host was looked for
	t.Job, t.Place = s.job, *s.place
	step := workflow.ExecuteActivity(s.executorContext(ctx, s.place.Host, stepTimeout), activity, t)
	s.attend(ctx, step)
	err = step.Get(ctx, &out)
	return out, err
}

// attend waits for a step, and tells its host what is canceled meanwhile.
func (s *session) attend(ctx workflow.Context, step workflow.Future) {
	for {
		told := s.job.Canceled
		err := workflow.Await(ctx, func() bool {
			s.seen()
			return step.IsReady() || s.job.Canceled > told
		})
		if err != nil || step.IsReady() {
			return
		}
		s.interrupt(ctx)
	}
}

// once: that something is tried again is the workflow's to decide.
var once = &temporal.RetryPolicy{MaximumAttempts: 1}

func (f flows) executorContext(ctx workflow.Context, host string, timeout time.Duration) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: ExecutorQueue(host), ScheduleToStartTimeout: f.start, StartToCloseTimeout: timeout,
		HeartbeatTimeout: f.heartbeat, WaitForCancellation: true, RetryPolicy: once,
	})
}

// await waits until there is something new in the log, or until then.
func (s *session) await(ctx workflow.Context, seen int, until time.Time) error {
	news := func() bool { return s.seen() != seen }
	if until.IsZero() {
		return workflow.Await(ctx, news)
	}
	_, err := workflow.AwaitWithTimeout(ctx, max(until.Sub(workflow.Now(ctx)), time.Millisecond), news)
	return err
}
