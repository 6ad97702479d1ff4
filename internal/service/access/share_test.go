package access_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
)

// ids are those that a filter picks.
func (b *team) ids(svc pawl.Service, f pawl.Filter) []pawl.SessionID {
	b.Helper()
	list, err := svc.List(b.Context(), f)
	if err != nil {
		b.Fatal(err)
	}
	var ids []pawl.SessionID
	for _, s := range list.Sessions {
		ids = append(ids, s.ID)
	}
	slices.Sort(ids)
	return ids
}

func (b *team) same(what string, got, want any) {
	b.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		b.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Lists and usage have one's own, and lists what is shared.
func TestListsAreOnesOwn(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	ada, bob := pawl.User("ada"), pawl.User("bob")
	adas, subagent := b.worked(ada)
	shown := b.create(ada)
	bobs := b.create(bob)
	b.share(shown, ada, bob)
	b.same("ada's", b.ids(b.as(ada), pawl.Filter{}), []pawl.SessionID{adas, shown})
	b.same("bob's", b.ids(b.as(bob), pawl.Filter{}), []pawl.SessionID{shown, bobs})
	b.same("bob's own", b.ids(b.as(bob), pawl.Filter{Owner: &bob}), []pawl.SessionID{bobs})
	b.same("ada's as bob asks", b.ids(b.as(bob), pawl.Filter{Owner: &ada}), []pawl.SessionID(nil))
	b.same("shared with ada as bob asks", b.ids(b.as(bob), pawl.Filter{Owner: &ada, Shared: true}), []pawl.SessionID(nil))
	b.same("children", b.ids(b.as(ada), pawl.Filter{Parent: adas}), []pawl.SessionID{subagent})
	b.same("ada's children as bob asks", b.ids(b.as(bob), pawl.Filter{Parent: adas}), []pawl.SessionID(nil))
	b.same("all", len(b.ids(b.as(""), pawl.Filter{})), 3)
	for _, id := range []pawl.SessionID{adas, subagent} {
		if err := b.as(ada).Rename(t.Context(), id, "hidden needle"); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.as(ada).Rename(t.Context(), shown, "shown needle"); err != nil {
		t.Fatal(err)
	}
	b.same("ada finds", b.ids(b.as(ada), pawl.Filter{Search: "needle"}), []pawl.SessionID{adas, shown})
	b.same("bob finds", b.ids(b.as(bob), pawl.Filter{Search: "needle"}), []pawl.SessionID{shown})
	b.same("bob finds of ada's", b.ids(b.as(bob), pawl.Filter{Search: "needle", Owner: &ada}), []pawl.SessionID(nil))
	b.same("bob finds below ada's", b.ids(b.as(bob), pawl.Filter{Search: "needle", Parent: adas}), []pawl.SessionID(nil))
	b.same("eve finds", b.ids(b.as("eve"), pawl.Filter{Search: "needle"}), []pawl.SessionID(nil))
	b.same("all find", len(b.ids(b.as(""), pawl.Filter{Search: "needle"})), 2)
	page, err := b.as(ada).List(t.Context(), pawl.Filter{Limit: 1})
	if err != nil || page.Next == "" {
		t.Fatalf("cursor %q, %v", page.Next, err)
	}
	b.same("ada's second page", b.ids(b.as(ada), pawl.Filter{Cursor: page.Next}), []pawl.SessionID{adas})
	if _, err := b.as(bob).List(t.Context(), pawl.Filter{Cursor: page.Next}); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("bob with ada's cursor: %v", err)
	}
	for user, want := range map[pawl.User]pawl.Money{ada: 42, bob: 0, "": 42} {
		for _, f := range []pawl.UsageFilter{{}, {Session: adas}, {Dir: b.dir}, {Owner: &ada}} {
			rows, err := b.as(user).Usage(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			var sum pawl.Money
			for _, r := range rows {
				sum += r.Cost
			}
			b.same("usage of "+string(user), sum, want)
		}
	}
}

// TestSubagentsOfASharedSession checks that a user who may read a session may read its subagents, but not sessions
// that other users created below it.
func TestSubagentsOfASharedSession(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	id, subagent := b.worked("ada")
	b.share(id, "ada", "bob")
	strange := pawl.SessionID("01JD0000000000000000000007")
	_, err := b.store.Append(t.Context(), strange, 0, pawl.Event{Body: pawl.SessionCreated{Dir: "/w", Parent: id, Owner: "eve"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.as("bob").Get(t.Context(), subagent); err != nil {
		t.Error(err)
	}
	if _, err := b.as("bob").Get(t.Context(), strange); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("bob got eve's session: %v", err)
	}
	b.same("children", b.ids(b.as("bob"), pawl.Filter{Parent: id}), []pawl.SessionID{subagent})
	b.same("the owner's", b.ids(b.as("ada"), pawl.Filter{Parent: id}), []pawl.SessionID{subagent})
}

// One who watches sees no more once it is no longer shared.
func TestWatchingEndsWithTheShare(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	id := b.create("ada")
	b.share(id, "ada", "bob", "eve")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen []pawl.Seq
	var end error
	for e, err := range b.as("bob").Events(ctx, id, 0) {
		if err != nil {
			end = err
			break
		}
		seen = append(seen, e.Seq)
		if e.Seq > 4 {
			break
		}
		switch e.Seq {
		case 2:
			b.share(id, "ada", "bob") // he stays
		case 3:
			b.share(id, "ada", "eve")
			if err := b.as("ada").Rename(ctx, id, "secret"); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.same("seen", seen, []pawl.Seq{1, 2, 3})
	if !errors.Is(end, pawl.ErrNotFound) {
		t.Errorf("it ended with %v", end)
	}
}

// What a user brings in is theirs, whatever it says.
func TestImportIsOnesOwn(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	boss := pawl.Actor{User: "boss", Token: "t"}
	log := imported(
		pawl.SessionCreated{Dir: "/etc", Owner: "ada"},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "x"}}, By: boss, Settings: pawl.Settings{Mode: "yolo", Trusted: true, Model: "script:/etc/passwd"}},
		pawl.SessionShared{With: []pawl.User{"ada"}, By: boss},
		pawl.Withdrawn{Prompt: 2},
	)
	s, err := b.as("mallory").Import(t.Context(), pawl.NewSession{Dir: b.dir}, log)
	if err != nil {
		t.Fatal(err)
	}
	b.same("owner", s.Owner, pawl.User("mallory"))
	b.same("shared", s.Shared, []pawl.User(nil))
	b.same("dir", s.Dir, b.dir)
	b.same("prompt", b.log(s.ID)[1].Body, pawl.Body(pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "x"}}, By: pawl.Actor{User: "mallory", Token: "of mallory", Scope: "run"}}))

	if _, err := b.as("mallory").Import(t.Context(), pawl.NewSession{Dir: b.dir, Owner: "ada"}, log); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("it was imported for another user: %v", err)
	}
}

// Nobody makes sessions in another's name.
func TestCreateIsOnesOwn(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	if _, err := b.as("mallory").Create(t.Context(), pawl.NewSession{Dir: b.dir, Owner: "ada"}); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("it was made: %v", err)
	}
	s, err := b.as("").Create(t.Context(), pawl.NewSession{Dir: b.dir, Owner: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.as("ada").Get(t.Context(), s.ID); err != nil {
		t.Error(err)
	}
}

// The log says who asked for what.
func TestWhoDidIt(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	id := b.create("ada")
	const ask = `{"calls":[{"name":"question","input":{"questions":[{"header":"H","question":"Q?","options":[{"label":"a"},{"label":"b"}]}]}}]}`
	seq, err := b.as("ada").Send(t.Context(), id, b.prompt(ask, `{"text":"Ok."}`))
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range b.as("ada").Events(t.Context(), id, seq) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Body.(pawl.Asked); ok {
			if err := b.as("").Answer(t.Context(), id, e.Seq, pawl.Answer{Outcome: pawl.OutcomeDenied}); err != nil {
				t.Fatal(err)
			}
		}
		if _, ok := e.Body.(pawl.TurnFinished); ok {
			break
		}
	}
	b.share(id, "ada", "bob")
	got := map[pawl.Kind]pawl.Actor{}
	for _, e := range b.log(id) {
		switch body := e.Body.(type) {
		case pawl.Prompted:
			got["prompted"] = body.By
		case pawl.Answered:
			got["answered"] = body.By
		case pawl.SessionShared:
			got["session.shared"] = body.By
		default:
		}
	}
	ada := pawl.Actor{User: "ada", Token: "of ada", Scope: "run"}
	b.same("by", got, map[pawl.Kind]pawl.Actor{"prompted": ada, "answered": {Token: "of ", Scope: "run"}, "session.shared": ada})
}

// A rule that is kept for a directory holds for the sessions of others too: a user
// cannot make one.
func TestNothingIsPermittedForOthers(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	id := b.create("ada")
	rule := pawl.Answer{Outcome: pawl.OutcomeAnswered, Always: []json.RawMessage{json.RawMessage(`{"tool":"bash","decision":"allow"}`)}}
	if err := b.as("ada").Answer(t.Context(), id, 1, rule); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("a user got %v", err)
	}
	operator := b.For(b.all, api.Principal{Scope: api.ScopeAdmin})
	if err := operator.Answer(t.Context(), id, 1, rule); !errors.Is(err, pawl.ErrNotFound) { // nothing was asked
		t.Errorf("the one who runs the server got %v", err)
	}
}
