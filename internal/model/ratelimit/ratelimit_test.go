package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

func TestBounds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		Bounds
		says string
	}{
		{"the defaults", Bounds{}, ""},
		{"all", Bounds{Calls: 1000, Models: map[string]int{"a": 1}, Wait: 24 * time.Hour}, ""},
		{"less than none", Bounds{Calls: -1}, "providers.p.calls.max: -1: use 1 to 1000"},
		{"too many", Bounds{Calls: 1001}, "providers.p.calls.max: 1001"},
		{"a model that may not be asked", Bounds{Models: map[string]int{"a": 0}}, "providers.p.calls.models.a: 0"},
		{"a model with too many", Bounds{Models: map[string]int{"a": 1001}}, "providers.p.calls.models.a: 1001"},
		{"a wait before now", Bounds{Wait: -time.Second}, "providers.p.calls.wait: -1: use 1 to 86400"},
		{"a wait for days", Bounds{Wait: 25 * time.Hour}, "providers.p.calls.wait: 90000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(map[string]Bounds{"p": tt.Bounds})
			switch {
			case tt.says == "" && err != nil:
				t.Error(err)
			case tt.says != "" && (!errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), tt.says)):
				t.Errorf("got %v, want ErrInvalid that says %q", err, tt.says)
			}
		})
	}
}

// TestShared: names lead to the same slots, and a model has its own bound within
// the provider's.
func TestShared(t *testing.T) {
	t.Parallel()
	l := limiter(t, Bounds{Calls: 4, Models: map[string]int{"a": 2, "b": 9}})
	a, again, b, c := l.Model("p", "a", nil), l.Model("p", "a", nil), l.Model("p", "b", nil), l.Model("p", "c", nil)
	other := l.Model("q", "a", nil)
	got := []any{a.pool == again.pool, a.pool == other.pool, a.provider == c.provider, a.pool.limit, b.pool.limit, c.pool.limit, a.provider.all.limit, other.pool.limit}
	if diff := cmp.Diff([]any{true, false, true, 2, 4, 4, 4, DefaultCalls}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !l.Bounded("p") || l.Bounded("q") {
		t.Error("p is bounded by the user, q is not")
	}
}

// hung is a model that says a word and hangs until ctx ends.
var hung = stream(func(ctx context.Context, yield func(model.Chunk, error) bool) {
	if yield(model.Chunk{Kind: model.ChunkText, Text: "a"}, nil) {
		<-ctx.Done()
		yield(model.Chunk{}, ctx.Err())
	}
})

// answers is a model that takes a time and fails, or does not if kind is "".
func answers(takes time.Duration, kind pawl.ErrorKind, retryAfter time.Duration) model.Model {
	return stream(ended{Takes: takes, Kind: kind, RetryAfter: retryAfter}.reply)
}

// read reads a stream to its end.
func read(ctx context.Context, m model.Model, req model.Request) (notices []string, err error) {
	for c, e := range m.Stream(ctx, req) {
		if c.Kind == model.ChunkNotice {
			notices = append(notices, c.Text)
		}
		err = e
	}
	return notices, err
}

// TestAlwaysGivenBack: in whatever way a call ends, the next one has its slots.
func TestAlwaysGivenBack(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *Limiter){
		"whole": func(t *testing.T, l *Limiter) {
			if _, err := read(t.Context(), l.Model("p", "a", answers(0, "", 0)), model.Request{}); err != nil {
				t.Error(err)
			}
		},
		"failed": func(t *testing.T, l *Limiter) {
			_, err := read(t.Context(), l.Model("p", "a", answers(0, pawl.ErrorServer, 0)), model.Request{})
			var failure *model.ProviderError
			if !errors.As(err, &failure) || failure.Kind != pawl.ErrorServer {
				t.Errorf("got %v", err)
			}
		},
		"the reader has enough": func(t *testing.T, l *Limiter) {
			for range l.Model("p", "a", hung).Stream(t.Context(), model.Request{}) {
				break
			}
		},
		"the reader panics": func(t *testing.T, l *Limiter) {
			defer func() {
				if recover() == nil {
					t.Error("the panic is gone")
				}
			}()
			for range l.Model("p", "a", hung).Stream(t.Context(), model.Request{}) {
				panic("at the first word")
			}
		},
		"the model panics": func(t *testing.T, l *Limiter) {
			defer func() { _ = recover() }()
			_, _ = read(t.Context(), l.Model("p", "a", stream(func(context.Context, func(model.Chunk, error) bool) { panic("no model") })), model.Request{})
		},
		"the goroutine ends": func(t *testing.T, l *Limiter) {
			var wg sync.WaitGroup
			wg.Go(func() {
				for range l.Model("p", "a", hung).Stream(t.Context(), model.Request{}) {
					runtime.Goexit()
				}
			})
			wg.Wait()
		},
		"canceled while it runs": func(t *testing.T, l *Limiter) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := read(ctx, l.Model("p", "a", hung), model.Request{}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		},
		"canceled while it waits": func(t *testing.T, l *Limiter) {
			whileBusy(t, l, func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				began := time.Now()
				_, err := read(ctx, l.Model("p", "a", hung), model.Request{})
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
					t.Errorf("after %s: %v", time.Since(began), err)
				}
			})
		},
		"the reader has enough while it waits": func(t *testing.T, l *Limiter) {
			whileBusy(t, l, func() {
				for c := range l.Model("p", "a", hung).Stream(t.Context(), model.Request{}) {
					if c.Kind != model.ChunkNotice {
						t.Errorf("it did not wait: %+v", c)
					}
					break
				}
			})
		},
		"the reader panics while it waits": func(t *testing.T, l *Limiter) {
			whileBusy(t, l, func() {
				defer func() { _ = recover() }()
				for range l.Model("p", "a", hung).Stream(t.Context(), model.Request{}) {
					panic("at the notice")
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := limiter(t, Bounds{Calls: 1})
				end(t, l)
				p := l.providers["p"]
				got := []int{p.all.running, p.models["a"].running, p.waiting, len(p.lines)}
				if diff := cmp.Diff([]int{0, 0, 0, 0}, got); diff != "" {
					t.Errorf("that run, of the model, that wait, lines (-want +got):\n%s", diff)
				}
				began := time.Now()
				if _, err := read(t.Context(), l.Model("p", "a", answers(0, "", 0)), model.Request{}); err != nil || time.Since(began) != 0 {
					t.Errorf("the next call took %s: %v", time.Since(began), err)
				}
			})
		})
	}
}

// whileBusy does something while another call has the slot.
func whileBusy(t *testing.T, l *Limiter, do func()) {
	t.Helper()
	for range l.Model("p", "a", hung).Stream(t.Context(), model.Request{Session: "busy"}) {
		do()
		break
	}
}

// TestWaitHasABound: a person learns after a moment, and the call fails when
// the time is over, with what to do next.
func TestWaitHasABound(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		wait    time.Duration // 0: the default
		took    time.Duration
		notices []string
		says    string
	}{
		{"by default", 0, 10 * time.Minute, []string{"waiting to call p/a: 1 of 1 calls to p/a running, 1 waiting"}, "the call to p/a could not start within 10m0s: 1 of 1 calls to p/a running, 1 waiting; try again later, or raise providers.p.calls"},
		{"before a person is told", time.Second, time.Second, nil, "within 1s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := limiter(t, Bounds{Calls: 1, Wait: tt.wait})
				whileBusy(t, l, func() {
					began := time.Now()
					notices, err := read(t.Context(), l.Model("p", "a", hung), model.Request{})
					var full *FullError
					var failure *model.ProviderError
					if !errors.As(err, &full) || !errors.As(err, &failure) || failure.Kind != pawl.ErrorRateLimited || !strings.Contains(err.Error(), tt.says) {
						t.Errorf("got %v, want a rate limit that says %q", err, tt.says)
					}
					if diff := cmp.Diff(tt.notices, notices); diff != "" || time.Since(began) != tt.took {
						t.Errorf("after %s, want %s: %s", time.Since(began), tt.took, diff)
					}
				})
			})
		})
	}
}

// TestQueueHasABound: whoever comes when too many wait fails at once.
func TestQueueHasABound(t *testing.T) {
	t.Parallel()
	p := newProvider("p", Bounds{Calls: 1})
	m := p.model("a")
	for i := range 1 + mostWaiting {
		if _, err := p.enter(m, pawl.SessionID(fmt.Sprint(i))); err != nil {
			t.Fatal(i, err)
		}
	}
	var full *FullError
	if _, err := p.enter(m, "late"); !errors.As(err, &full) || !strings.Contains(err.Error(), "1000 calls are already waiting") {
		t.Errorf("got %v", err)
	}
}

// TestPause: no call to a model begins before the provider wants it; others do.
func TestPause(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		kind  pawl.ErrorKind
		asks  time.Duration
		model string // of the next call
		waits time.Duration
	}{
		{"rate limited", pawl.ErrorRateLimited, 30 * time.Second, "a", 30 * time.Second},
		{"overloaded", pawl.ErrorOverloaded, 30 * time.Second, "a", 30 * time.Second},
		{"another model", pawl.ErrorRateLimited, 30 * time.Second, "b", 0},
		{"it does not say how long", pawl.ErrorRateLimited, 0, "a", 0},
		{"as long as can be", pawl.ErrorRateLimited, mostPause, "a", mostPause},
		{"a day: it is out of service", pawl.ErrorRateLimited, 24 * time.Hour, "a", 0},
		{"another failure", pawl.ErrorServer, 30 * time.Second, "a", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := limiter(t, Bounds{Wait: time.Hour})
				_, _ = read(t.Context(), l.Model("p", "a", answers(0, tt.kind, tt.asks)), model.Request{})
				began := time.Now()
				notices, err := read(t.Context(), l.Model("p", tt.model, answers(0, "", 0)), model.Request{})
				if err != nil || time.Since(began) != tt.waits {
					t.Errorf("it began after %s, want %s: %v", time.Since(began), tt.waits, err)
				}
				if said := strings.Join(notices, "\n"); strings.Contains(said, "asked to wait") != (tt.waits > 0) {
					t.Errorf("the person is told %q", said)
				}
			})
		})
	}
}

// TestLimitFollowsAnswers: the limit of a provider and of a model by what calls
// at once come to.
func TestLimitFollowsAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := limiter(t, Bounds{Calls: 8, Models: map[string]int{"b": 4}})
		all := func(n int, name string, kind pawl.ErrorKind) {
			var wg sync.WaitGroup
			for range n {
				wg.Go(func() { _, _ = read(t.Context(), l.Model("p", name, answers(time.Second, kind, 0)), model.Request{}) })
			}
			wg.Wait()
		}
		var got [][3]int
		for _, step := range []struct {
			n     int
			model string
			kind  pawl.ErrorKind
		}{
			{8, "a", pawl.ErrorRateLimited}, // one cut for all of them
			{1, "b", pawl.ErrorOverloaded},
			{1, "b", pawl.ErrorServer}, // says nothing
			{2, "b", ""},
			{20, "a", ""},
		} {
			all(step.n, step.model, step.kind)
			p := l.providers["p"]
			got = append(got, [3]int{p.all.limit, p.model("a").limit, p.model("b").limit})
		}
		want := [][3]int{{4, 4, 4}, {2, 4, 2}, {2, 4, 2}, {3, 4, 3}, {7, 7, 3}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("limits of p, a, b (-want +got):\n%s", diff)
		}
	})
}

// TestTurns: twenty workers of a mission, which ask again as soon as they can, and
// one person. Of the mission at most one call begins before the person's, each time.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := limiter(t, Bounds{Calls: 1}) // so the order in which calls begin is known
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		var begun []string
		m := func(who string) model.Model {
			return l.Model("p", "a", stream(func(ctx context.Context, yield func(model.Chunk, error) bool) {
				mu.Lock()
				begun = append(begun, who)
				mu.Unlock()
				ended{Takes: 10 * time.Second}.reply(ctx, yield)
			}))
		}
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				for ctx.Err() == nil {
					_, _ = read(ctx, m("worker"), model.Request{Session: pawl.SessionID(fmt.Sprint(i)), Parent: "mission"})
				}
			})
		}
		time.Sleep(95 * time.Second)
		for range 5 {
			synctest.Wait() // one of the workers' runs
			mu.Lock()
			begun = nil
			mu.Unlock()
			if _, err := read(ctx, m("person"), model.Request{Session: "person"}); err != nil {
				t.Error(err)
			}
			mu.Lock()
			if before := slices.Index(begun, "person"); before > 1 {
				t.Errorf("%d workers began before the person: %q", before, begun)
			}
			mu.Unlock()
		}
		cancel()
		wg.Wait()
	})
}

// BenchmarkSlot is what a call pays that need not wait.
func BenchmarkSlot(b *testing.B) {
	p := newProvider("p", Bounds{})
	m := p.model("a")
	b.ReportAllocs()
	for b.Loop() {
		c, err := p.enter(m, "s")
		if err != nil {
			b.Fatal(err)
		}
		c.leave(outcome{good: true})
	}
}

// BenchmarkCrowded is what a call pays that takes its turn among 20 groups.
func BenchmarkCrowded(b *testing.B) {
	p := newProvider("p", Bounds{Calls: 1})
	m := p.model("a")
	queue := make(chan *call, 64)
	enter := func(i int) {
		c, err := p.enter(m, pawl.SessionID(rune('a'+i%20)))
		if err != nil {
			b.Fatal(err)
		}
		queue <- c
	}
	for i := range 20 {
		enter(i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		(<-queue).leave(outcome{good: true})
		enter(i)
	}
}
