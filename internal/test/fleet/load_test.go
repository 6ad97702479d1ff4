//go:build fleet

package fleet

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.temporal.io/sdk/client"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/runner"
)

// The load: CI does with fewer sessions, 'make fleet-load' takes all.
const (
	loadSteps = 20
	loadDelay = 20 * time.Millisecond // of the model
)

func number(t testing.TB, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestLoad runs sessions of 20 steps on a fleet of two API nodes and four workers,
// and as many bare activities that sleep as long, in one run.
func TestLoad(t *testing.T) { //nolint:paralleltest // it sets environment variables
	sessions := number(t, "PAWL_LOAD_SESSIONS", 60)
	w := newEnv(t, startServers(t))
	w.hostTimeout = "10s" // as in a real fleet
	for i := range 4 {
		w.worker(fmt.Sprintf("host%d", i+1), "--log", "none")
	}
	var nodes []pawl.Service
	for i := range 2 {
		_, c := w.api(fmt.Sprintf("api%d", i+1))
		nodes = append(nodes, c)
	}
	model := w.script(stepsOf(loadSteps, loadDelay, `{"name":"glob","input":{"pattern":"*%d.txt"}}`)...)
	first := w.load(nodes, model, 20) // warms up
	w.check(first.ids)

	half := sessions / 2
	bare1 := w.bare(half)
	ours1 := w.load(nodes, model, half)
	bare2 := w.bare(sessions - half)
	ours2 := w.load(nodes, model, sessions-half)
	w.check(ours1.ids)
	w.check(ours2.ids)
	ours, bare := ours1.and(ours2), bare1.and(bare2)
	events, size := w.history(ours1.ids[0])
	rows, bytes := w.rows(ours1.ids[0])
	ratio := bare.rate() / ours.rate()
	t.Logf("%d sessions of %d steps, 2 API nodes, 4 workers, %d cores:", sessions, loadSteps, runtime.NumCPU())
	t.Logf("  fleet %s", ours)
	t.Logf("  bare  %s", bare)
	t.Logf("  a step takes %.2f x the time of bare, %.2f x of the cores; engine history %d events, %d bytes a turn; %.1f rows, %d bytes a step in the log", ratio, ours.cost()/bare.cost(), events, size, float64(rows)/loadSteps, bytes/loadSteps)
	if ratio > 2 {
		t.Errorf("a step costs %.2f x as much as bare activities", ratio)
	}
}

// TestFlat: a step costs the same, however many sessions are stored.
func TestFlat(t *testing.T) { //nolint:paralleltest // it sets environment variables
	stored := number(t, "PAWL_LOAD_STORED", 1000)
	w := newEnv(t, startServers(t))
	w.hostTimeout = "10s" // as in a real fleet
	for i := range 2 {
		w.worker(fmt.Sprintf("host%d", i+1), "--log", "none")
	}
	_, c := w.api("api1")
	nodes := []pawl.Service{c}
	model := w.script(stepsOf(loadSteps, loadDelay, `{"name":"glob","input":{"pattern":"*%d.txt"}}`)...)
	w.load(nodes, model, 20)
	few := w.load(nodes, model, 30)
	w.check(few.ids)
	w.fill(few.ids[0], stored)
	many := w.load(nodes, model, 30)
	w.check(many.ids)
	again := w.load(nodes, model, 30)
	t.Logf("a step with 50 sessions stored %.1f ms (%.1f of the cores), with %d %.1f and %.1f ms (%.1f and %.1f)", 1000/few.rate(), few.cost(), stored+50, 1000/many.rate(), 1000/again.rate(), many.cost(), again.cost())
	if best := max(many.rate(), again.rate()); best < few.rate()/1.5 {
		t.Errorf("with %d sessions stored %.1f steps/s, with few %.1f", stored, best, few.rate())
	}
}

// took is what a run of many steps took.
type took struct {
	ids   []pawl.SessionID
	steps int
	time  time.Duration
	busy  time.Duration // of all cores, whoever kept them so
	each  []time.Duration
}

func (t took) rate() float64 { return float64(t.steps) / t.time.Seconds() }

func (t took) and(u took) took {
	return took{append(t.ids, u.ids...), t.steps + u.steps, t.time + u.time, t.busy + u.busy, append(t.each, u.each...)}
}

func (t took) String() string {
	return fmt.Sprintf("%6.1f steps/s, step p50 %s p99 %s, %.1f ms of the cores a step", t.rate(), t.percentile(50), t.percentile(99), t.cost())
}

// cost is what a step took of the cores, in milliseconds.
func (t took) cost() float64 { return float64(t.busy.Milliseconds()) / float64(t.steps) }

func (t took) percentile(p int) time.Duration {
	slices.Sort(t.each)
	if len(t.each) == 0 {
		return 0
	}
	return t.each[(len(t.each)-1)*p/100].Round(time.Millisecond)
}

// busy returns the CPU time that all cores have used so far.
func busy(t testing.TB) time.Duration {
	t.Helper()
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	var user, nice, system, idle, iowait, irq, softirq int64
	if _, err := fmt.Sscanf(string(text), "cpu %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &iowait, &irq, &softirq); err != nil {
		t.Fatalf("/proc/stat: %v", err)
	}
	return time.Duration(user+nice+system+irq+softirq) * 10 * time.Millisecond
}

// load has sessions worked on, all at once.
func (w *env) load(nodes []pawl.Service, model string, n int) took {
	w.Helper()
	began, idle := time.Now(), busy(w)
	r := took{ids: make([]pawl.SessionID, n), steps: n * loadSteps}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			var err error
			if r.ids[i], err = w.begin(w.Context(), nodes[i%len(nodes)], model); err != nil {
				w.Error(err)
			}
		})
	}
	wg.Wait()
	if w.Failed() {
		w.FailNow()
	}
	w.ended(r.ids, 20*time.Minute)
	r.time, r.busy = time.Since(began), busy(w)-idle
	for _, id := range r.ids {
		var last time.Time
		for _, e := range w.events(id) {
			if _, ok := e.Body.(pawl.Replied); ok {
				if !last.IsZero() {
					r.each = append(r.each, e.At.Sub(last))
				}
				last = e.At
			}
		}
	}
	return r
}

// check sees that sessions have ended as their script says, and that each call has
// one result.
func (w *env) check(ids []pawl.SessionID) {
	w.Helper()
	for _, id := range ids {
		events := w.events(id)
		if _, err := pawl.Conversation(events); err != nil {
			w.Errorf("session %s: %v", id, err)
		}
		n := kinds(events)
		end, _ := events[len(events)-1].Body.(pawl.TurnFinished)
		if end.Reason != pawl.ReasonEndTurn || n["replied"] != loadSteps || n["call.finished"] != loadSteps-1 {
			w.Errorf("session %s ended with %+v: %v", id, end, n)
		}
	}
}

// bare runs as many activities on the same engine, by as many workers, that do
// nothing but sleep.
func (w *env) bare(n int) took {
	w.Helper()
	engine, stop := w.bareWorkers()
	defer stop()
	began, idle := time.Now(), busy(w)
	r := took{steps: n * loadSteps}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			run, err := engine.ExecuteWorkflow(w.Context(), client.StartWorkflowOptions{TaskQueue: bareQueue}, Bare, loadSteps, loadDelay)
			var each []time.Duration
			if err == nil {
				err = run.Get(w.Context(), &each)
			}
			if err != nil {
				w.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			r.each = append(r.each, each...)
		})
	}
	wg.Wait()
	r.time, r.busy = time.Since(began), busy(w)-idle
	return r
}

// history is how large the engine's history of a session's turn is.
func (w *env) history(id pawl.SessionID) (events, bytes int64) {
	w.Helper()
	engine, err := runner.Dial(w.Context(), w.address("PAWL_TEMPORAL_PORT"), "pawl", quiet)
	if err != nil {
		w.Fatal(err)
	}
	defer engine.Close()
	d, err := engine.DescribeWorkflowExecution(w.Context(), string(id), "")
	if err != nil {
		w.Fatal(err)
	}
	return d.GetWorkflowExecutionInfo().GetHistoryLength(), d.GetWorkflowExecutionInfo().GetHistorySizeBytes()
}

// rows is what a session's log takes in the store.
func (w *env) rows(id pawl.SessionID) (rows, bytes int) {
	w.Helper()
	conn := w.sql()
	defer func() { _ = conn.Close(context.Background()) }()
	err := conn.QueryRow(w.Context(), "SELECT count(*), sum(pg_column_size(e)) FROM events e WHERE session_id = $1", string(id)).Scan(&rows, &bytes)
	if err != nil {
		w.Fatal(err)
	}
	return rows, bytes
}

func (w *env) sql() *pgx.Conn {
	w.Helper()
	conn, err := pgx.Connect(w.Context(), w.store)
	if err != nil {
		w.Fatal(err)
	}
	if _, err := conn.Exec(w.Context(), "SELECT set_config('pawl.tenant', 't:', false)"); err != nil {
		w.Fatal(err)
	}
	return conn
}

// fill stores a session many times over.
func (w *env) fill(id pawl.SessionID, n int) {
	w.Helper()
	events := w.events(id)
	var wg sync.WaitGroup
	next := make(chan int)
	for range 4 {
		wg.Go(func() {
			for range next {
				if _, err := w.log.Append(w.Context(), newSession(), 0, events...); err != nil {
					w.Error(err)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}
