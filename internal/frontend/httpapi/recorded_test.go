package httpapi_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
	"github.com/pawl-dev/pawl/internal/store/storetest"
	"github.com/pawl-dev/pawl/internal/transcript"
	"github.com/pawl-dev/pawl/internal/transcript/transcripttest"
)

// TestRecordedItems checks that pages and streams have the items of each recorded session.
func TestRecordedItems(t *testing.T) { //nolint:paralleltest // it sets environment variables
	h := servicetest.Local(t)
	b := newTestServer(t, h.Service)
	for name, events := range transcripttest.Recorded(t) {
		t.Run(name, func(t *testing.T) {
			id := storetest.NewID()
			if _, err := h.Store.Append(t.Context(), id, 0, events...); err != nil {
				t.Fatal(err)
			}
			tr := transcript.New()
			tr.Load(events)
			want, _, _ := transcript.Page(tr.Items(), "", len(events))
			var page api.Items
			b.ask(200, "GET", "/v1/sessions/"+string(id)+"/items?limit=500", "", &page)
			same(t, "the page", want, page.Items)
			var first api.ItemChange
			s := b.stream("/v1/sessions/"+string(id)+"/items/stream?limit=500", "read", "")
			s.message(&first)
			s.close()
			same(t, "the stream", want, first.Items)
		})
	}
}

// same compares items as JSON, which has no difference between nil and empty.
func same(t *testing.T, what string, want, got []transcript.Item) {
	t.Helper()
	encode := func(list []transcript.Item) string {
		text, err := json.MarshalIndent(append([]transcript.Item{}, list...), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if diff := cmp.Diff(encode(want), encode(got)); diff != "" {
		t.Errorf("%s: want -, got +\n%s", what, diff)
	}
}
