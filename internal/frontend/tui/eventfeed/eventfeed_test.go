package eventfeed_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/eventfeed"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
)

// begun is a session with a prompt that the script has answered.
func begun(t *testing.T, svc pawl.Service) pawl.SessionID {
	t.Helper()
	script := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(script, []byte(`{"text":"Done."}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := svc.Create(t.Context(), pawl.NewSession{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	p := pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: "script:" + script}}
	if _, err := svc.Send(t.Context(), s.ID, p); err != nil {
		t.Fatal(err)
	}
	return s.ID
}

// seqs are the numbers of durable events.
func seqs(events []pawl.Event) []pawl.Seq {
	var list []pawl.Seq
	for _, e := range events {
		if e.Seq > 0 {
			list = append(list, e.Seq)
		}
	}
	return list
}

// TestFeed: a feed gives every event out once, in order, and ends when it is
// closed; pages are what lies between two events.
func TestFeed(t *testing.T) { //nolint:paralleltest // it sets environment variables
	svc := servicetest.Local(t).Service
	id := begun(t, svc)
	f := eventfeed.Watch(t.Context(), svc, id, 0)
	var all []pawl.Event
	for done := false; !done; {
		n := f.Next(time.Time{})().(eventfeed.News)
		if n.Feed != f || n.Err != nil {
			t.Fatalf("%+v", n)
		}
		for _, e := range n.Events {
			_, over := e.Body.(pawl.TurnFinished)
			done = done || over
		}
		all = append(all, n.Events...)
	}
	got := seqs(all)
	for i, seq := range got {
		if seq != pawl.Seq(i+1) {
			t.Fatalf("not in order, or not whole: %v", got)
		}
	}
	f.Close()
	f.Next(time.Time{})() // it does not hang

	o, err := eventfeed.Open(t.Context(), svc, id)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, seqs(o.Events)); diff != "" {
		t.Error(diff)
	}
	page, err := eventfeed.Page(t.Context(), svc, id, 1, 3)
	if diff := cmp.Diff([]pawl.Seq{2, 3}, seqs(page)); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if page, err := eventfeed.Page(t.Context(), svc, id, -5, 0); page != nil || err != nil {
		t.Error(page, err)
	}
	if _, err := eventfeed.Open(t.Context(), svc, "01JD0000000000000000000000"); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Errorf("%v", err)
	}
	(*eventfeed.Feed)(nil).Close()
}
