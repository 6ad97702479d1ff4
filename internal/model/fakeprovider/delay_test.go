package fakeprovider_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
)

// The pieces and the calls wait, what frames them does not.
func TestDelay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line string
		want func(body string) time.Duration
	}{
		{
			`{"reasoning":"ab","text":"cdef","deltas":2,"delay_ms":100,"calls":[{"name":"list"},{"name":"read"}]}`,
			func(string) time.Duration { return 600 * time.Millisecond },
		},
		{
			`{"text":"ab","fault":"dribble:10"}`,
			func(body string) time.Duration { return time.Duration(len(body)) * 10 * time.Millisecond },
		},
	} {
		path := filepath.Join(t.TempDir(), "script.jsonl")
		if err := os.WriteFile(path, []byte(tt.line), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := fakeprovider.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range protocols {
			synctest.Test(t, func(t *testing.T) {
				req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, paths[p], strings.NewReader(history{}.body(p)))
				req.Header.Set("Anthropic-Version", "2023-06-01")
				w, start := httptest.NewRecorder(), time.Now()
				fakeprovider.Handler(m, fakeprovider.Config{}).ServeHTTP(w, req)
				if took, want := time.Since(start), tt.want(w.Body.String()); took != want || w.Code != http.StatusOK {
					t.Errorf("%s: %d after %v, want 200 after %v", p, w.Code, took, want)
				}
			})
		}
	}
}
