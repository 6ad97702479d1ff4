package access_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/service/access"
)

// asRun returns a context for an actor with the scope run. The service without access takes their orders
// as if no route had checked them: what runs is checked again.
func asRun(ctx context.Context) context.Context {
	return access.WithActor(ctx, pawl.Actor{User: "ada", Token: "of ada", Scope: string(api.ScopeRun)})
}

// lastEnd returns the end of the newest turn.
func (b *team) lastEnd(id pawl.SessionID) (end pawl.TurnFinished) {
	b.Helper()
	b.settled(id)
	for _, e := range b.log(id) {
		if f, ok := e.Body.(pawl.TurnFinished); ok {
			end = f
		}
	}
	return end
}

func (b *team) noFile(name string) {
	b.Helper()
	if _, err := os.Stat(filepath.Join(b.dir, name)); err == nil {
		b.Errorf("%s was made", name)
	}
}

const touchEvil = `{"calls":[{"name":"bash","input":{"command":"touch evil"}}]}`

func TestPromptsAreCheckedWhenTheyRun(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	for what, change := range map[string]func(*pawl.Prompt){
		"yolo":    func(p *pawl.Prompt) { p.Mode = "yolo" },
		"auto":    func(p *pawl.Prompt) { p.Mode = "auto" },
		"default": func(p *pawl.Prompt) { p.Mode = "" }, // which is yolo in tests
		"trusted": func(p *pawl.Prompt) { p.Trusted = true },
	} {
		id := b.create("ada")
		p := b.prompt(touchEvil, `{"text":"Ok."}`)
		change(&p)
		if _, err := b.all.Send(asRun(t.Context()), id, p); err != nil {
			t.Fatal(err)
		}
		if end := b.lastEnd(id); end.Reason != pawl.ReasonPermissionDenied || end.Message == "" {
			t.Errorf("%s ended with %+v", what, end)
		}
		b.noFile("evil")
	}
}

func TestQueueIsCheckedWhenItRuns(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	id := b.create("ada")
	queued := b.open(id)
	if err := b.all.Reword(asRun(t.Context()), id, queued, pawl.Parts{pawl.Text{Text: "evil"}}); err != nil {
		t.Fatal(err)
	}
	steer := b.prompt(`{"text":"x"}`)
	steer.Delivery = pawl.DeliverSteer
	seq, err := b.all.Send(asRun(t.Context()), id, steer)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.settled(id)
	var ends []pawl.Reason
	for _, e := range b.log(id) {
		switch body := e.Body.(type) {
		case pawl.Injected:
			if body.Prompt == seq {
				t.Error("the prompt steered a turn in mode yolo")
			}
		case pawl.TurnFinished:
			ends = append(ends, body.Reason)
		default:
		}
	}
	if len(ends) != 3 || ends[0] != pawl.ReasonEndTurn || ends[1] != pawl.ReasonPermissionDenied {
		t.Errorf("the turns of the admin, of the reworded prompt and of the steering one ended with %v", ends)
	}
}

func TestCommandsAreCheckedWhenTheyRun(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	id := b.create("ada")
	p := b.prompt(`{"text":"Ok."}`)
	p.Mode = "yolo"
	b.run(b.scoped(api.ScopeAdmin), id, p)
	seq, err := b.all.Shell(asRun(t.Context()), id, "touch evil")
	if err != nil {
		t.Fatal(err)
	}
	b.settled(id)
	for _, e := range b.log(id) {
		if ran, ok := e.Body.(pawl.ShellRan); ok && ran.Asked == seq && ran.Status != pawl.CallDenied {
			t.Errorf("it ended with %+v", ran)
		}
	}
	b.noFile("evil")
}

func TestAnswersAreCheckedWhenTheyCount(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	for scope, allowed := range map[api.Scope]bool{api.ScopeRun: false, api.ScopeApprove: true} {
		id := b.create("ada")
		p := b.prompt(touchEvil, `{"text":"Ok."}`)
		p.Mode = "ask"
		seq, err := b.scoped(api.ScopeRun).Send(t.Context(), id, p)
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range b.all.Events(t.Context(), id, seq) {
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := e.Body.(pawl.Asked); !ok {
				continue
			}
			yes := pawl.Answer{Outcome: pawl.OutcomeAnswered}
			if err := b.scoped(scope).Answer(t.Context(), id, e.Seq, yes); (err == nil) != allowed {
				t.Errorf("the answer with the scope %s: %v", scope, err)
			}
			if !allowed {
				if err := b.all.Answer(asRun(t.Context()), id, e.Seq, yes); err != nil {
					t.Fatal(err)
				}
			}
			break
		}
		b.settled(id)
		_, err = os.Stat(filepath.Join(b.dir, "evil"))
		if (err == nil) != allowed {
			t.Errorf("with an answer of the scope %s: %v", scope, err)
		}
		_ = os.Remove(filepath.Join(b.dir, "evil"))
	}
}
