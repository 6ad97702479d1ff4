package mcpclient

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl/internal/security/egress/egresstest"
)

// listenerIn records what reaches another origin.
type listenerIn struct {
	mu  sync.Mutex
	got strings.Builder
}

func (l *listenerIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(&l.got, "%s %s key=%q %s\n", r.Method, r.URL, r.Header.Get("X-Key"), body)
	w.WriteHeader(http.StatusNotFound)
}

func http307(w http.ResponseWriter, r *http.Request, to string) {
	http.Redirect(w, r, to, http.StatusTemporaryRedirect)
}

// leaked has a server with a key in its headers lead elsewhere, and returns what
// came there.
func leaked(t *testing.T, transport string, lead func(w http.ResponseWriter, r *http.Request, to string)) string {
	t.Helper()
	n := egresstest.New(t)
	thief := &listenerIn{}
	n.Site("thief.test", thief)
	n.Site("good.test", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { lead(w, r, "https://thief.test/mcp") }))
	set := New(Config{times: quick, Guard: n.Guard()})
	defer set.Close()
	s := Server{Name: "fake", Transport: transport, URL: "https://good.test/mcp", Headers: map[string]string{"X-Key": "secret"}}
	status, err := set.Test(t.Context(), t.TempDir(), s)
	if err != nil || status.State != Failed {
		t.Errorf("%+v, %v", status, err)
	}
	thief.mu.Lock()
	defer thief.mu.Unlock()
	return thief.got.String()
}

// Headers and messages reach the server's own origin and no other, whatever the
// server answers.
func TestRedirects(t *testing.T) {
	t.Parallel()
	redirect := func(code int) func(http.ResponseWriter, *http.Request, string) {
		return func(w http.ResponseWriter, r *http.Request, to string) { http.Redirect(w, r, to, code) }
	}
	for name, lead := range map[string]func(http.ResponseWriter, *http.Request, string){
		"301": redirect(301), "302": redirect(302), "303": redirect(303), "307": http307, "308": redirect(308),
		"to http": func(w http.ResponseWriter, r *http.Request, to string) {
			http307(w, r, strings.Replace(to, "https:", "http:", 1))
		},
		"to another port": func(w http.ResponseWriter, r *http.Request, _ string) { http307(w, r, "https://good.test:8443/mcp") },
		"endpoint": func(w http.ResponseWriter, _ *http.Request, to string) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", to)
		},
		"loop": func(w http.ResponseWriter, r *http.Request, _ string) { http307(w, r, "/mcp") },
	} {
		for _, transport := range []string{HTTP, SSE} {
			if got := leaked(t, transport, lead); got != "" {
				t.Errorf("%s over %s: the other origin got %s", name, transport, got)
			}
		}
	}
}

// A redirect within the origin is followed.
func TestRedirectWithin(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	server := newServer("good", nil)
	mcp := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server.Server }, &sdk.StreamableHTTPOptions{DisableLocalhostProtection: true})
	n.Site("good.test", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("X-Key") != "secret":
			w.WriteHeader(http.StatusForbidden)
		case r.URL.Path == "/old":
			http307(w, r, "/mcp")
		default:
			mcp.ServeHTTP(w, r)
		}
	}))
	set := New(Config{times: quick, Guard: n.Guard()})
	defer set.Close()
	s := Server{Name: "fake", Transport: HTTP, URL: "https://good.test/old", Headers: map[string]string{"X-Key": "secret"}}
	if status, err := set.Test(t.Context(), t.TempDir(), s); err != nil || status.State != Ready {
		t.Errorf("%+v, %v", status, err)
	}
}

// This machine and its network are reached only if the entry says so.
func TestLocal(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.NotFoundHandler())
	defer site.Close()
	n := egresstest.New(t)
	n.Name("inside.test", "10.0.0.1")
	n.Name("loop.test", "127.0.0.1")
	n.Name("localhost", "127.0.0.1")
	for _, address := range []string{"https://inside.test/", "https://loop.test/", "https://127.0.0.1/", "https://169.254.169.254/", "https://localhost:8443/"} {
		for _, local := range []bool{false, true} {
			if local && !strings.Contains(address, "169.254") {
				continue
			}
			set := New(Config{times: quick, Guard: n.Guard()})
			status, err := set.Test(t.Context(), t.TempDir(), Server{Name: "fake", Transport: HTTP, URL: address, Local: local})
			if err != nil || status.State != Failed || !strings.Contains(status.Why, "denied") {
				t.Errorf("%s: %+v, %v", address, status, err)
			}
			set.Close()
		}
	}
	if d := n.Dialed(); len(d) > 0 {
		t.Errorf("connected to %v", d)
	}
	if (Server{Name: "fake", Transport: HTTP, URL: site.URL}).Check() == nil {
		t.Error("http without a word of the user's is taken")
	}
}
