package auth

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
)

// provider is a server that knows one key, in one header, at one path.
func provider(t *testing.T, path, header, value string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodGet || r.URL.Path != path:
			http.NotFound(w, r)
		case r.Header.Get(header) != value:
			http.Error(w, "wrong key: "+r.Header.Get(header), http.StatusUnauthorized)
		default:
			fmt.Fprint(w, `{"data":[]}`)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// status is a server with one answer to all.
func status(t *testing.T, code int, body string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "https://elsewhere.invalid/")
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestCheck(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for _, c := range []struct {
		name   string
		target Target
		key    Secret
		want   Verdict
		detail string
	}{
		{"anthropic", Target{"anthropic", "", provider(t, "/v1/models", "x-api-key", "good")}, "good", Works, ""},
		{"anthropic, wrong key", Target{"anthropic", "", provider(t, "/v1/models", "x-api-key", "good")}, "bad", Refused, "HTTP 401"},
		{"chat", Target{"chat", "", provider(t, "/v1/models", "Authorization", "Bearer good") + "/v1"}, "good", Works, ""},
		{"chat, wrong key", Target{"chat", "", provider(t, "/v1/models", "Authorization", "Bearer good") + "/v1"}, "bad", Refused, "HTTP 401"},
		{"responses", Target{"responses", "", provider(t, "/v1/models", "Authorization", "Bearer good") + "/v1"}, "good", Works, ""},
		{"openrouter", Target{"chat", "openrouter", provider(t, "/v1/key", "Authorization", "Bearer good") + "/v1"}, "good", Works, ""},
		{"azure", Target{"responses", "azure", provider(t, "/v1/models", "api-key", "good") + "/v1"}, "good", Works, ""},
		{"gemini", Target{"gemini", "", provider(t, "/v1beta/models", "x-goog-api-key", "good")}, "good", Works, ""},
		{"403", Target{"chat", "", status(t, 403, "")}, "good", Refused, "HTTP 403"},
		{"a 400 for a wrong key", Target{"gemini", "", status(t, 400, `{"reason":"API_KEY_INVALID"}`)}, "bad", Refused, "HTTP 400"},
		{"another 400", Target{"chat", "", status(t, 400, "no")}, "good", Unproven, "the server answered HTTP 400"},
		{"open to all", Target{"chat", "", status(t, 200, "{}")}, "good", Unproven, "the server also answers without a key"},
		{"no such path", Target{"chat", "", status(t, 404, "")}, "good", Unproven, "the server answered HTTP 404"},
		{"too many", Target{"chat", "", status(t, 429, "")}, "good", Unproven, "the server answered HTTP 429"},
		{"elsewhere", Target{"chat", "", status(t, 302, "")}, "good", Unproven, "the server answered HTTP 302"},
		{"down", Target{"chat", "", status(t, 503, "")}, "good", Unreachable, "the server answered HTTP 503"},
		{"nobody there", Target{"chat", "", closed.URL}, "good", Unreachable, "connection refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Check(t.Context(), c.target, c.key)
			if err != nil {
				t.Fatal(err)
			}
			if got.Verdict != c.want || !strings.Contains(got.Detail, c.detail) || (got.Detail == "") != (c.detail == "") {
				t.Errorf("got %+v, want %s, %q", got, c.want, c.detail)
			}
			if strings.Contains(got.Detail, c.key.Reveal()) {
				t.Errorf("%q shows the key", got.Detail)
			}
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	for _, target := range []Target{
		{"bedrock", "", "https://example.org"},
		{"vertex", "", ""},
		{"responses", "azure", ""},
		{"chat", "", "example.org/v1"},
		{"chat", "", "ftp://example.org"},
		{"chat", "", "https://"},
		{"chat", "", "::"},
	} {
		if o, err := Check(t.Context(), target, "k"); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%v: got %v, %v", target, o, err)
		}
	}
}
