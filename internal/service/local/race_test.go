package local

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/service"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/sqlite"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

var rounds = flag.Int("rounds", 12, "how often the stampede runs")

// crowd are people who all want something of one session at the same time,
// through one pawl or through two that share a store.
type crowd struct {
	t        *testing.T
	store    store.Store
	services []*service.Service
	session  pawl.SessionID

	mu       sync.Mutex
	accepted []pawl.Seq
	words    map[pawl.Seq][]string // what a prompt said, and was reworded to
	cancels  []accepted
}

// accepted is a cancel that was: how far the log was that it covers, and where
// the log was when it was accepted.
type accepted struct{ upTo, head pawl.Seq }

// headOf is the context's key for where a cancel notes the head that it read.
type headOf struct{}

// noted is a store that tells a cancel's caller which head it read.
type noted struct{ store.Store }

func (s noted) Session(ctx context.Context, id pawl.SessionID) (pawl.Session, error) {
	row, err := s.Store.Session(ctx, id)
	if head, ok := ctx.Value(headOf{}).(*pawl.Seq); ok && *head == 0 {
		*head = row.Head
	}
	return row, err
}

// openService is a pawl of its own over the store's file.
func openService(t *testing.T, w *testEnv, path string, owner proc.Identity) (*service.Service, store.Store) {
	t.Helper()
	st, err := sqlite.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	tools, err := tool.NewRegistry(toolapi.Tool{
		Spec:   toolapi.Spec{Name: "think", Schema: []byte(`{}`)},
		Access: func(context.Context, toolapi.Call) ([]pawl.Access, error) { return nil, nil },
		Run: func(_ context.Context, c toolapi.Call) (pawl.Result, error) {
			dawdle()
			return pawl.Result{Content: string(c.ID)}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	events := bus.New(st, bus.Config{Poll: 5 * time.Millisecond})
	runner := New(Config{Owner: owner, LeaseTTL: 3 * time.Second, Stepper: agent.NewStepper(agent.Config{
		Store: st, Bus: events, Tools: tools, Authority: harness.NewAuthority(t),
		Model: func(string) (model.Model, error) { return w.model, nil },
	})})
	t.Cleanup(runner.Close)
	return service.New(service.Config{
		Store: noted{st}, Bus: events, Runner: runner, Check: func(context.Context, string, pawl.Settings) error { return nil },
	}), st
}

// dawdle lets others go first, for as long as it happens to.
func dawdle() {
	for range rand.IntN(200) {
		runtime.Gosched()
	}
}

func (c *crowd) any() *service.Service { return c.services[rand.IntN(len(c.services))] }

func text(s string) pawl.Parts { return pawl.Parts{pawl.Text{Text: s}} }

// expect fails the test unless the error is nil or one of the allowed ones. It reports whether it is nil.
func (c *crowd) expect(what string, err error, allowed ...error) bool {
	if err != nil && !slices.ContainsFunc(allowed, func(m error) bool { return errors.Is(err, m) }) {
		c.t.Errorf("%s: %v", what, err)
	}
	return err == nil
}

func (c *crowd) send(n int) {
	dawdle()
	delivery := []pawl.Delivery{pawl.DeliverNow, pawl.DeliverQueue, pawl.DeliverQueue, pawl.DeliverSteer, pawl.DeliverSteer}[rand.IntN(5)]
	said := fmt.Sprintf("prompt %d", n)
	seq, err := c.any().Send(context.Background(), c.session, pawl.Prompt{Parts: text(said), Delivery: delivery, Settings: pawl.Settings{Absent: true}})
	if delivery != pawl.DeliverNow && !c.expect("send", err) || delivery == pawl.DeliverNow && !c.expect("send now", err, pawl.ErrBusy) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accepted = append(c.accepted, seq)
	c.words[seq] = append(c.words[seq], said)
}

func (c *crowd) cancel() {
	dawdle()
	var a accepted
	svc := c.any()
	if !c.expect("cancel", svc.Cancel(context.WithValue(context.Background(), headOf{}, &a.upTo), c.session), pawl.ErrBusy) {
		return
	}
	row, err := svc.Get(context.Background(), c.session)
	c.expect("get", err)
	a.head = row.Head
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancels = append(c.cancels, a)
}

// edit rewords or withdraws one of those that wait.
func (c *crowd) edit(n int) {
	dawdle()
	svc := c.any()
	waiting, err := svc.Waiting(context.Background(), c.session)
	if !c.expect("waiting", err) || len(waiting) == 0 {
		return
	}
	seq := waiting[rand.IntN(len(waiting))].Seq
	dawdle()
	if n%2 == 0 {
		c.expect("withdraw", svc.Withdraw(context.Background(), c.session, seq), pawl.ErrConflict)
		return
	}
	said := fmt.Sprintf("reworded %d", n)
	if c.expect("reword", svc.Reword(context.Background(), c.session, seq, text(said)), pawl.ErrConflict) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.words[seq] = append(c.words[seq], said)
	}
}

// stampede lets them all loose and waits until the session has nothing to do.
func (c *crowd) stampede() {
	var wg sync.WaitGroup
	for who := range 3 {
		wg.Go(func() {
			for n := range 3 {
				c.send(10*who + n)
			}
		})
	}
	for who := range 2 {
		wg.Go(func() {
			for n := range 3 {
				c.edit(2*n + who)
			}
		})
	}
	wg.Go(func() {
		for range 2 {
			c.cancel()
		}
	})
	wg.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, err := range c.services[0].Events(ctx, c.session, 0) {
		if err != nil {
			c.t.Fatal(err)
		}
		if row, err := c.store.Session(ctx, c.session); err != nil || row.State() == pawl.StateIdle {
			c.expect("idle", err)
			return
		}
	}
	c.t.Fatalf("session %s never came to rest", c.session)
}

// fate is what happened to a prompt.
type fate struct {
	ends []string // how it was taken in, or back
	turn int      // that took it in
	said string   // when it was
}

// story is what the log says of the prompts and turns.
type story struct {
	prompts map[pawl.Seq]*fate
	again   map[pawl.Seq]pawl.Seq // prompts that were accepted once more
	root    map[int]pawl.Seq      // a turn's own prompt
	reason  map[int]pawl.Reason   // how it ended
	work    map[int]pawl.Seq      // its last event before that
}

func (c *crowd) read() story {
	s := story{map[pawl.Seq]*fate{}, map[pawl.Seq]pawl.Seq{}, map[int]pawl.Seq{}, map[int]pawl.Reason{}, map[int]pawl.Seq{}}
	var events []pawl.Event
	for e, err := range c.store.Events(context.Background(), c.session, 0) {
		if err != nil {
			c.t.Fatal(err)
		}
		events = append(events, e)
		switch b := e.Body.(type) {
		case pawl.Prompted:
			s.prompts[e.Seq] = &fate{said: b.Parts.Text()}
			if b.Again != 0 {
				s.again[b.Again] = e.Seq
				c.accepted, c.words[e.Seq] = append(c.accepted, e.Seq), c.words[b.Again]
			}
		case pawl.Reworded:
			s.prompts[b.Prompt].said = b.Parts.Text()
		case pawl.Withdrawn:
			s.prompts[b.Prompt].ends = append(s.prompts[b.Prompt].ends, "withdrawn")
		case pawl.TurnStarted:
			s.root[e.Turn] = b.Prompt
			s.prompts[b.Prompt].ends, s.prompts[b.Prompt].turn = append(s.prompts[b.Prompt].ends, "started"), e.Turn
		case pawl.Injected:
			s.prompts[b.Prompt].ends, s.prompts[b.Prompt].turn = append(s.prompts[b.Prompt].ends, "injected"), e.Turn
			s.work[e.Turn] = e.Seq
		case pawl.ReplyStarted, pawl.Replied, pawl.CallStarted, pawl.CallFinished:
			s.work[e.Turn] = e.Seq
		case pawl.TurnFinished:
			s.reason[e.Turn] = b.Reason
		default:
		}
	}
	if _, err := pawl.Fold(pawl.SliceLog(events)); err != nil {
		c.t.Errorf("the log is broken: %v", err)
	}
	return s
}

// check holds the log against what people were informed of.
func (c *crowd) check() (canceled, steered int) {
	s := c.read()
	slices.Sort(c.accepted)
	check(c.t, c.accepted, slices.Sorted(maps.Keys(s.prompts)))
	for seq, f := range s.prompts {
		if len(f.ends) != 1 || f.turn != 0 && s.reason[f.turn] == "" {
			c.t.Errorf("prompt %d came to %v, and turn %d to %q", seq, f.ends, f.turn, s.reason[f.turn])
		}
		if !slices.Contains(c.words[seq], f.said) {
			c.t.Errorf("prompt %d says %q, and nobody said that", seq, f.said)
		}
	}
	for seq, f := range s.prompts {
		meant := slices.ContainsFunc(c.cancels, func(a accepted) bool { return seq <= a.upTo })
		if s.reason[f.turn] == pawl.ReasonCanceled && !meant && s.again[seq] == 0 {
			c.t.Errorf("prompt %d ended with turn %d, and no cancel came after it: %v", seq, f.turn, c.cancels)
		}
	}
	for turn, reason := range s.reason {
		root := s.root[turn]
		covers := func(a accepted) bool { return root <= a.upTo }
		if reason == pawl.ReasonCanceled {
			canceled++
			if !slices.ContainsFunc(c.cancels, covers) {
				c.t.Errorf("turn %d of prompt %d was canceled, and no cancel came after it: %v", turn, root, c.cancels)
			}
			continue
		}
		if reason != pawl.ReasonEndTurn {
			c.t.Errorf("turn %d ended with %s", turn, reason)
		}
		for _, a := range c.cancels {
			if covers(a) && s.work[turn] > a.head {
				c.t.Errorf("turn %d of prompt %d went on at %d, after a cancel up to %d was accepted at %d", turn, root, s.work[turn], a.upTo, a.head)
			}
		}
	}
	for _, f := range s.prompts {
		if f.ends[0] == "injected" {
			steered++
		}
	}
	return canceled, steered
}

// People send, steer, cancel, reword and withdraw, all at once. Each prompt
// that was accepted comes to one end, and a cancel covers what was before it.
func TestStampede(t *testing.T) {
	t.Parallel()
	for name, owners := range map[string][]proc.Identity{"one pawl": {here}, "two": {here, there}} {
		t.Run(name, func(t *testing.T) {
			lines := make([]string, 120)
			for i := range lines {
				lines[i] = []string{`{"calls":[{"name":"think"}]}`, `{"text":"ok","deltas":2}`}[i%2]
			}
			w := newEnv(t, lines...)
			path := filepath.Join(t.TempDir(), "shared.db")
			var services []*service.Service
			var st store.Store
			for _, o := range owners {
				var svc *service.Service
				svc, st = openService(t, w, path, o)
				services = append(services, svc)
			}
			canceled, steered := 0, 0
			for round := range *rounds {
				row, err := services[0].Create(context.Background(), pawl.NewSession{Dir: t.TempDir()})
				if err != nil {
					t.Fatal(err)
				}
				c := &crowd{t: t, store: st, services: services, session: row.ID, words: map[pawl.Seq][]string{}}
				c.stampede()
				a, b := c.check()
				canceled, steered = canceled+a, steered+b
				if t.Failed() {
					t.Fatalf("^ round %d", round)
				}
			}
			if canceled == 0 || steered == 0 {
				t.Errorf("%d turns were canceled and %d prompts steered: too few to say anything", canceled, steered)
			}
			t.Logf("%d turns were canceled, %d prompts steered", canceled, steered)
		})
	}
}
