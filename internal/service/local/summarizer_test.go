package local

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/model"
)

// small makes the runner have titles and summaries written, by its only model.
func (w *testEnv) small() *Runner {
	r := w.runner(here, ttl)
	r.Stepper.SummaryModel = func(string) (string, error) { return "small", nil }
	return r
}

// counted is a model that counts what an agent asks of it.
type counted struct {
	model.Model
	agent string
	n     atomic.Int32
}

func (c *counted) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	if req.Agent == c.agent {
		c.n.Add(1)
	}
	return c.Model.Stream(ctx, req)
}

// of returns the bodies of a kind.
func of[B pawl.Body](w *testEnv) []B {
	var bodies []B
	for _, e := range w.events(session) {
		if b, ok := e.Body.(B); ok {
			bodies = append(bodies, b)
		}
	}
	return bodies
}

const (
	slowTitle   = `{"agent":"title","text":"A name","delay_ms":10000}`
	slowSummary = `{"agent":"summary","text":"It is done.","delay_ms":10000}`
)

// A title and a summary that take long hold up nothing: not the turn, not its
// end, not the lease.
func TestSummarizerDelaysNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t, append(acts("act"), slowTitle, slowSummary)...)
		w.create(session)
		w.prompt(session, "go")
		began := time.Now()
		mustStart(t, w.small(), session)
		w.hall.wait()
		w.hall.free()
		w.idle(session)
		check(t, 0, time.Since(began))
		synctest.Wait()
		check(t, "", w.holder())
		check(t, nil, of[pawl.SessionTitled](w))

		time.Sleep(time.Minute)
		check(t, []pawl.SessionTitled{{Title: "A name", ModelUsage: pawl.ModelUsage{Model: "small"}}}, of[pawl.SessionTitled](w))
		check(t, []pawl.SessionSummarized{{Summary: "It is done.", ModelUsage: pawl.ModelUsage{Model: "small"}}}, of[pawl.SessionSummarized](w))
		check(t, pawl.StateIdle, w.row(session).State())
	})
}

// Close ends what is being written at once, and waits for it.
func TestCloseEndsSummarizer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t, append(acts("act"), slowTitle, slowSummary)...)
		w.create(session)
		w.prompt(session, "go")
		r := w.small()
		mustStart(t, r, session)
		w.hall.wait()
		w.hall.free()
		w.idle(session)
		synctest.Wait()
		began := time.Now()
		r.Close()
		check(t, 0, time.Since(began))
		check(t, 0, r.summarizer.Writing())
		time.Sleep(time.Minute)
		check(t, nil, of[pawl.SessionTitled](w))
		check(t, nil, of[pawl.SessionSummarized](w))
	})
}

// A title that did not come is made at the next work on the session, by whoever
// does it; one that is on its way is not asked for twice.
func TestTitleIsMadeLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t, `{"text":"one"}`, `{"text":"two"}`, `{"text":"three"}`, slowTitle)
		w.create(session)
		w.prompt(session, "one")
		first := w.small()
		mustStart(t, first, session)
		w.idle(session)
		first.Close()
		check(t, nil, of[pawl.SessionTitled](w))

		model := &counted{Model: w.model, agent: model.AgentTitle}
		w.model = model
		second := w.small()
		for _, text := range []string{"two", "three"} {
			w.prompt(session, text)
			mustStart(t, second, session)
			w.idle(session)
			synctest.Wait()
			check(t, 1, second.summarizer.Writing())
		}
		time.Sleep(time.Minute)
		check(t, 1, len(of[pawl.SessionTitled](w)))
		check(t, 1, model.n.Load())
	})
}

// What hangs is given up.
func TestSummariesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t, `{"text":"one"}`, `{"agent":"title","text":"A name","fault":"hang"}`)
		w.create(session)
		w.prompt(session, "one")
		r := w.small()
		mustStart(t, r, session)
		w.idle(session)
		time.Sleep(agent.SummaryTimeout - time.Second)
		check(t, 1, r.summarizer.Writing())
		time.Sleep(2 * time.Second)
		synctest.Wait()
		check(t, 0, r.summarizer.Writing())
		check(t, nil, of[pawl.SessionTitled](w))
	})
}

// A person names the session while the model thinks of a name; and deletes it.
func TestAPersonIsQuicker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t, append(acts("act"), slowTitle)...)
		w.create(session)
		w.prompt(session, "go")
		mustStart(t, w.small(), session)
		w.hall.wait()
		w.append(session, pawl.SessionTitled{Title: "Mine"})
		w.hall.free()
		w.idle(session)
		time.Sleep(time.Minute)
		check(t, []pawl.SessionTitled{{Title: "Mine"}}, of[pawl.SessionTitled](w))
	})
}

// Without a small model nothing is begun.
func TestNoSummaryModel(t *testing.T) {
	t.Parallel()
	w := newEnv(t, `{"text":"one"}`, slowTitle)
	w.create(session)
	w.prompt(session, "one")
	r := w.runner(here, ttl)
	mustStart(t, r, session)
	w.idle(session)
	r.Close()
	check(t, nil, of[pawl.SessionTitled](w))
}
