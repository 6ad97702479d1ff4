package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/anthropic"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	"github.com/pawl-dev/pawl/internal/model/protocol"
	"github.com/pawl-dev/pawl/internal/model/ratelimit"
	"github.com/pawl-dev/pawl/internal/model/script"
)

// limitedServer is a provider that accepts a number of concurrent requests, and rejects others.
type limitedServer struct {
	http.Handler
	size  int
	fault string // of those that are refused

	mu           sync.Mutex
	inside, most int
	refusals     int
}

func (r *limitedServer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	leave := r.enter()
	if leave == nil {
		req.Header.Set(fakeprovider.FaultHeader, r.fault)
		leave = func() {}
	}
	defer leave()
	r.Handler.ServeHTTP(&closing{w, leave}, req)
}

// enter returns what to do at the end, or nil if there is no space.
func (r *limitedServer) enter() func() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inside == r.size {
		r.refusals++
		return nil
	}
	r.inside++
	r.most = max(r.most, r.inside)
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.inside--
	})
}

// closing frees space before the client can know that its reply is whole.
type closing struct {
	http.ResponseWriter
	leave func()
}

func (c *closing) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("message_stop")) {
		c.leave()
	}
	return c.ResponseWriter.Write(b)
}

func (c *closing) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// pipes is a network in memory, which lives by the clock of a test.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Addr() net.Addr { return &net.IPAddr{} }

func (p *pipes) Close() error {
	close(p.done)
	return nil
}

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p.conns <- there
	return here, nil
}

// serve starts a provider and returns a client for it.
func serve(t *testing.T, h http.Handler) (client *http.Client, stop func()) {
	t.Helper()
	network := &pipes{make(chan net.Conn), make(chan struct{})}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Hour}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := server.Serve(network); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	transport := &http.Transport{DialContext: network.dial}
	return &http.Client{Transport: transport}, func() {
		transport.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	}
}

// rush is the result of many sessions at once.
type rush struct {
	Whole, Failed, Refusals int
	Most                    int           // requests at once
	took                    time.Duration // by the test's clock
}

// TestTwentySessions: a mission's twenty workers, five calls each, at a provider
// that bears three at a time and refuses more. Without slots most requests are in
// vain, and calls fail permanently; with them all end well. The protocol, the server
// and the retries are the real ones; the clock is the test's.
func TestTwentySessions(t *testing.T) {
	t.Parallel()
	const sessions, calls, size = 20, 5, 3
	for _, fault := range []string{"429", "429:2", "529"} {
		t.Run(fault, func(t *testing.T) {
			off := rushed(t, nil, fault, sessions, calls, size)
			on := rushed(t, map[string]ratelimit.Bounds{}, fault, sessions, calls, size)
			known := rushed(t, map[string]ratelimit.Bounds{"p": {Calls: size}}, fault, sessions, calls, size)
			t.Logf("%d calls, %d at once at most: without slots %d requests were refused and %d calls failed in %s; with the default of %d, %d in %s; with %d configured, %d in %s",
				sessions*calls, size, off.Refusals, off.Failed, off.took, ratelimit.DefaultCalls, on.Refusals, on.took, size, known.Refusals, known.took)
			if on.Whole != sessions*calls || on.Failed != 0 {
				t.Errorf("with slots %d calls were whole and %d failed", on.Whole, on.Failed)
			}
			if off.Refusals < 3*on.Refusals {
				t.Errorf("with slots %d were refused, without %d", on.Refusals, off.Refusals)
			}
			if diff := cmp.Diff(rush{Whole: sessions * calls, Most: size}, known, cmpopts.IgnoreUnexported(rush{})); diff != "" {
				t.Errorf("where the limit is known (-want +got):\n%s", diff)
			}
		})
	}
}

// rushed lets the sessions work. Without bounds there are no slots.
func rushed(t *testing.T, bounds map[string]ratelimit.Bounds, fault string, sessions, calls, size int) (got rush) {
	path := filepath.Join(t.TempDir(), "script.jsonl")
	if err := os.WriteFile(path, []byte(`{"text":"one two three four","deltas":4,"delay_ms":500}`), 0o600); err != nil {
		t.Fatal(err)
	}
	lines, err := fakeprovider.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		provider := &limitedServer{Handler: fakeprovider.Handler(lines, fakeprovider.Config{}), size: size, fault: fault}
		client, stop := serve(t, provider)
		defer stop()
		var m model.Model = &anthropic.Client{Model: "m", Endpoint: protocol.Endpoint{
			BaseURL: "http://p", Client: client, Header: http.Header{"Anthropic-Version": {anthropic.Version}},
		}}
		if bounds != nil {
			limiter, err := ratelimit.New(bounds)
			if err != nil {
				t.Fatal(err)
			}
			m = limiter.Model("p", "m", m)
		}
		p := retrying{models: []named{{"m", m}}}
		began := time.Now()
		var wg sync.WaitGroup
		var mu sync.Mutex
		for i := range sessions {
			wg.Go(func() {
				id := pawl.SessionID(fmt.Sprint(i))
				for range calls {
					err := drain(t.Context(), p, model.Request{Session: id, Parent: "mission", Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: "go " + string(id)}}}}})
					mu.Lock()
					if err == nil {
						got.Whole++
					} else {
						got.Failed++
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		got.took = time.Since(began).Round(time.Second)
		got.Refusals, got.Most = provider.refusals, provider.most
	})
	return got
}

// drain reads a stream to its end.
func drain(ctx context.Context, m model.Model, req model.Request) error {
	for _, err := range m.Stream(ctx, req) {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestRetryWaitsWithoutASlot: while one call waits to be made again, another has
// its slot.
func TestRetryWaitsWithoutASlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter, err := ratelimit.New(map[string]ratelimit.Bounds{"p": {Calls: 1}})
		if err != nil {
			t.Fatal(err)
		}
		first := retrying{models: []named{{"m", limiter.Model("p", "m", &answers{list: []answer{failed(pawl.ErrorServer), {chunks: hello}}})}}}
		second := retrying{models: []named{{"m", limiter.Model("p", "m", &answers{list: []answer{{chunks: hello}}})}}}
		began := time.Now()
		for c, err := range first.Stream(t.Context(), model.Request{Session: "a"}) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Kind == model.ChunkRetry {
				if err := drain(t.Context(), second, model.Request{Session: "b"}); err != nil || time.Since(began) != 0 {
					t.Errorf("after %s: %v", time.Since(began), err)
				}
			}
		}
	})
}

// TestFullIsNotRetried: a call that has waited for its turn in vain turns to the
// next model, and does not wait as long again.
func TestFullIsNotRetried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter, err := ratelimit.New(map[string]ratelimit.Bounds{"p": {Calls: 1, Wait: time.Minute}})
		if err != nil {
			t.Fatal(err)
		}
		busy := limiter.Model("p", "m", &answers{list: []answer{{chunks: hello}}})
		for range busy.Stream(t.Context(), model.Request{Session: "busy"}) { // it has the slot
			alone, other := retrying{models: []named{{"m", busy}}}, &answers{list: []answer{{chunks: hello}}}
			began := time.Now()
			err := drain(t.Context(), alone, model.Request{Session: "a"})
			var failure *model.ProviderError
			if !errors.As(err, &failure) || failure.Kind != pawl.ErrorRateLimited || time.Since(began) != time.Minute {
				t.Errorf("after %s: %v", time.Since(began), err)
			}
			if err := drain(t.Context(), retrying{models: append(alone.models, named{"other", other})}, model.Request{Session: "a"}); err != nil || other.calls != 1 {
				t.Errorf("%d calls of the other: %v", other.calls, err)
			}
			break
		}
	})
}

// TestOpenedModelsAreLimited: all names of a provider's models lead to its slots,
// on a real connection.
func TestOpenedModelsAreLimited(t *testing.T) {
	t.Parallel()
	fault := fakeprovider.Fault{Kind: fakeprovider.KindHang}
	server := modeltest.StartFake(t, fakeprovider.Config{Fault: func(int, *http.Request) fakeprovider.Fault { return fault }}, `{"text":"one two three four","deltas":4}`)
	limiter, err := ratelimit.New(map[string]ratelimit.Bounds{"anthropic": {Calls: 2, Models: map[string]int{"claude-sonnet-4-5": 1}, Wait: time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	o := &Opener{Config: Config{
		Catalog:   func() (*catalog.Catalog, error) { return catalog.Open("") },
		Key:       func(catalog.Provider) (string, error) { return "a-key", nil },
		Endpoints: map[string]Endpoint{"anthropic": {BaseURL: server.URL}},
		RateLimit: limiter,
	}}
	ask := model.Request{Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: "go"}}}}}
	// begin calls a model, and does something once its reply has begun.
	begin := func(ref string, then func()) (err error) {
		m, err := o.Open(ref)
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range m.Stream(t.Context(), ask) {
			switch {
			case err != nil:
				return err
			case c.Kind == model.ChunkText:
				then()
				return nil
			}
		}
		return errors.New("it ended")
	}
	refused := func(ref string) {
		t.Helper()
		var failure *model.ProviderError
		if err := begin(ref, func() {}); !errors.As(err, &failure) || failure.Kind != pawl.ErrorRateLimited {
			t.Errorf("%s: %v", ref, err)
		}
	}
	for range 2 { // the second time all slots are back
		err := begin("anthropic/claude-sonnet-4-5", func() {
			refused("anthropic/claude-sonnet-4-5-20250929") // the same model by another name
			if err := begin("haiku", func() { refused("opus") }); err != nil {
				t.Error(err)
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestScripts: nobody limits a script but the user.
func TestScripts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "script.jsonl")
	if err := os.WriteFile(path, []byte(`{"text":"a","delay_ms":1000}`+"\n"+`{"agent":"title","text":"a title"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		bounds map[string]ratelimit.Bounds
		took   time.Duration
	}{
		"by itself":  {nil, time.Second},
		"configured": {map[string]ratelimit.Bounds{"script": {Calls: 2}}, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limiter, err := ratelimit.New(tt.bounds)
				if err != nil {
					t.Fatal(err)
				}
				o := &Opener{Config: Config{RateLimit: limiter}}
				m, err := o.Open("script:" + path)
				if err != nil {
					t.Fatal(err)
				}
				if _, plain := m.(*script.Model); plain != (tt.bounds == nil) {
					t.Errorf("got a %T", m)
				}
				began := time.Now()
				var wg sync.WaitGroup
				for i := range 6 {
					wg.Go(func() {
						if err := drain(t.Context(), m, model.Request{Session: pawl.SessionID(fmt.Sprint(i))}); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				if took := time.Since(began); took != tt.took {
					t.Errorf("six calls of a second took %s, want %s", took, tt.took)
				}
				small, err := o.Small("script:" + path)
				if _, werr := o.Window("script:" + path); small != "script:"+path || err != nil || werr != nil {
					t.Errorf("its small model is %q: %v, %v", small, err, werr)
				}
			})
		})
	}
}
