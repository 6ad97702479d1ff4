package webhook

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// receiver is a server that remembers notices. It answers with the statuses, then with 204.
type receiver struct {
	*httptest.Server

	mu       sync.Mutex
	got      []Notice
	statuses []int
}

func newReceiver(t *testing.T, statuses ...int) *receiver {
	t.Helper()
	r := &receiver{statuses: statuses}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		var n Notice
		text, err := io.ReadAll(req.Body)
		if err != nil || json.Unmarshal(text, &n) != nil || req.Method != http.MethodPost || req.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s with %q: %v", req.Method, text, err)
		}
		r.got = append(r.got, n)
		if len(r.statuses) > 0 {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(r.statuses[0])
			r.statuses = r.statuses[1:]
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// memory is a log that stores nothing.
type memory struct{}

func (memory) Append(_ context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	for i := range events {
		events[i].Session, events[i].Seq = id, after+pawl.Seq(i)+1
	}
	return events, nil
}
func (memory) Publish(pawl.Event) {}
func (memory) Events(context.Context, pawl.SessionID, pawl.Seq) iter.Seq2[pawl.Event, error] {
	return nil
}

var rows = map[pawl.SessionID]pawl.Session{
	"M":       {ID: "M", Dir: "/project", Mission: pawl.MissionWorking},
	"SEALED":  {ID: "SEALED", Dir: "/project", Mission: pawl.MissionSealed},
	"QUEUED":  {ID: "QUEUED", Mission: pawl.MissionWorking, Queued: 1},
	"WORKER":  {ID: "WORKER", Parent: "M", Dir: "/worktree"},
	"SESSION": {ID: "SESSION", Dir: "/project"},
}

func sender(t *testing.T, address string) (*Sender, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "notices")
	return New(Config{URL: address, Dir: dir, Session: func(_ context.Context, id pawl.SessionID) (pawl.Session, error) { return rows[id], nil }}), dir
}

// TestNotices checks which events are announced.
func TestNotices(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	s, dir := sender(t, r.URL)
	log := s.Watch(memory{})
	at := time.Date(2026, 11, 18, 6, 0, 0, 0, time.UTC)
	for _, e := range []struct {
		session pawl.SessionID
		after   pawl.Seq
		body    pawl.Body
	}{
		{"SEALED", 1, pawl.Sealed{Candidate: "c1"}},
		{"SEALED", 2, pawl.TurnFinished{Reason: pawl.ReasonEndTurn}}, // it was announced as sealed
		{"M", 3, pawl.Blocked{Reason: "which word?\nmore"}},
		{"M", 4, pawl.TurnFinished{Reason: pawl.ReasonBudget}},
		{"M", 5, pawl.TurnFinished{Reason: pawl.ReasonCanceled}},
		{"QUEUED", 6, pawl.TurnFinished{Reason: pawl.ReasonEndTurn}}, // another turn follows
		{"WORKER", 7, pawl.Asked{}},
		{"WORKER", 8, pawl.TurnFinished{Reason: pawl.ReasonEndTurn}},
		{"SESSION", 9, pawl.Asked{}},
		{"SESSION", 10, pawl.TurnFinished{Reason: pawl.ReasonEndTurn}},
		{"M", 11, pawl.Asked{}},
		{"M", 12, pawl.Blocked{Reason: "approve the plan", State: pawl.MissionPlanned}},
		{"M", 13, pawl.Blocked{Reason: "the user paused it", State: pawl.MissionPaused}},
		{"M", 0, pawl.Sealed{Candidate: "imported"}},
	} {
		if _, err := log.Append(t.Context(), e.session, e.after, pawl.Event{At: at, Body: e.body}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	want := []Notice{
		{ID: "M-12", Event: "waiting", Mission: "M", Session: "M", Dir: "/project", At: at},
		{ID: "M-13", Event: "planned", Mission: "M", Session: "M", Dir: "/project", At: at, Reason: "approve the plan"},
		{ID: "M-14", Event: "paused", Mission: "M", Session: "M", Dir: "/project", At: at, Reason: "the user paused it"},
		{ID: "M-4", Event: "blocked", Mission: "M", Session: "M", Dir: "/project", At: at, Reason: "which word? …"},
		{ID: "M-5", Event: "stopped", Mission: "M", Session: "M", Dir: "/project", At: at, Reason: "budget"},
		{ID: "SEALED-2", Event: "sealed", Mission: "SEALED", Session: "SEALED", Dir: "/project", At: at, Commit: "c1"},
		{ID: "WORKER-8", Event: "waiting", Mission: "M", Session: "WORKER", Dir: "/project", At: at},
	}
	slices.SortFunc(r.got, func(a, b Notice) int { return strings.Compare(a.ID, b.ID) })
	if diff := cmp.Diff(want, r.got); diff != "" {
		t.Error(diff)
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("%d notices are left: %v", len(left), err)
	}
}

// TestRetry checks that a notice is sent twice and no more, that redirects are not followed, and that the error does not
// have the address.
func TestRetry(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		statuses []int
		fails    bool
	}{{[]int{500}, false}, {[]int{500, 500}, true}, {[]int{302, 307}, true}} {
		r := newReceiver(t, tt.statuses...)
		s, _ := sender(t, r.URL+"/token")
		if _, err := s.Watch(memory{}).Append(t.Context(), "M", 1, pawl.Event{Body: pawl.Sealed{}}); err != nil {
			t.Fatal(err)
		}
		err := s.Close()
		if (err != nil) != tt.fails || len(r.got) != 2 || r.got[0].ID != r.got[1].ID {
			t.Errorf("%v: %v after %d requests", tt.statuses, err, len(r.got))
		}
	}
	r := newReceiver(t)
	r.Close()
	s, _ := sender(t, r.URL+"/token")
	if _, err := s.Watch(memory{}).Append(t.Context(), "M", 1, pawl.Event{Body: pawl.Sealed{}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err == nil || !strings.HasPrefix(err.Error(), "1 notice not delivered to notify.webhook: ") || strings.Contains(err.Error(), "token") {
		t.Error(err)
	}
}

// TestLeft checks that the notices of a killed process are sent, and those of a running one are not.
func TestLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{"M-1": time.Hour, "M-2": 0} {
		path := filepath.Join(dir, name+".json")
		if err := os.WriteFile(path, []byte(`{"id":"`+name+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	r := newReceiver(t)
	if err := New(Config{URL: r.URL, Dir: dir}).Close(); err != nil || len(r.got) != 1 || r.got[0].ID != "M-1" {
		t.Errorf("%+v, %v", r.got, err)
	}
	if left, err := os.ReadDir(dir); len(left) != 1 || err != nil || left[0].Name() != "M-2.json" {
		t.Errorf("%v, %v", left, err)
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"https://example.org/hook": true, "https://example.org:8443/hook?token=x": true, "http://localhost:8080/hook": true, "http://127.0.0.1/hook": true, "http://[::1]:80/": true,
		"http://example.org/hook": false, "http://localhost.example.org/": false, "https://user:key@example.org/": false, "ftp://localhost/": false, "example.org": false, "https:///x": false, "": false,
	} {
		if err := CheckURL(address); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}
