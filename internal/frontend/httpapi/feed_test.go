package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
	"github.com/pawl-dev/pawl/internal/store/storetest"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// stream opens a stream of server-sent events.
func (b *testServer) stream(path, token, after string) *eventStream {
	b.Helper()
	header := map[string]string{"Last-Event-ID": after}
	if token != "" {
		header["Authorization"] = "Bearer " + token
	}
	return b.openPath(path, header)
}

// message reads the next message into out and returns its ID; ok is false at the end of the stream.
func (s *eventStream) message(out any) (id string, ok bool) {
	s.b.Helper()
	for {
		fields, ok := s.block()
		if !ok {
			return "", false
		}
		if fields["data"] == "" {
			continue
		}
		if fields["event"] == "error" {
			s.b.Fatalf("the stream failed: %s", fields["data"])
		}
		if err := json.Unmarshal([]byte(fields["data"]), out); err != nil {
			s.b.Fatal(err)
		}
		return fields["id"], true
	}
}

// inbox is what a client of the feed knows.
type inbox struct {
	sessions map[pawl.SessionID]pawl.Session
	asks     map[api.AskRef]api.OpenAsk
	last     string // message
}

func (in *inbox) apply(id string, c api.FeedChange) {
	if c.Reset || in.sessions == nil {
		in.sessions, in.asks = map[pawl.SessionID]pawl.Session{}, map[api.AskRef]api.OpenAsk{}
	}
	for _, s := range c.Sessions {
		in.sessions[s.ID] = s
	}
	for _, id := range c.Deleted {
		delete(in.sessions, id)
	}
	for _, a := range c.Asks {
		in.asks[api.AskRef{Session: a.Session, Seq: a.Item.Seq}] = a
	}
	for _, ref := range c.Closed {
		delete(in.asks, ref)
	}
	in.last = id
}

// read reads messages until what the client knows is as wanted.
func (in *inbox) read(s *eventStream, what string, wanted func() bool) {
	s.b.Helper()
	for in.sessions == nil || !wanted() {
		var c api.FeedChange
		id, ok := s.message(&c)
		if !ok {
			s.b.Fatalf("the feed ended before: %s; it has %+v", what, in.sessions)
		}
		in.apply(id, c)
	}
}

// asking sends a prompt whose command needs permission, in a subagent.
func (b *testServer) asking(id pawl.SessionID) {
	b.Helper()
	call := `{"name":"task","input":{"description":"x","prompt":"do it","agent":"general"}}`
	model := b.script(`{"calls":[`+call+`]}`, `{"text":"Done."}`,
		`{"agent":"general","calls":[{"name":"bash","input":{"command":"touch a"}}]}`, `{"agent":"general","text":"Ok."}`)
	b.ask(202, "POST", "/v1/sessions/"+string(id)+"/prompts", prompt(model, `,"mode":"ask"`), new(api.Accepted))
}

// TestFeed checks that a client of the feed sees new sessions, the asks of a subagent at its root, answers,
// the end of the turn and deletions, also what happened while it was away.
func TestFeed(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	var in inbox
	s := b.stream("/v1/events", "read", "")
	in.read(s, "the first message", func() bool { return true })
	id := b.create()
	in.read(s, "a new session", func() bool { return len(in.sessions) == 1 })
	b.asking(id)
	in.read(s, "an ask", func() bool { return len(in.asks) == 1 })
	ask := slices.Collect(maps.Values(in.asks))[0]
	if ask.Root != id || ask.Session == id || ask.Item.Ask.Title != "Run command" || ask.Item.Ask.Command != "touch a" {
		t.Errorf("the ask is %+v, %+v", ask, ask.Item.Ask)
	}
	s.close()

	var list api.Asks
	b.ask(200, "GET", "/v1/asks?session="+string(id), "", &list)
	if diff := cmp.Diff([]api.OpenAsk{ask}, list.Asks); diff != "" {
		t.Errorf("the feed has -, the list +\n%s", diff)
	}
	choice, err := json.Marshal(ask.Item.Ask.Choices[0].Answer)
	if err != nil {
		t.Fatal(err)
	}
	b.ask(204, "POST", fmt.Sprintf("/v1/sessions/%s/asks/%d/answer", ask.Session, ask.Item.Seq), string(choice), nil)
	b.finished(id)
	s = b.stream("/v1/events", "read", in.last)
	in.read(s, "the answer and the end of the turn", func() bool {
		return len(in.asks) == 0 && in.sessions[id].Ended == pawl.ReasonEndTurn && in.sessions[id].Last == "Done."
	})
	b.ask(204, "DELETE", "/v1/sessions/"+string(id), "", nil)
	in.read(s, "the deletion", func() bool { return len(in.sessions) == 0 })
}

// TestFeedResets checks that a client with the cursor of another server begins anew.
func TestFeedResets(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	b.create()
	for _, cursor := range []string{"", "X.1", "nonsense", "X.-1"} {
		var c api.FeedChange
		if _, ok := b.stream("/v1/events", "", cursor).message(&c); !ok || !c.Reset || len(c.Sessions) != 1 {
			t.Errorf("with the cursor %q the feed begins with %+v", cursor, c)
		}
	}
}

// TestFeedOfUsers checks that users see their own sessions and asks only.
func TestFeedOfUsers(t *testing.T) { //nolint:paralleltest // it sets environment variables
	h := servicetest.Local(t)
	acc := new(access.Access)
	b := newTestServer(t, h.Service, func(c *httpapi.Config) {
		c.Service = func(p api.Principal) pawl.Service { return acc.For(h.Service, p) }
		c.Auth = func(r *http.Request) (api.Principal, error) {
			name, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			if name == "admin" {
				return api.Principal{Scope: api.ScopeAdmin}, nil
			}
			return api.Principal{Scope: api.ScopeRead, User: pawl.User(name)}, nil
		}
	})
	var s pawl.Session
	b.ask(201, "POST", "/v1/sessions", fmt.Sprintf(`{"dir":%q,"owner":"ada"}`, b.dir), &s)
	b.asking(s.ID)
	var admin, ada, bob inbox
	admin.read(b.stream("/v1/events", "admin", ""), "the ask of ada", func() bool { return len(admin.asks) == 1 })
	ada.read(b.stream("/v1/events", "ada", ""), "her ask", func() bool { return len(ada.asks) == 1 })
	bob.read(b.stream("/v1/events", "bob", ""), "the first message", func() bool { return true })
	if len(bob.sessions)+len(bob.asks) > 0 {
		t.Errorf("bob sees %+v", bob)
	}
	var list api.Asks
	if got := b.send(request{method: "GET", path: "/v1/asks?session=" + string(s.ID), token: "bob"}); json.Unmarshal([]byte(got.text), &list) != nil || len(list.Asks) > 0 {
		t.Errorf("bob gets %s", got.text)
	}
	b.ask(204, "POST", "/v1/sessions/"+string(s.ID)+"/cancel", "", nil)
	b.finished(s.ID)
}

// page is what a client of a stream of items shows.
type page struct {
	items map[string]transcript.Item
	last  string // message with a number
}

func (p *page) apply(id string, c api.ItemChange) {
	if c.Reset || p.items == nil {
		p.items = map[string]transcript.Item{}
	}
	for _, it := range c.Items {
		p.items[it.ID] = it
	}
	for _, id := range c.Removed {
		delete(p.items, id)
	}
	for _, a := range c.Appended {
		it := p.items[a.ID]
		it.Text += a.Text
		p.items[a.ID] = it
	}
	if id != "" {
		p.last = id
	}
}

// forget removes what the log does not have, as a client does before it reconnects.
func (p *page) forget() {
	maps.DeleteFunc(p.items, func(_ string, it transcript.Item) bool { return it.Unsaved })
}

// TestItemStreamCuts checks that a client whose connection is cut after each few messages has in the end the
// items that the server has.
func TestItemStreamCuts(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	id := b.create()
	path := "/v1/sessions/" + string(id)
	lines := []string{`{"reasoning":"hm, hm, hm","text":"I will run some commands.","deltas":5,"delay_ms":5,"calls":[{"name":"bash","input":{"command":"echo 1; echo 2"}}]}`}
	for range 5 {
		lines = append(lines, `{"text":"And another one, with a few words.","deltas":5,"delay_ms":5,"calls":[{"name":"bash","input":{"command":"seq 20"}}]}`)
	}
	model := b.script(append(lines, `{"text":"Done."}`)...)
	b.ask(202, "POST", path+"/prompts", prompt(model, ""), new(api.Accepted))
	var p page
	end := false
	for seed := uint64(1); !end; seed++ {
		messages := rand.New(rand.NewPCG(seed, 0)).IntN(6) //nolint:gosec // not a secret
		p.forget()
		s := b.stream(path+"/items/stream", "read", p.last)
		for n := 0; n <= messages && !end; n++ {
			var c api.ItemChange
			mid, ok := s.message(&c)
			if !ok {
				t.Fatal("the stream ended")
			}
			p.apply(mid, c)
			for _, it := range p.items {
				end = end || it.Kind == transcript.KindTurnEnd
			}
		}
		s.close()
	}
	p.forget()
	var all api.Items
	b.ask(200, "GET", path+"/items?limit=500", "", &all)
	got := slices.SortedFunc(maps.Values(p.items), transcript.Compare)
	if diff := cmp.Diff(all.Items, got, cmpopts.IgnoreFields(transcript.Item{}, "Took"), cmpopts.EquateEmpty(), cmpopts.EquateApproxTime(time.Microsecond)); diff != "" {
		t.Errorf("server -, client +\n%s", diff)
	}
}

// TestFeedOfMany checks that no change is lost if more sessions change at once than are read at once.
func TestFeedOfMany(t *testing.T) { //nolint:paralleltest // it sets environment variables
	h := servicetest.Local(t)
	b := newTestServer(t, h.Service)
	var ids []pawl.SessionID
	change := func(id pawl.SessionID, head pawl.Seq, body pawl.Body) {
		if _, err := h.Store.Append(t.Context(), id, head, pawl.Event{At: time.Now(), Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	for range 250 {
		ids = append(ids, storetest.NewID())
		change(ids[len(ids)-1], 0, pawl.SessionCreated{Dir: b.dir})
	}
	var in inbox
	s := b.stream("/v1/events", "read", "")
	in.read(s, "the first message", func() bool { return true })
	if len(in.sessions) != 100 {
		t.Errorf("the feed begins with %d sessions, want the 100 newest", len(in.sessions))
	}
	for n, id := range ids {
		change(id, 1, pawl.SessionTitled{Title: fmt.Sprint("title ", n)})
	}
	in.read(s, "all changes", func() bool {
		for n, id := range ids {
			if in.sessions[id].Title != fmt.Sprint("title ", n) {
				return false
			}
		}
		return true
	})
	if err := b.svc.Delete(t.Context(), ids[249]); err != nil {
		t.Fatal(err)
	}
	in.read(s, "the deletion", func() bool { return len(in.sessions) == 249 })
}
