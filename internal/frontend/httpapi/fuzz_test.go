package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
)

// finite is a service whose events end where the log does.
type finite struct{ pawl.Service }

func (s finite) Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		row, err := s.Get(ctx, id)
		if err != nil || after >= row.Head {
			return
		}
		for e, err := range s.Service.Events(ctx, id, after) {
			if !yield(e, err) || err != nil || e.Seq >= row.Head {
				return
			}
		}
	}
}

// FuzzHTTP: whatever comes, the server says in JSON what is wrong with it, and
// never fails itself. Without a token nobody gets as far as the service.
func FuzzHTTP(f *testing.F) {
	svc := finite{servicetest.Local(f).Service}
	dir := f.TempDir()
	s, err := svc.Create(f.Context(), pawl.NewSession{Dir: dir})
	if err != nil {
		f.Fatal(err)
	}
	let := 0
	srv := httpapi.New(httpapi.Config{
		Auth: byToken, Hosts: []string{"pawl.test"},
		Service: func(api.Principal) pawl.Service {
			let++
			return svc
		},
		Allow: func(_ api.Principal, at string) error {
			if at != dir {
				return pawl.ErrDenied
			}
			return nil
		},
	})
	body := fmt.Sprintf(`{"dir":%q,"title":"x"}`, dir)
	for _, r := range api.Routes {
		path := strings.Replace(generic(r), "01JD0000000000000000000000", string(s.ID), 1)
		for _, header := range []string{"Authorization: Bearer admin\r\n", "", "Authorization: Bearer run\r\nOrigin: https://evil.test\r\n"} {
			f.Add(r.Method, path, header+"Content-Type: "+string(r.InForm)+"\r\n", body)
		}
	}
	f.Add("POST", "/v1//sessions/../sessions", "Content-Type: text/plain\r\n", `{"Dir":"/"}`)
	f.Add("GET", "/v1/sessions?limit=1&before=2026-11-15T09:00:00Z", "Authorization: Bearer read\r\nLast-Event-ID: 1\r\n", "")
	f.Add("POST", "/v1/sessions/"+string(s.ID)+"/prompts", "Authorization: Bearer run\r\nContent-Type: application/json\r\n",
		`{"parts":[{"type":"text","text":"x"},{"type":"file","media_type":"image/png"}],"mode":"plan","delivery":"queue","max_steps":1}`)
	f.Fuzz(func(t *testing.T, method, target, header, body string) {
		raw := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: pawl.test\r\nContent-Length: %d\r\n%s\r\n%s", method, target, len(body), header, body)
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
		if err != nil {
			return // net/http does not let it in
		}
		before := let
		w := httptest.NewRecorder()
		srv.ServeHTTP(w, r.WithContext(t.Context()))
		checkAnswer(t, w)
		if _, err := byToken(r); err != nil && let != before {
			t.Error("it got to the service without a token")
		}
	})
}

// checkAnswer: an answer is good, or it says in JSON what is wrong.
func checkAnswer(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Code >= 500 && w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if kind := w.Header().Get("Content-Type"); strings.Contains(kind, "html") || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("a browser may show it: %q", kind)
	}
	if w.Code < 300 {
		return
	}
	var fault api.Fault
	if err := json.Unmarshal(w.Body.Bytes(), &fault); err != nil || fault.Error.Code == "" || fault.Error.Message == "" {
		t.Errorf("%d says %q: %v", w.Code, w.Body, err)
	}
}
