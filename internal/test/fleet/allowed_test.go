//go:build fleet

package fleet

import (
	"context"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
)

// What people have allowed in a workspace holds on whichever host it is, and ends with it.
func TestAllowed(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t, startServers(t))
	w.coordinator("coordinator1")
	first := w.executor("host1")
	_, c := w.api("api1")
	dir := w.folder()
	model := w.script(
		`{"text":"now","calls":[{"name":"write","input":{"path":".pawl/config.json","content":"{}"}}]}`, `{"text":"done"}`,
		`{"text":"one","calls":[{"name":"bash","input":{"command":"go version"}}]}`, `{"text":"done"}`,
		`{"text":"two","calls":[{"name":"bash","input":{"command":"go version"}}]}`, `{"text":"done"}`,
	)
	begin := func() (id pawl.SessionID) {
		s, err := c.Create(t.Context(), pawl.NewSession{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return s.ID
	}
	id := begin()
	send(t, c, id, model)
	w.ended([]pawl.SessionID{id}, time.Minute)
	trust := func() pawl.TrustInfo {
		t.Helper()
		f, err := c.Look(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return f.Trust
	}
	before := trust()
	if err := c.Trust(t.Context(), dir, before.Hash); err != nil || before.State != "unknown" {
		t.Fatal(before, err)
	}
	w.prompt(c, id, model)
	seq := w.mustAsk(id)
	var offer pawl.Asked
	for _, e := range w.events(id) {
		if e.Seq == seq {
			offer = e.Body.(pawl.Asked)
		}
	}
	if err := c.Answer(t.Context(), id, seq, pawl.Answer{Outcome: pawl.OutcomeAnswered, Always: offer.Offer}); err != nil || len(offer.Offer) == 0 {
		t.Fatal(offer.Offer, err)
	}
	w.ended([]pawl.SessionID{id}, time.Minute)

	w.executor("host2")
	first.kill()
	w.prompt(c, id, model)
	w.ended([]pawl.SessionID{id}, time.Minute)
	w.checkEnds(id, pawl.ReasonEndTurn, pawl.ReasonEndTurn, pawl.ReasonEndTurn)
	if place, err := w.log.Workspace(t.Context(), dir); err != nil || place.Host != "host2" {
		t.Errorf("it is at %+v, %v", place, err)
	}
	if n := kinds(w.events(id)); n["asked"] != 1 || n["call.finished"] != 3 {
		t.Errorf("it was asked, though it was allowed for good: %v", n)
	}
	if now := trust(); now.State != "trusted" || now.Hash != before.Hash {
		t.Errorf("the folder was trusted, and now: %+v", now)
	}

	w.checkDropped(c, id, dir)
	id = begin() // by somebody else, perhaps
	w.prompt(c, id, w.script(`{"calls":[{"name":"bash","input":{"command":"go version"}}]}`, `{"text":"done"}`))
	w.mustAsk(id)
	if now := trust(); now.State != "unknown" || len(now.Parts) > 0 {
		t.Errorf("a folder that began anew: %+v", now)
	}
}

// prompt sends one whose calls are asked for.
func (w *env) prompt(c pawl.Service, id pawl.SessionID, model string) {
	w.Helper()
	p := pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: model, Mode: "ask"}}
	if _, err := c.Send(w.Context(), id, p); err != nil {
		w.Fatal(err)
	}
}

// mustAsk waits until a session asks.
func (w *env) mustAsk(id pawl.SessionID) (seq pawl.Seq) {
	w.Helper()
	w.await("the question of "+string(id), func(context.Context) (err error) { seq, err = w.asked(id); return err })
	return seq
}
