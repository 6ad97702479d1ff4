package access_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/service/access"
)

// TestAuthorize checks which scope settings need.
func TestAuthorize(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	for _, file := range []string{filepath.Join(dir, "in.jsonl"), filepath.Join(outside, "out.jsonl")} {
		if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(outside, "out.jsonl"), filepath.Join(dir, "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	never := api.Scope("never")
	for _, c := range []struct {
		settings pawl.Settings
		need     api.Scope
	}{
		{pawl.Settings{}, api.ScopeRun},
		{pawl.Settings{Mode: "plan"}, api.ScopeRun},
		{pawl.Settings{Mode: "ask"}, api.ScopeRun},
		{pawl.Settings{Mode: "guard", Model: "anthropic/x"}, api.ScopeRun},
		{pawl.Settings{Mode: "auto"}, api.ScopeApprove},
		{pawl.Settings{Mode: "yolo"}, api.ScopeAdmin},
		{pawl.Settings{Mode: "a new one"}, api.ScopeAdmin},
		{pawl.Settings{Trusted: true}, api.ScopeAdmin},
		{pawl.Settings{Model: "script:" + filepath.Join(dir, "in.jsonl")}, api.ScopeAdmin},
		{pawl.Settings{Model: "script:" + filepath.Join(outside, "out.jsonl")}, never},
		{pawl.Settings{Model: "script:" + filepath.Join(dir, "link.jsonl")}, never},
		{pawl.Settings{Model: "script:" + filepath.Join(dir, "..", filepath.Base(outside), "out.jsonl")}, never},
		{pawl.Settings{Model: "script:in.jsonl"}, never},
	} {
		for _, scope := range []api.Scope{"", api.ScopeRead, api.ScopeRun, api.ScopeApprove, api.ScopeAdmin} {
			err := access.Authorize(dir, c.settings, pawl.Actor{User: "ada", Token: "t", Scope: string(scope)})
			if (err == nil) != scope.Covers(c.need) || err != nil && !errors.Is(err, pawl.ErrDenied) {
				t.Errorf("%+v with the scope %q: %v", c.settings, scope, err)
			}
		}
		for _, operator := range []pawl.Actor{{}, {Token: access.ServerToken, Scope: "admin"}} {
			if err := access.Authorize(dir, c.settings, operator); err != nil {
				t.Errorf("%+v for the operator: %v", c.settings, err)
			}
		}
	}
	if access.Authorize(dir, pawl.Settings{Mode: "yolo"}, pawl.Actor{}, pawl.Actor{Token: "t", Scope: "run"}) == nil {
		t.Error("one of two actors may not, and it was authorized")
	}
}

func TestAuthorizeAnswer(t *testing.T) {
	t.Parallel()
	rule := []json.RawMessage{json.RawMessage(`{}`)}
	for _, c := range []struct {
		kind   pawl.AskKind
		answer pawl.Answer
		need   api.Scope
	}{
		{pawl.AskQuestion, pawl.Answer{Outcome: pawl.OutcomeAnswered}, api.ScopeRead}, // its route needs run
		{pawl.AskPermission, pawl.Answer{Outcome: pawl.OutcomeDenied}, api.ScopeRead},
		{pawl.AskPermission, pawl.Answer{Outcome: pawl.OutcomeAnswered}, api.ScopeApprove},
		{pawl.AskPermission, pawl.Answer{Outcome: pawl.OutcomeAnswered, Always: rule}, api.ScopeAdmin},
	} {
		for _, scope := range []api.Scope{api.ScopeRead, api.ScopeRun, api.ScopeApprove, api.ScopeAdmin} {
			if err := access.AuthorizeAnswer(pawl.Actor{Token: "t", Scope: string(scope)}, c.kind, c.answer); (err == nil) != scope.Covers(c.need) {
				t.Errorf("%s %+v with the scope %q: %v", c.kind, c.answer, scope, err)
			}
		}
	}
}

// scoped is the service for a token of ada with a scope.
func (b *team) scoped(scope api.Scope) pawl.Service {
	return b.For(b.all, api.Principal{User: "ada", Token: "of ada", Scope: scope})
}

// denied checks that each of these is denied, and that none of them changed the session.
func (b *team) denied(id pawl.SessionID, attempts map[string]error) {
	b.Helper()
	for what, err := range attempts {
		if !errors.Is(err, pawl.ErrDenied) {
			b.Errorf("%s: %v", what, err)
		}
	}
	if b.Failed() {
		b.Logf("the log: %v", b.log(id))
	}
}

// open starts a turn of the admin in mode yolo that waits, with a prompt in the queue, and returns their
// settings.
func (b *team) open(id pawl.SessionID) (queued pawl.Seq) {
	b.Helper()
	p := b.prompt(`{"calls":[{"name":"bash","input":{"command":"until [ -e go ]; do sleep 0.01; done"}}]}`, `{"text":"Ok."}`, `{"text":"Ok."}`, `{"text":"Ok."}`)
	p.Mode = "yolo"
	if _, err := b.scoped(api.ScopeAdmin).Send(b.Context(), id, p); err != nil {
		b.Fatal(err)
	}
	p.Delivery = pawl.DeliverQueue
	queued, err := b.scoped(api.ScopeAdmin).Send(b.Context(), id, p)
	if err != nil {
		b.Fatal(err)
	}
	for e, err := range b.all.Events(b.Context(), id, 0) {
		if err != nil {
			b.Fatal(err)
		}
		if _, ok := e.Body.(pawl.CallStarted); ok {
			return queued
		}
	}
	b.Fatal("the turn did not start")
	return 0
}

// TestOpenWorkIsTheAdmins checks that a token with the scope run takes no part in work that another token
// of the same user has started in a mode that it may not use.
func TestOpenWorkIsTheAdmins(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	id := b.create("ada")
	queued := b.open(id)
	head := b.log(id)
	run := b.scoped(api.ScopeRun)
	steer := b.prompt(`{"text":"x"}`)
	steer.Delivery = pawl.DeliverSteer
	_, steered := run.Send(t.Context(), id, steer)
	_, ran := run.Shell(t.Context(), id, "touch evil")
	b.denied(id, map[string]error{
		"steer":  steered,
		"reword": run.Reword(t.Context(), id, queued, pawl.Parts{pawl.Text{Text: "evil"}}),
		"resume": run.Resume(t.Context(), id),
		"shell":  ran,
	})
	if len(b.log(id)) != len(head) {
		t.Errorf("the session has changed: %v", b.log(id)[len(head):])
	}
	if err := os.WriteFile(filepath.Join(b.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.settled(id)

	_, ran = run.Shell(t.Context(), id, "touch evil")
	fork, err := run.Fork(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, forked := run.Shell(t.Context(), fork.ID, "touch evil")
	b.denied(id, map[string]error{"shell in a session that was left in mode yolo": ran, "shell in its fork": forked})

	if reason := b.run(run, id, b.prompt(`{"text":"x"}`, `{"text":"x"}`, `{"text":"x"}`, `{"text":"x"}`, `{"text":"Ok."}`)); reason != pawl.ReasonEndTurn {
		t.Errorf("its own prompt ended with %s", reason)
	}
	if _, err := run.Shell(t.Context(), id, "true"); err != nil {
		t.Errorf("a command after its own prompt: %v", err)
	}
}

// settled waits until a session is idle.
func (b *team) settled(id pawl.SessionID) {
	b.Helper()
	for range b.all.Events(b.Context(), id, 0) {
		row, err := b.all.Get(b.Context(), id)
		if err != nil {
			b.Fatal(err)
		}
		if row.State() == pawl.StateIdle {
			return
		}
	}
}

// TestScopeOfSettings checks that what a prompt or a mission asks for needs its scope.
func TestScopeOfSettings(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	id := b.create("ada")
	script := "script:" + strings.TrimPrefix(b.prompt(`{"text":"x"}`).Model, "test:")
	text := pawl.Parts{pawl.Text{Text: "x"}}
	for what, c := range map[string]struct {
		scope    api.Scope
		settings pawl.Settings
		order    pawl.MissionOrder
	}{
		"auto":           {api.ScopeRun, pawl.Settings{Mode: "auto"}, pawl.MissionOrder{}},
		"yolo":           {api.ScopeApprove, pawl.Settings{Mode: "yolo"}, pawl.MissionOrder{}},
		"trusted":        {api.ScopeApprove, pawl.Settings{Trusted: true}, pawl.MissionOrder{}},
		"script":         {api.ScopeApprove, pawl.Settings{Model: script}, pawl.MissionOrder{}},
		"script outside": {api.ScopeAdmin, pawl.Settings{Model: script}, pawl.MissionOrder{}},
		"worker model":   {api.ScopeApprove, pawl.Settings{}, pawl.MissionOrder{Model: script}},
		"reviewer model": {api.ScopeApprove, pawl.Settings{}, pawl.MissionOrder{Reviewers: []string{script}}},
		"check":          {api.ScopeApprove, pawl.Settings{}, pawl.MissionOrder{Checks: []pawl.Check{{ID: "x", Network: []string{"evil.example"}}}}},
	} {
		svc := b.scoped(c.scope)
		attempts := map[string]error{}
		c.order.Goal = "x"
		_, attempts[what+" mission"] = svc.StartMission(t.Context(), pawl.NewMission{Dir: b.dir, Order: c.order, Settings: c.settings})
		if c.settings.Mode != "" || c.settings.Trusted || c.settings.Model != "" {
			_, attempts[what] = svc.Send(t.Context(), id, pawl.Prompt{Parts: text, Settings: c.settings})
			_, _, attempts[what+" expand"] = svc.Expand(t.Context(), b.dir, pawl.Prompt{Parts: text, Settings: c.settings})
		}
		b.denied(id, attempts)
	}
	b.DefaultMode = func() (string, error) { return "yolo", nil }
	_, err := b.scoped(api.ScopeRun).Send(t.Context(), id, pawl.Prompt{Parts: text})
	b.denied(id, map[string]error{"a prompt in the default mode": err})
	b.DefaultMode = nil

	// The model of a session may be somebody else's choice, too.
	p := b.prompt()
	p.Model, p.Mode = script, "yolo"
	b.run(b.all, id, p)
	_, sent := b.scoped(api.ScopeRun).Send(t.Context(), id, pawl.Prompt{Parts: text})
	_, compacted := b.scoped(api.ScopeRun).Compact(t.Context(), id, "")
	b.denied(id, map[string]error{"a prompt for the session's script": sent, "a compaction by it": compacted})
}
