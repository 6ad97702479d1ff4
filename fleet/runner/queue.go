package runner

import (
	"context"
	"slices"
	"time"

	enums "go.temporal.io/api/enums/v1"
	taskqueue "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Queue is the state of a Temporal task queue.
type Queue struct {
	Name     string        `json:"name"`
	Pollers  int           `json:"pollers"`            // workers that poll it
	Versions []string      `json:"versions,omitempty"` // of those workers
	Backlog  int64         `json:"backlog"`            // approximate number of tasks not yet taken
	Oldest   time.Duration `json:"oldest_ns"`          // approximate age of the first of them
}

// PollWithin is how long a worker counts as present after its last poll. A poll takes up to a minute, and Temporal
// remembers pollers for longer than this.
const PollWithin = 90 * time.Second

// Queues returns the state of the coordinators' queue and of those of the given hosts.
func Queues(ctx context.Context, engine Engine, hosts ...string) ([]Queue, error) {
	coordinators, err := engine.describe(ctx, engine.queue(), enums.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return nil, err
	}
	list := []Queue{coordinators}
	for _, host := range hosts {
		q, err := engine.describe(ctx, ExecutorQueue(host), enums.TASK_QUEUE_TYPE_ACTIVITY)
		if err != nil {
			return nil, err
		}
		list = append(list, q)
	}
	return list, nil
}

func (e Engine) describe(ctx context.Context, name string, kind enums.TaskQueueType) (Queue, error) {
	d, err := e.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
		Namespace: e.Namespace, TaskQueue: &taskqueue.TaskQueue{Name: name}, TaskQueueType: kind, ReportStats: true,
	})
	if err != nil {
		return Queue{}, fault.New(pawl.ErrUnavailable, "query queue %s: %w", name, err)
	}
	q := Queue{Name: name, Backlog: d.GetStats().GetApproximateBacklogCount(), Oldest: d.GetStats().GetApproximateBacklogAge().AsDuration()}
	for _, p := range d.GetPollers() {
		if time.Since(p.GetLastAccessTime().AsTime()) > PollWithin {
			continue
		}
		q.Pollers++
		if v := p.GetDeploymentOptions().GetBuildId(); v != "" && !slices.Contains(q.Versions, v) {
			q.Versions = append(q.Versions, v)
		}
	}
	slices.Sort(q.Versions)
	return q, nil
}
