package websearch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config/auth"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/egress/egresstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noRing is a machine without a keyring.
type noRing struct{}

func (noRing) Get(string) (auth.Secret, error) { return "", auth.ErrNoKeyring }
func (noRing) Set(string, auth.Secret) error   { return auth.ErrNoKeyring }
func (noRing) Delete(string) error             { return auth.ErrNoKeyring }
func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func opener(t *testing.T, n *egresstest.Net, vars map[string]string) Opener {
	t.Helper()
	keys := &auth.Keys{Getenv: env(vars), Ring: noRing{}, File: filepath.Join(t.TempDir(), "keys.json")}
	return Opener{Guard: n.Guard(), Keys: keys, Getenv: env(vars)}
}

// request is what a service was asked.
type request struct {
	Method, URL, Key string
	Body             any
}

// service answers with a file of testdata and keeps what it was asked.
func service(t *testing.T, file, keyHeader string, got *request) http.Handler {
	t.Helper()
	answer, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*got = request{Method: r.Method, URL: r.Host + r.URL.String(), Key: r.Header.Get(keyHeader)}
		if len(body) > 0 {
			if err := json.Unmarshal(body, &got.Body); err != nil {
				t.Errorf("%v in %s", err, body)
			}
		}
		_, _ = w.Write(answer)
	})
}

func TestServices(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	tests := []struct {
		name, host, file, header string
		open                     func(Opener) (*Service, error)
		query                    Query
		asked                    request
		want                     []Hit
	}{
		{
			"exa", "api.exa.ai", "exa.json", "X-Api-Key",
			func(o Opener) (*Service, error) { return o.Web(Config{Service: "exa"}) },
			Query{Text: "go generics & more", Count: 3},
			request{"POST", "api.exa.ai/search", "exa-key", object{
				"query": "go generics & more", "numResults": 3.0, "type": "auto", "contents": object{"highlights": true},
			}},
			[]Hit{
				{"An Introduction To Generics", "https://go.dev/blog/intro-generics", "Generics add three new big things to the language. … Type parameters for function and types."},
				{"Tutorial: Getting started with generics", "https://go.dev/doc/tutorial/generics", "This tutorial introduces the basics of generics in Go."},
			},
		},
		{
			"brave", "api.search.brave.com", "brave.json", "X-Subscription-Token",
			func(o Opener) (*Service, error) { return o.Web(Config{Service: "brave"}) },
			Query{Text: "go generics", Count: 2},
			request{"GET", "api.search.brave.com/res/v1/web/search?count=2&q=go+generics&result_filter=web&text_decorations=false", "brave-key", nil},
			[]Hit{
				{"Generics & type parameters - The Go Blog", "https://go.dev/blog/intro-generics", "Introduction to generics in Go, with a < b."},
				{"go - How to use generics? - Stack Overflow", "https://stackoverflow.com/questions/1", "I'd like to use generics."},
			},
		},
		{
			"tavily", "api.tavily.com", "tavily.json", "Authorization",
			func(o Opener) (*Service, error) { return o.Web(Config{Service: "tavily"}) },
			Query{Text: "go generics", Count: 8},
			request{"POST", "api.tavily.com/search", "Bearer tavily-key", object{"query": "go generics", "max_results": 8.0, "search_depth": "basic"}},
			[]Hit{{"An Introduction To Generics", "https://go.dev/blog/intro-generics", "This blog post is based on our talk at GopherCon 2021."}},
		},
		{
			"searxng", "searx.test", "searxng.json", "Authorization",
			func(o Opener) (*Service, error) {
				return o.Web(Config{Service: "searxng", URL: "https://searx.test/sub/"})
			},
			Query{Text: "go generics", Count: 1},
			request{"GET", "searx.test/sub/search?format=json&q=go+generics", "", nil},
			[]Hit{{"An Introduction To Generics - The Go Programming Language", "https://go.dev/blog/intro-generics", "Generics are a way of writing code that is independent of the types."}},
		},
		{
			"sourcegraph", "sourcegraph.com", "sourcegraph.sse", "Authorization",
			func(o Opener) (*Service, error) { return o.Code(Config{Service: "sourcegraph"}) },
			Query{Text: "func Map(", Count: 10, Repo: "github.com/samber/lo", Lang: "go"},
			request{"GET", `sourcegraph.com/.api/search/stream?cl=2&cm=true&display=10&max-line-len=300&q=func+Map%28+type%3Afile+count%3A10+repo%3Agithub%5C.com%2Fsamber%2Flo+lang%3A%22go%22&t=keyword&v=V3`, "token src-key", nil},
			[]Hit{
				{"github.com/samber/lo slice.go", "https://sourcegraph.com/github.com/samber/lo@4d2bdd9/-/blob/slice.go?L24",
					"24: // Map manipulates a slice.\n25: func Map[T, R any](collection []T) []R {\n…\n90: // FlatMap manipulates a slice."},
				{"github.com/samber/lo parallel/slice.go", "https://sourcegraph.com/github.com/samber/lo@4d2bdd9/-/blob/parallel/slice.go?L11", "11: func Map[T, R any]("},
				{"github.com/samber/lo map.go", "https://sourcegraph.com/github.com/samber/lo/-/blob/map.go", ""},
			},
		},
		{
			"exa code", "api.exa.ai", "exa_context.json", "X-Api-Key",
			func(o Opener) (*Service, error) { return o.Code(Config{Service: "exa"}) },
			Query{Text: "map a slice", Count: 10, Repo: "samber/lo", Lang: "go"},
			request{"POST", "api.exa.ai/context", "exa-key", object{"query": "map a slice in go in the repository samber/lo", "tokensNum": 5000.0}},
			[]Hit{{"examples and documentation", "", "## lo.Map\n\n```go\nlo.Map([]int64{1, 2}, f)\n```\n"}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n := egresstest.New(t)
			var asked request
			n.Site(test.host, service(t, test.file, test.header, &asked))
			s, err := test.open(opener(t, n, map[string]string{
				"EXA_API_KEY": "exa-key", "BRAVE_API_KEY": "brave-key", "TAVILY_API_KEY": "tavily-key", "SRC_ACCESS_TOKEN": "src-key",
			}))
			if err != nil {
				t.Fatal(err)
			}
			if host, err := s.Host(); host != test.host || err != nil {
				t.Errorf("host %q, %v", host, err)
			}
			got, err := s.Search(t.Context(), test.query)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.asked, asked); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	const secret = "very-secret-key"
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if code/100 == 3 {
				w.Header().Set("Location", "https://elsewhere.test/")
			}
			w.WriteHeader(code)
			fmt.Fprint(w, body, r.Header.Get("X-Subscription-Token"), r.Header.Get("Authorization"))
		}
	}
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"refused", status(401, "bad key "), "ask brave: the key is missing or refused (HTTP 401): the user must set BRAVE_API_KEY, or run 'pawl auth login brave'"},
		{"forbidden", status(403, ""), "the key is missing or refused (HTTP 403)"},
		{"too many", status(429, ""), "too many requests, or the plan is used up (HTTP 429): try again later"},
		{"used up", status(432, ""), "the plan is used up (HTTP 432)"},
		{"wrong", status(422, "no such parameter "), "it does not take the request (HTTP 422)"},
		{"broken", status(500, ""), "it fails (HTTP 500): try again later"},
		{"down", status(503, ""), "it fails (HTTP 503)"},
		{"redirect", status(302, ""), "it redirects (HTTP 302), which is not followed"},
		{"no content", status(204, ""), "it does not take the request (HTTP 204)"},
		{"no JSON", status(200, "<html>"), "its answer is not what it should be: invalid character '<'"},
		{"cut JSON", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"web":{"results":[{"ti`) }, "its answer is not what it should be: unexpected end"},
		{"other JSON", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"web":[]}`) }, "its answer is not what it should be"},
		{"too large", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat(" ", maxAnswer+1)) }, "its answer has more than 4194304 bytes"},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "{")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "read its answer: unexpected EOF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := egresstest.New(t)
			n.Site("api.search.brave.com", test.answer)
			s, err := opener(t, n, map[string]string{"BRAVE_API_KEY": secret}).Web(Config{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Search(t.Context(), Query{Text: "x", Count: 1})
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestSourcegraphStreams(t *testing.T) {
	t.Parallel()
	const found = "event: matches\ndata: [{\"type\":\"content\",\"repository\":\"r\",\"path\":\"p\"}]\n\n"
	for _, test := range []struct {
		name, body string
		hits       int
		error      string
	}{
		{"nothing", "", 0, ""},
		{"done", "event: done\ndata: {}\n\n" + found, 0, ""},
		{"found", found + "event: progress\ndata: {\"done\":true}\n\n", 1, ""},
		{"other kinds", "event: matches\ndata: [{\"type\":\"repo\",\"repository\":\"r\"},{\"type\":\"commit\"}]\n\n", 0, ""},
		{"an error", found + "event: error\ndata: {\"message\":\"x\"}\n\n", 0, "it could not search"},
		{"an alert", "event: alert\ndata: {\"title\":\"Unable To Process Query\"}\n\n", 0, "it does not understand the query"},
		{"an alert, but something", found + "event: alert\ndata: {\"title\":\"some timed out\"}\n\n", 1, ""},
		{"broken", "event: matches\ndata: [{\"type\"\n\n", 0, "its answer is not what it should be"},
		{"no stream", "<html>\n<p>\n", 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := egresstest.New(t)
			n.Site("sourcegraph.com", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "" {
					t.Error("there is no key to send")
				}
				fmt.Fprint(w, test.body)
			}))
			s, err := opener(t, n, nil).Code(Config{Service: "sourcegraph"})
			if err != nil {
				t.Fatal(err)
			}
			hits, err := s.Search(t.Context(), Query{Text: "x", Count: 5})
			if (err == nil) != (test.error == "") || err != nil && !strings.Contains(err.Error(), test.error) || len(hits) != test.hits {
				t.Errorf("%d hits, %v", len(hits), err)
			}
		})
	}
}

func TestChoice(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		code  bool
		c     Config
		vars  map[string]string
		host  string
		error string // of the configuration
		help  string // when asked
	}{
		{name: "nothing", help: `websearch is not configured: ask the user to set one of EXA_API_KEY, BRAVE_API_KEY, TAVILY_API_KEY, SEARXNG_URL, or "websearch" in pawl.json to a service (exa, brave, tavily, searxng)`},
		{name: "nothing for code", code: true, help: `codesearch is not configured: ask the user to set one of SRC_ENDPOINT, EXA_API_KEY, or "codesearch" in pawl.json to a service (sourcegraph, exa)`},
		{name: "blank", vars: map[string]string{"EXA_API_KEY": " "}, help: "websearch is not configured"},
		{name: "by a key", vars: map[string]string{"TAVILY_API_KEY": "k"}, host: "api.tavily.com"},
		{name: "by keys", vars: map[string]string{"TAVILY_API_KEY": "k", "BRAVE_SEARCH_API_KEY": "k"}, host: "api.search.brave.com"},
		{name: "by an address", vars: map[string]string{"SEARXNG_URL": "http://searx.internal:8888/x"}, host: "searx.internal:8888"},
		{name: "named", c: Config{Service: "exa"}, vars: map[string]string{"TAVILY_API_KEY": "k"}, host: "api.exa.ai"},
		{name: "named, with an address", c: Config{Service: "brave", URL: "https://gateway.test/brave"}, host: "gateway.test"},
		{name: "the file wins", c: Config{Service: "searxng", URL: "https://a.test"}, vars: map[string]string{"SEARXNG_URL": "https://b.test"}, host: "a.test"},
		{name: "code", code: true, vars: map[string]string{"EXA_API_KEY": "k"}, host: "api.exa.ai"},
		{name: "code elsewhere", code: true, vars: map[string]string{"EXA_API_KEY": "k", "SRC_ENDPOINT": "https://src.internal"}, host: "src.internal"},
		{name: "code with a token", code: true, vars: map[string]string{"SRC_ACCESS_TOKEN": "k"}, host: "sourcegraph.com"},
		{name: "unknown", c: Config{Service: "altavista"}, error: `websearch: unknown service "altavista": use exa, brave, tavily, searxng`},
		{name: "for the other tool", c: Config{Service: "sourcegraph"}, error: `unknown service "sourcegraph"`},
		{name: "no address", c: Config{Service: "searxng"}, error: "searxng has no address of its own"},
		{name: "an address of nothing", c: Config{URL: "https://a.test"}, error: "name the service"},
		{name: "a bad address", c: Config{Service: "exa", URL: "ftp://a.test"}, error: "the URL of exa: only http and https"},
		{name: "a key in the address", c: Config{Service: "exa", URL: "https://u:p@a.test"}, error: "a user name or password"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := opener(t, egresstest.New(t), test.vars)
			open := o.Web
			if test.code {
				open = o.Code
			}
			s, err := open(test.c)
			if test.error != "" {
				if !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), test.error) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			host, err := s.Host()
			if host != test.host || (err == nil) != (test.help == "") || err != nil && !strings.Contains(err.Error(), test.help) {
				t.Errorf("host %q, %v", host, err)
			}
			if test.help != "" {
				if _, err := s.Search(t.Context(), Query{}); err == nil || !strings.Contains(err.Error(), test.help) {
					t.Errorf("asked all the same: %v", err)
				}
			}
		})
	}
}

func TestNoKey(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	s, err := opener(t, n, nil).Web(Config{Service: "tavily"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Search(t.Context(), Query{Text: "x", Count: 1})
	if !errors.Is(err, auth.ErrNoKey) || !strings.Contains(fault.HintOf(err), "Set TAVILY_API_KEY, or run `pawl auth login tavily`") {
		t.Errorf("got %v", err)
	}
	if len(n.Looked()) > 0 {
		t.Errorf("it was asked without a key: %v", n.Looked())
	}
}

// The guard stands before the services, but for the host that the user named.
func TestGuard(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Name("searx.internal", "10.0.0.9")
	n.Name("api.tavily.com", "10.0.0.9")
	n.Serve("10.0.0.9:8888", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"results":[]}`) }))
	o := opener(t, n, map[string]string{"TAVILY_API_KEY": "k"})
	s, err := o.Web(Config{Service: "searxng", URL: "http://searx.internal:8888"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Search(t.Context(), Query{Text: "x", Count: 1}); err != nil {
		t.Errorf("the user named it: %v", err)
	}
	s, err = o.Web(Config{Service: "tavily"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Search(t.Context(), Query{Text: "x", Count: 1}); err == nil || !strings.Contains(err.Error(), "api.tavily.com resolves to 10.0.0.9, a private address") {
		t.Errorf("got %v", err)
	}
	if o.Guard.Allow != nil {
		t.Error("what was allowed to one service is allowed to all")
	}
}

func TestContract_R14_SearchIsCanceled(t *testing.T) {
	t.Parallel()
	for _, begin := range []string{"", "{"} {
		n := egresstest.New(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("why")
		var canceled time.Time
		n.Site("api.exa.ai", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then does the server see that the client has left
			fmt.Fprint(w, begin)
			if begin != "" {
				_ = http.NewResponseController(w).Flush()
			}
			canceled = time.Now()
			cancel(why)
			<-r.Context().Done()
			panic(http.ErrAbortHandler)
		}))
		s, err := opener(t, n, map[string]string{"EXA_API_KEY": "k"}).Web(Config{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Search(ctx, Query{Text: "x", Count: 1}); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(canceled); took > 30*time.Second {
			t.Errorf("it took %s", took)
		}
	}
}

func TestProviders(t *testing.T) {
	t.Parallel()
	var got []string
	for _, p := range Providers() {
		got = append(got, p.ID+" "+strings.Join(p.EnvKeys, " "))
	}
	want := []string{"exa EXA_API_KEY", "brave BRAVE_API_KEY BRAVE_SEARCH_API_KEY", "tavily TAVILY_API_KEY", "sourcegraph SRC_ACCESS_TOKEN"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
