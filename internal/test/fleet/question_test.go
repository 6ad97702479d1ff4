//go:build fleet

package fleet

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
)

// asks are scripts that ask a person, with the answers.
var asks = map[string]struct {
	call   string
	answer pawl.Answer
}{
	"question": {
		`{"name":"question","input":{"questions":[{"header":"Store","question":"Which one?","options":[{"label":"SQLite"},{"label":"PostgreSQL"}]}]}}`,
		pawl.Answer{Outcome: pawl.OutcomeAnswered, Answers: [][]string{{"PostgreSQL"}}},
	},
	"permission": {
		`{"name":"bash","input":{"command":"echo permitted"}}`,
		pawl.Answer{Outcome: pawl.OutcomeAnswered},
	},
}

// What a person is asked waits for them, though all that is the fleet dies meanwhile;
// and an answer that is given while nobody works counts when somebody does, also if
// nobody could be informed of it.
func TestQuestion(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t, startServers(t))
	workers := []*program{w.coordinator("coordinator1"), w.executor("host1").program}
	node, c := w.api("api1")
	for _, downtime := range []struct {
		name       string
		die, again func()
	}{
		{"all of it dies", func() {
			for _, p := range append(workers, node) {
				p.kill()
			}
			w.do("kill")
			w.do("up")
			node.restart()
			for _, p := range workers {
				p.restart()
			}
		}, func() {}},
		{"nobody works", func() {
			for _, p := range workers {
				p.kill()
			}
		}, func() {
			for _, p := range workers {
				p.restart()
			}
		}},
		{"nobody can be told", func() { w.do("kill", "temporal") }, func() { w.do("up") }},
	} {
		open := map[string]pawl.SessionID{}
		for name, ask := range asks {
			open[name] = w.asking(c, ask.call)
		}
		seq := map[string]pawl.Seq{}
		for name, id := range open {
			w.await("the "+name, func(context.Context) (err error) { seq[name], err = w.asked(id); return err })
		}
		downtime.die()
		for name, id := range open {
			w.await("the answer to the "+name, func(ctx context.Context) error {
				err := c.Answer(ctx, id, seq[name], asks[name].answer)
				if errors.Is(err, pawl.ErrConflict) { // the answer to an earlier try was lost, and it counts
					return nil
				}
				return err
			})
		}
		downtime.again()
		for name, id := range open {
			w.ended([]pawl.SessionID{id}, 2*time.Minute)
			w.answered(downtime.name+", "+name, id)
		}
	}
}

// asking begins a session that asks.
func (w *env) asking(c pawl.Service, call string) pawl.SessionID {
	w.Helper()
	s, err := c.Create(w.Context(), pawl.NewSession{Dir: w.folder()})
	if err != nil {
		w.Fatal(err)
	}
	w.prompt(c, s.ID, w.script(stepsOf(2, 0, call)...))
	return s.ID
}

// asked returns what a session waits for.
func (w *env) asked(id pawl.SessionID) (pawl.Seq, error) {
	for _, e := range w.events(id) {
		if _, ok := e.Body.(pawl.Asked); ok {
			return e.Seq, nil
		}
	}
	return 0, errors.New("it has not asked")
}

// answered sees that a session went on with the answer.
func (w *env) answered(name string, id pawl.SessionID) {
	w.Helper()
	events := w.events(id)
	n := kinds(events)
	end, ok := events[len(events)-1].Body.(pawl.TurnFinished)
	if !ok || end.Reason != pawl.ReasonEndTurn || end.Steps != 2 || n["asked"] != 1 || n["answered"] != 1 || n["call.finished"] != 1 {
		w.Errorf("%s: %s ended with %+v, after %v", name, id, events[len(events)-1].Body, n)
	}
	for _, e := range events {
		if f, ok := e.Body.(pawl.CallFinished); ok && (f.Status != pawl.CallDone || f.Result.IsError) {
			w.Errorf("%s: the call is %s: %s", name, f.Status, f.Result.Content)
		}
	}
}
