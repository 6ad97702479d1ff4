//go:build fleet

package fleettest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/runner/fleet"
)

// A fleet gets another version of the code while sessions are in mid-turn: what has
// begun ends with the code that it began with, what is new begins with the new one,
// and no call is cut off.
func TestUpgrade(t *testing.T) {
	c := &crew{world: newWorld(t, startServers(t))}
	engine := c.ownNamespace(t)
	old := c.version("v1")
	_, c.front = c.api("api1")
	c.onVersion(t, engine, "v1", c.jobs(t, 30, "old"), func(jobs []*job) {
		c.version("v2")
		c.await("the promotion of v2", func(ctx context.Context) error { return fleet.Promote(ctx, engine, "v2") })
		for _, h := range old.hosts {
			h.stop()
		}
		old.brains[0].stop()
		c.endAll(jobs)
		old.brains[1].stop() // it had to stay: what began with v1 ends with v1
	})
	c.onVersion(t, engine, "v2", c.jobs(t, 5, "new"), func(jobs []*job) { c.endAll(jobs) })
}

// version starts workers of a version.
func (c *crew) version(v string) *crew {
	w := &crew{}
	for i := range 2 {
		w.brains = append(w.brains, c.brain(fmt.Sprintf("brain%d-%s", i+1, v), "--build-id", v))
	}
	for i := range 2 {
		w.hosts = append(w.hosts, c.hands(fmt.Sprintf("host%d-%s", i+1, v), "--build-id", v, "--drain", "2m"))
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
func (c *crew) onVersion(t *testing.T, engine fleet.Engine, version string, jobs []*job, end func([]*job)) {
	t.Helper()
	runs := map[*job]string{}
	for _, j := range jobs {
		d, err := engine.DescribeWorkflowExecution(t.Context(), string(j.id), "")
		if err != nil {
			t.Fatal(err)
		}
		runs[j] = d.GetWorkflowExecutionInfo().GetExecution().GetRunId()
		c.await("the turn of "+j.name, func(context.Context) error { // before that it is nobody's yet
			if kinds(c.events(j.id))["reply.started"] == 0 {
				return errors.New("its model was not asked yet")
			}
			return nil
		})
	}
	end(jobs)
	for _, j := range jobs {
		if unknown := j.check(t); unknown > 0 {
			t.Errorf("%s: %d calls were cut off", j.name, unknown)
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

// ownNamespace makes a namespace of the engine for this world: which version is the
// current one is remembered for good.
func (w *world) ownNamespace(t *testing.T) fleet.Engine {
	t.Helper()
	w.namespace = "pawl-" + strings.ToLower(ulid.Make().String())
	w.await("the engine's making of a namespace", func(ctx context.Context) error {
		body := fmt.Sprintf(`{"namespace":%q,"workflowExecutionRetentionPeriod":"86400s"}`, w.namespace)
		return w.overHTTP(ctx, http.MethodPost, "namespaces", body)
	})
	w.await("the namespace", func(ctx context.Context) error {
		return w.overHTTP(ctx, http.MethodGet, "namespaces/"+w.namespace+"/workflows", "")
	})
	engine, err := fleet.Dial(t.Context(), w.address("PAWL_TEMPORAL_PORT"), w.namespace, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	return engine
}

// overHTTP asks the engine for what is not the fleet's to do. Where it answers HTTP
// is what dev/services says.
func (w *world) overHTTP(ctx context.Context, method, path, body string) error {
	port, err := strconv.Atoi(ports["PAWL_TEMPORAL_PORT"])
	if err != nil {
		return err
	}
	url := fmt.Sprintf("http://127.0.0.1:%d/api/v1/%s", port%30000, path)
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusConflict { // it is there
		return errors.New(resp.Status)
	}
	return nil
}
