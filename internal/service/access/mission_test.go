package access_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
	"github.com/pawl-dev/pawl/internal/store"
)

// mission is one whose Commander answers so.
func (b *team) mission(lines ...string) pawl.NewMission {
	b.Helper()
	return pawl.NewMission{Dir: b.dir, Order: pawl.MissionOrder{Goal: "go"}, Settings: b.prompt(lines...).Settings}
}

// ended waits for the end of a session's turn.
func (b *team) ended(id pawl.SessionID) {
	b.Helper()
	for e, err := range b.all.Events(b.Context(), id, 0) {
		if err != nil {
			b.Fatal(err)
		}
		if _, ok := e.Body.(pawl.TurnFinished); ok {
			return
		}
	}
}

func TestMissionsAreTheUsersOwn(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	n := b.mission(`{"text":"Done."}`)
	for _, owner := range []pawl.User{"", "ada"} {
		n.Owner = owner
		s, err := b.as("ada").StartMission(t.Context(), n)
		if err != nil || s.Owner != "ada" {
			t.Fatalf("%+v, %v", s, err)
		}
		b.ended(s.ID)
		log := b.log(s.ID)
		by := pawl.Actor{User: "ada", Token: "of ada", Scope: "run"}
		started, _ := log[1].Body.(pawl.MissionStarted)
		prompted, _ := log[2].Body.(pawl.Prompted)
		if diff := cmp.Diff([]pawl.Actor{by, by}, []pawl.Actor{started.By, prompted.By}); diff != "" {
			t.Error(diff)
		}
		for user, want := range map[pawl.User]error{"ada": nil, "mallory": pawl.ErrNotFound} {
			if _, err := b.as(user).Mission(t.Context(), s.ID); !errors.Is(err, want) {
				t.Errorf("%s got %v", user, err)
			}
		}
	}
	n.Owner = "bob"
	if s, err := b.as("ada").StartMission(t.Context(), n); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("%+v, %v", s, err)
	}
}

// A mission is work like any other: the limits of the token hold for it.
func TestMissionsAreWithinLimits(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	ada := b.as("ada", store.Limits{Budget: 100, Parallel: 1})
	n := b.mission(`{"text":"Done.","usage":{"cost":60}}`)
	n.Settings.MaxCost = 90
	first, err := ada.StartMission(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	b.ended(first.ID)
	want := n.Settings
	want.Agent, want.MaxTime, want.MaxSessionCost = missionapi.AgentCommander, pawl.MissionTime, 100
	if got := b.log(first.ID)[2].Body.(pawl.Prompted).Settings; !cmp.Equal(want, got) { //nolint:forcetypeassert // or the test is wrong
		t.Errorf("it has %+v", got)
	}

	n = b.mission(`{"fault":"hang","text":"x"}`)
	second, err := ada.StartMission(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.log(second.ID)[2].Body.(pawl.Prompted); got.MaxCost != 40 || got.MaxSessionCost != 40 { //nolint:forcetypeassert // likewise
		t.Errorf("what is left is %+v", got.Settings)
	}
	if s, err := ada.StartMission(t.Context(), n); !errors.Is(err, api.ErrLimited) {
		t.Errorf("a second at once: %+v, %v", s, err)
	}
	if err := b.all.Cancel(t.Context(), second.ID); err != nil {
		t.Fatal(err)
	}
	b.ended(second.ID)
	if s, err := b.as("ada", store.Limits{Budget: 50}).StartMission(t.Context(), n); !errors.Is(err, api.ErrLimited) {
		t.Errorf("with nothing left: %+v, %v", s, err)
	}
}

// TestApprovingNeedsTheScope checks that a token that may start a mission cannot approve its plan.
func TestApprovingNeedsTheScope(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	n := b.mission(`{"text":"Done."}`)
	n.Order.ApprovePlan = true
	s, err := b.as("ada").StartMission(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	b.ended(s.ID)
	for _, scope := range []api.Scope{api.ScopeRun, api.ScopeApprove, api.ScopeAdmin} {
		p := b.prompt(`{"text":"x"}`)
		p.Model, p.Approve = "nobody/x", &pawl.Plan{Tasks: []pawl.Task{{ID: "one", Title: "One"}}}
		_, err := b.scoped(scope).Send(t.Context(), s.ID, p)
		if err == nil || errors.Is(err, pawl.ErrDenied) == scope.Covers(api.ScopeApprove) {
			t.Errorf("with the scope %s: %v", scope, err)
		}
	}
}
