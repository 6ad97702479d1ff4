package ratelimit

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// entrant is a call as the test knows it.
type entrant struct {
	*call
	group  pawl.SessionID
	passed map[*line]int // calls of others that began while it was the first of its line
}

// crowd holds a provider to what it promises, step by step.
type crowd struct {
	*provider
	waiting []*entrant // in the order in which they came
	running []*entrant
	alike   bool   // all lines can begin whenever one can
	fault   string // the first promise that was broken
}

// step is one thing that happens in a crowd.
type step struct {
	Do           string
	Group, Model string
	Which        int // of those that run or wait
	Outcome      outcome
}

func drawStep(alike bool) *rapid.Generator[step] {
	outcomes := []outcome{{good: true}, {}}
	if !alike {
		outcomes = append(outcomes, outcome{refused: true}, outcome{refused: true, pause: time.Minute}, outcome{refused: true, pause: time.Hour})
	}
	return rapid.Custom(func(t *rapid.T) step {
		return step{
			Do:    rapid.SampledFrom([]string{"enter", "enter", "end", "leave", "time"}).Draw(t, "do"),
			Group: rapid.SampledFrom([]string{"g", "h", "i"}).Draw(t, "group"), Model: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "model"),
			Which: rapid.IntRange(0, 9).Draw(t, "which"), Outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome"),
		}
	})
}

// TestCrowd: whatever calls come, end, are refused and give up, limits hold, no
// slot is lost or left unused, and no line is passed over twice by another.
func TestCrowd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		b := Bounds{Calls: rapid.IntRange(1, 5).Draw(rt, "calls")}
		c := crowd{alike: rapid.Bool().Draw(rt, "alike")}
		if !c.alike {
			b.Models = map[string]int{"b": rapid.IntRange(1, 5).Draw(rt, "calls of b")}
		}
		steps := rapid.SliceOfN(drawStep(c.alike), 1, 80).Draw(rt, "steps")
		synctest.Test(t, func(*testing.T) { // rapid itself must not live by this clock
			c.provider = newProvider("p", b)
			c.live(steps)
		})
		if c.fault != "" {
			rt.Fatal(c.fault)
		}
	})
}

func (c *crowd) live(steps []step) {
	for _, s := range steps {
		c.step(s)
		c.check()
	}
	for range steps { // what waits for the end of a pause begins after it
		for len(c.running) > 0 {
			c.end(0, outcome{})
			c.check()
		}
		c.step(step{Do: "time"})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting)+c.provider.waiting+len(c.lines)+c.all.running != 0 {
		c.failf("%d calls still wait, %d are counted, %d lines, %d run", len(c.waiting), c.provider.waiting, len(c.lines), c.all.running)
	}
}

func (c *crowd) failf(format string, args ...any) {
	if c.fault == "" {
		c.fault = fmt.Sprintf(format, args...)
	}
}

func (c *crowd) step(s step) {
	switch s.Do {
	case "enter":
		e := &entrant{group: pawl.SessionID(s.Group), passed: map[*line]int{}}
		var err error
		if e.call, err = c.enter(c.model(s.Model), e.group); err != nil {
			c.failf("%v", err)
			return
		}
		c.waiting = append(c.waiting, e)
	case "end":
		if len(c.running) > 0 {
			c.end(s.Which%len(c.running), s.Outcome)
		}
	case "leave":
		if len(c.waiting) > 0 {
			i := s.Which % len(c.waiting)
			e := c.waiting[i]
			c.waiting = slices.Delete(c.waiting, i, i+1)
			e.leave(outcome{})
			e.leave(outcome{}) // once is enough, twice does no harm
		}
	case "time":
		time.Sleep(time.Minute)
		synctest.Wait()
	}
	c.note()
}

func (c *crowd) end(i int, o outcome) {
	e := c.running[i]
	c.running = slices.Delete(c.running, i, i+1)
	e.leave(o)
	e.leave(outcome{refused: true})
	c.note()
}

// note moves those who began, and holds them to the order.
func (c *crowd) note() {
	c.mu.Lock()
	defer c.mu.Unlock()
	heads := c.heads()
	var still []*entrant
	for _, e := range c.waiting {
		if e.state == waits {
			still = append(still, e)
			continue
		}
		c.running = append(c.running, e)
		if e.model.pause() > 0 || e.model.running > e.model.limit || c.all.running > c.all.limit {
			c.failf("a call began that should wait: %+v in %+v", e.model, c.all)
		}
		for _, h := range heads {
			if h != e && h.state == waits {
				c.passes(e, h)
			}
		}
	}
	c.waiting = still
}

// passes notes that a call began while the first of another line waits.
func (c *crowd) passes(e, h *entrant) {
	switch {
	case e.line == h.line:
		c.failf("a call of %s to %s passed over an older one", e.group, e.model.name)
	case e.model == h.model || c.alike: // it could have begun as well
		if h.passed[e.line]++; h.passed[e.line] > 1 {
			c.failf("%s to %s passed over %s to %s twice", e.group, e.model.name, h.group, h.model.name)
		}
	}
}

// heads are the oldest of each line.
func (c *crowd) heads() (heads []*entrant) {
	seen := map[string]bool{}
	for _, e := range c.waiting {
		key := fmt.Sprintf("%s %s", e.group, e.model.name)
		if !seen[key] {
			heads = append(heads, e)
		}
		seen[key] = true
	}
	return heads
}

func (c *crowd) check() {
	c.mu.Lock()
	defer c.mu.Unlock()
	running := map[*pool]int{c.all: len(c.running)}
	for _, e := range c.running {
		running[e.model]++
	}
	for _, p := range append(slices.Collect(maps.Values(c.models)), c.all) {
		if p.running != running[p] || p.limit < 1 || p.limit > p.most {
			c.failf("%d calls run: %+v", running[p], p)
		}
	}
	for _, e := range c.waiting {
		if c.all.open() && e.model.open() {
			c.failf("%s waits though it could begin: %+v, %+v", e.group, c.all, e.model)
		}
	}
	if c.provider.waiting != len(c.waiting) {
		c.failf("%d wait, %d are counted", len(c.waiting), c.provider.waiting)
	}
}

// ended is how one of many calls goes.
type ended struct {
	Group      string
	Model      string
	After      time.Duration // it comes
	Takes      time.Duration
	Cancel     time.Duration // its context ends, so long after it has come
	Breaks     bool          // its reader has enough after the first piece
	Kind       pawl.ErrorKind
	RetryAfter time.Duration
}

// TestNoSlotIsLost: many calls at once, which are canceled, broken off and
// refused at any time. Each ends, never too many run, and all slots come back.
func TestNoSlotIsLost(t *testing.T) {
	t.Parallel()
	seconds := func(t *rapid.T, most int, name string) time.Duration {
		return time.Duration(rapid.IntRange(0, most).Draw(t, name)) * time.Second
	}
	one := rapid.Custom(func(t *rapid.T) ended {
		return ended{
			Group: rapid.SampledFrom([]string{"g", "h", "i"}).Draw(t, "group"), Model: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "model"),
			After: seconds(t, 5, "after"), Takes: seconds(t, 10, "takes"), Cancel: seconds(t, 60, "cancel"), Breaks: rapid.Bool().Draw(t, "breaks"),
			Kind:       rapid.SampledFrom([]pawl.ErrorKind{"", "", pawl.ErrorRateLimited, pawl.ErrorOverloaded, pawl.ErrorServer}).Draw(t, "kind"),
			RetryAfter: seconds(t, 20, "retry after"),
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		calls := rapid.SliceOfN(one, 1, 30).Draw(rt, "calls")
		var left []int
		most := 0
		synctest.Test(t, func(t *testing.T) {
			l := limiter(t, Bounds{Calls: 3, Models: map[string]int{"b": 2}, Wait: 15 * time.Second})
			most = atOnce(t, l, calls)
			p := l.providers["p"]
			left = []int{p.all.running, p.model("a").running, p.model("b").running, p.waiting, len(p.lines)}
		})
		if diff := cmp.Diff([]int{0, 0, 0, 0, 0}, left); diff != "" || most > 3 {
			rt.Fatalf("%d at once; that run, of a, of b, that wait, lines: %s", most, diff)
		}
	})
}

// atOnce makes the calls and returns how many ran at once.
func atOnce(t *testing.T, l *Limiter, calls []ended) int {
	var wg sync.WaitGroup
	var mu sync.Mutex
	running, most := 0, 0
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		running += n
		most = max(most, running)
	}
	for _, e := range calls {
		wg.Go(func() {
			time.Sleep(e.After)
			ctx, cancel := context.WithTimeout(t.Context(), e.Cancel)
			defer cancel()
			m := l.Model("p", e.Model, stream(func(ctx context.Context, yield func(model.Chunk, error) bool) {
				count(1)
				defer count(-1)
				e.reply(ctx, yield)
			}))
			for c, err := range m.Stream(ctx, model.Request{Session: pawl.SessionID(e.Group)}) {
				if err == nil && c.Kind != model.ChunkNotice && e.Breaks {
					break
				}
			}
		})
	}
	wg.Wait()
	return most
}

// reply is what the model does.
func (e ended) reply(ctx context.Context, yield func(model.Chunk, error) bool) {
	if !yield(model.Chunk{Kind: model.ChunkText, Text: "a"}, nil) {
		return
	}
	select {
	case <-time.After(e.Takes):
	case <-ctx.Done():
		yield(model.Chunk{}, ctx.Err())
		return
	}
	if e.Kind != "" {
		yield(model.Chunk{}, &model.ProviderError{Kind: e.Kind, RetryAfter: e.RetryAfter})
		return
	}
	yield(model.Chunk{Kind: model.ChunkFinish}, nil)
}

// stream is a model made of a function.
type stream func(ctx context.Context, yield func(model.Chunk, error) bool)

func (s stream) Stream(ctx context.Context, _ model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) { s(ctx, yield) }
}

// limiter is one with bounds for the provider p.
func limiter(t *testing.T, b Bounds) *Limiter {
	t.Helper()
	l, err := New(map[string]Bounds{"p": b})
	if err != nil {
		t.Fatal(err)
	}
	return l
}
