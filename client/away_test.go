package client_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/client"
)

// TestAway checks that a reader is notified once that the server is lost and once
// that it is back, and that no event of the log is missing.
func TestAway(t *testing.T) {
	t.Parallel()
	const session pawl.SessionID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	var requests atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := requests.Add(1)
		switch n {
		case 1, 4:
			seq := map[int32]pawl.Seq{1: 1, 4: 2}[n]
			text, err := pawl.Event{Session: session, Seq: seq, At: time.Unix(0, 0).UTC(), Body: pawl.SessionTitled{Title: fmt.Sprint(n)}}.MarshalJSON()
			if err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "id: %d\ndata: %s\n\n", seq, text)
		default:
			panic(http.ErrAbortHandler) // as if the server was killed
		}
	}))
	defer srv.Close()
	c, err := client.New(client.Config{URL: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for e, err := range c.Events(t.Context(), session, 0) {
		if err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case pawl.SessionTitled:
			got = append(got, "event "+b.Title)
		case pawl.Status:
			got = append(got, b.State+": "+b.Message)
		default:
			t.Errorf("got a %T", b)
		}
		if e.Seq == 2 {
			break
		}
	}
	want := []string{"event 1", "notice: server unreachable: reconnecting", "notice: reconnected to the server", "event 4"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
