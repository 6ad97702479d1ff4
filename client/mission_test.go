package client_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/client"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
)

// controlMission reads the plan of a mission, edits it, approves it, follows the mission, resumes and stops it.
func controlMission(t *testing.T, p *proof) {
	t.Helper()
	h := servicetest.Local(t)
	c, err := client.New(client.Config{URL: "http://pawl", HTTP: serve(t, h.Service, p)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	id := servicetest.PlannedMission(t, h.Store, t.TempDir(), script(t, "{\"text\":\"Done.\"}\n{\"fault\":\"hang\",\"text\":\"x\"}"), "")
	if i, err := c.Info(ctx); err != nil || i.Scope != api.ScopeAdmin {
		t.Errorf("%+v, %v", i, err)
	}
	for format := range api.ReportFormats {
		if text, err := c.MissionReport(ctx, id, format); err != nil || len(text) == 0 {
			t.Errorf("%s: %q, %v", format, text, err)
		}
	}
	if g, err := c.MissionGate(ctx, id); err != nil || len(g.Rounds) != 1 {
		t.Errorf("%+v, %v", g, err)
	}
	plan, err := c.MissionPlan(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	edited, err := c.SetMissionPlan(ctx, id, plan.Hash, []pawl.Task{{ID: "T1", Title: "Other"}})
	if err != nil || edited.Hash == plan.Hash {
		t.Errorf("%+v, %v", edited, err)
	}
	if _, err := c.ApproveMission(ctx, id, plan.Hash, pawl.Settings{}); !errors.Is(err, pawl.ErrConflict) {
		t.Errorf("the plan before the edit: %v", err)
	}
	if _, err := c.ApproveMission(ctx, id, edited.Hash, pawl.Settings{}); err != nil {
		t.Fatal(err)
	}
	for b, err := range c.FollowMission(ctx, id) {
		if err != nil {
			t.Fatal(err)
		}
		if b.Mission.Approved == edited.Hash && b.State == pawl.MissionStopped {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		t.Fatal(err)
	}
	if err := c.ResumeMission(ctx, id, "go on", pawl.Settings{}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.PauseMission(ctx, id), c.StopMission(ctx, id)); err != nil {
		t.Error(err)
	}
	for b, err := range c.FollowMission(ctx, id) {
		if err != nil {
			t.Fatal(err)
		}
		if b.Session.State() == pawl.StateIdle {
			break
		}
	}
}

// script returns the model that follows a script.
func script(t *testing.T, lines string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.jsonl")
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	return "script:" + path
}
