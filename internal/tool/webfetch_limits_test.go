package tool

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl/internal/security/egress"
	"github.com/pawl-dev/pawl/internal/security/egress/egresstest"
)

func init() {
	limits["FetchBytes"] = func(t *testing.T) {
		for extra, note := range map[int]string{0: "", 1: fmt.Sprintf("; cut: it is larger than %d bytes", FetchBytes)} {
			got, err := fetched(t, typed("text/plain", strings.Repeat("x", FetchBytes+extra)), "")
			checkError(t, err, "")
			head, _, text := untrusted(t, got.Content)
			if head != "https://a.test/dir/page: 200 OK, text/plain"+note || len(text) != FetchBytes {
				t.Errorf("%d bytes more: %q, %d bytes", extra, head, len(text))
			}
		}
		_, err := fetched(t, typed("application/pdf", samplePDF+strings.Repeat(" ", FetchBytes)), "")
		checkError(t, err, "it is a PDF of more than 5242880 bytes")
		got, err := fetched(t, typed("text/plain; charset=iso-8859-1", strings.Repeat("\xe4", FetchBytes)), "") // twice as long in UTF-8
		checkError(t, err, "")
		if _, _, text := untrusted(t, got.Content); !strings.HasSuffix(text, "ä\n\n(cut: its text is longer than 5242880 bytes)") || len(text) > FetchBytes+100 {
			t.Errorf("%d bytes", len(text))
		}
	}
	limits["FetchTimeout"] = func(t *testing.T) {
		for seconds, want := range map[int]time.Duration{0: FetchTimeout, 1: time.Second, 120: FetchMaxTime} {
			if got := (webfetchInput{Timeout: seconds}).timeout(); got != want {
				t.Errorf("timeout %d is %s, want %s", seconds, got, want)
			}
		}
		if schema := string(WebFetch(&egress.Guard{}).Schema); !strings.Contains(schema, fmt.Sprintf("%.0f if left out, at most %.0f", FetchTimeout.Seconds(), FetchMaxTime.Seconds())) {
			t.Errorf("the model is told otherwise: %s", schema)
		}
	}
	limits["FetchMaxTime"] = func(t *testing.T) {
		for seconds, says := range map[int]string{120: "", 121: "timeout must be between 0 and 120 seconds"} {
			_, err := WebFetch(&egress.Guard{}).Access(t.Context(), call("", fmt.Sprintf(`{"url":"https://a.test","timeout":%d}`, seconds)))
			checkError(t, err, says)
		}
	}
	limits["FetchRedirects"] = func(t *testing.T) {
		for jumps, says := range map[int]string{FetchRedirects: "", FetchRedirects + 1: "more than 5 redirects"} {
			_, err := fetchURL(t, jumping(t, "a.test"), fmt.Sprintf("https://a.test/down/%d", jumps))
			checkError(t, err, says)
		}
	}
}

// bomb answers with a gigabyte, packed.
type bomb struct{ member []byte }

const gigabyte = 1 << 30

func newBomb(t *testing.T) *bomb {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(bytes.Repeat([]byte("0"), 16<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &bomb{b.Bytes()}
}

func (b *bomb) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Encoding", "gzip")
	for range gigabyte / (16 << 20) {
		if _, err := w.Write(b.member); err != nil {
			return
		}
	}
}

func TestGzipBomb(t *testing.T) { //nolint:paralleltest // it measures memory
	handler := newBomb(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := fetched(t, handler, "")
	runtime.ReadMemStats(&after)
	checkError(t, err, "")
	head, _, text := untrusted(t, got.Content)
	if !strings.HasSuffix(head, "; cut: it is larger than 5242880 bytes") || len(text) != FetchBytes {
		t.Errorf("%q, %d bytes", head, len(text))
	}
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 150 {
		t.Errorf("%d MiB were allocated for a page of %d", used, FetchBytes>>20)
	}
}

func TestWebFetchTimeout(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Site("slow.test", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "a beginning")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	_, err := try(t.Context(), WebFetch(n.Guard()), call("", `{"url":"https://slow.test/","timeout":1}`))
	checkError(t, err, "fetch https://slow.test/: it took longer than 1s")
}

// stalled is a resolver or dialer that does not come back.
type stalled struct{ reached func() }

func (s stalled) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	s.reached()
	<-ctx.Done()
	return nil, ctx.Err()
}

func (s stalled) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	s.reached()
	<-ctx.Done()
	return nil, ctx.Err()
}

// mute takes connections and says nothing.
func mute(t *testing.T, reached func()) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer conn.Close()
				buf := make([]byte, 1024)
				for {
					if _, err := conn.Read(buf); err != nil {
						return
					}
					reached() // what was said is heard, and not answered
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		open.Wait()
	})
	return l.Addr().String()
}

func TestContract_R14_WebFetchIsCanceled(t *testing.T) { //nolint:paralleltest // it counts goroutines
	current := goleak.IgnoreCurrent()
	hangs := func(begin string) func(*testing.T, *egresstest.Net, *egress.Guard, func()) {
		return func(_ *testing.T, n *egresstest.Net, _ *egress.Guard, reached func()) {
			n.Serve("93.184.216.34:443", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if begin != "" {
					fmt.Fprint(w, begin)
					_ = http.NewResponseController(w).Flush()
				}
				reached()
				<-r.Context().Done()
				panic(http.ErrAbortHandler) // an answer that ends as it should might still be read
			}))
		}
	}
	phases := map[string]func(t *testing.T, n *egresstest.Net, g *egress.Guard, reached func()){
		"resolve": func(_ *testing.T, _ *egresstest.Net, g *egress.Guard, reached func()) { g.Resolver = stalled{reached} },
		"connect": func(_ *testing.T, _ *egresstest.Net, g *egress.Guard, reached func()) { g.Dial = stalled{reached}.dial },
		"TLS": func(t *testing.T, n *egresstest.Net, _ *egress.Guard, reached func()) {
			n.Listen("93.184.216.34:443", mute(t, reached))
		},
		"header": hangs(""),
		"body":   hangs("a beginning"),
		"conversion": func(_ *testing.T, n *egresstest.Net, _ *egress.Guard, reached func()) {
			n.Serve("93.184.216.34:443", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, strings.Repeat("<ul><li><table><tr><td><b>x</b>", FetchBytes/30))
				reached() // it is all on its way
			}))
		},
	}
	for name, prepare := range phases {
		t.Run(name, func(t *testing.T) {
			n := egresstest.New(t)
			n.Name("a.test", "93.184.216.34")
			guard := n.Guard()
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("why")
			var once sync.Once
			var canceled time.Time
			prepare(t, n, guard, func() {
				once.Do(func() {
					canceled = time.Now()
					cancel(why)
				})
			})
			_, err := try(ctx, WebFetch(guard), call("", `{"url":"https://a.test/"}`))
			if !errors.Is(err, why) {
				t.Errorf("got %v, want the cause", err)
			}
			if took := time.Since(canceled); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
	goleak.VerifyNone(t, current)
}
