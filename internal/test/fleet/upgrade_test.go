//go:build fleet

package fleet

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/runner"
)

// A fleet gets another version of the code while sessions are in mid-turn: what has
// begun ends with the code that it began with, what is new begins with the new one,
// and no call is cut off.
func TestUpgrade(t *testing.T) { //nolint:paralleltest // it sets environment variables
	c := &crew{env: newEnv(t, startServers(t))}
	engine := ownNamespace(t, c.address("PAWL_TEMPORAL_PORT"))
	c.namespace = engine.Namespace
	old := c.version("v1")
	_, c.front = c.api("api1")
	c.onVersion(t, engine, "v1", c.jobs(t, 30, "old"), func(jobs []*job) {
		c.version("v2")
		c.await("the promotion of v2", func(ctx context.Context) error { return runner.Promote(ctx, engine, "v2") })
		for _, h := range old.hosts {
			h.stop()
		}
		old.coordinators[0].stop()
		c.endAll(jobs)
		old.coordinators[1].stop() // it had to stay: what began with v1 ends with v1
	})
	c.onVersion(t, engine, "v2", c.jobs(t, 5, "new"), func(jobs []*job) { c.endAll(jobs) })
}

// version starts workers of a version.
func (c *crew) version(v string) *crew {
	w := &crew{}
	for i := range 2 {
		w.coordinators = append(w.coordinators, c.coordinator(fmt.Sprintf("coordinator%d-%s", i+1, v), "--build-id", v))
	}
	for i := range 2 {
		w.hosts = append(w.hosts, c.executor(fmt.Sprintf("host%d-%s", i+1, v), "--build-id", v, "--drain", "2m"))
	}
	return w
}

func (c *crew) endAll(jobs []*job) {
	c.Helper()
	var ids []pawl.SessionID
	for _, j := range jobs {
		ids = append(ids, j.id)
	}
	c.ended(ids, jobEnds)
}

// onVersion has jobs come to their ends, and sees that a version has run them, all
// of it.
func (c *crew) onVersion(t *testing.T, engine runner.Engine, version string, jobs []*job, end func([]*job)) {
	t.Helper()
	runs := map[*job]string{}
	for _, j := range jobs {
		d, err := engine.DescribeWorkflowExecution(t.Context(), string(j.id), "")
		if err != nil {
			t.Fatal(err)
		}
		runs[j] = d.GetWorkflowExecutionInfo().GetExecution().GetRunId()
		c.await("the turn of "+j.name, func(context.Context) error { // until then no host owns it
			if kinds(c.events(j.id))["reply.started"] == 0 {
				return errors.New("its model was not asked yet")
			}
			return nil
		})
	}
	end(jobs)
	for _, j := range jobs {
		if interrupted := j.check(t); interrupted > 0 {
			t.Errorf("%s: %d calls were cut off", j.name, interrupted)
		}
		d, err := engine.DescribeWorkflowExecution(t.Context(), string(j.id), runs[j])
		if err != nil {
			t.Fatal(err)
		}
		if v := d.GetWorkflowExecutionInfo().GetVersioningInfo().GetDeploymentVersion().GetBuildId(); v != version {
			t.Errorf("%s ran on version %q, not %s", j.name, v, version)
		}
	}
}
