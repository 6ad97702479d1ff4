package access_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
	"github.com/pawl-dev/pawl/internal/store"
)

func TestMain(m *testing.M) {
	// Starts the keeper of this process's commands, which lives as long as the process.
	if _, err := proc.Run(context.Background(), proc.Command{Args: []string{"true"}, Output: io.Discard}); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

// The one who runs the server has all of it, as if nothing were between.
func TestContract_Access(t *testing.T) { //nolint:paralleltest // it sets environment variables
	servicetest.Run(t, func(t *testing.T) servicetest.Harness {
		h := servicetest.Local(t)
		h.Service = new(access.Access).For(h.Service, api.Principal{Scope: api.ScopeAdmin})
		return h
	})
}

// team is a service with users.
type team struct {
	*testing.T
	access.Access
	all   pawl.Service
	store store.Store
	dir   string
}

func newTeam(t *testing.T) *team {
	h := servicetest.Local(t)
	return &team{T: t, all: h.Service, store: h.Store, dir: t.TempDir()}
}

// as is the service for a user, with the limits of their token.
func (b *team) as(u pawl.User, limits ...store.Limits) pawl.Service {
	p := api.Principal{User: u, Token: "of " + string(u), Scope: api.ScopeRun}
	for _, l := range limits {
		p.Limits = l
	}
	return b.For(b.all, p)
}

// create makes a session for a user.
func (b *team) create(u pawl.User) pawl.SessionID {
	b.Helper()
	s, err := b.as(u).Create(b.Context(), pawl.NewSession{Dir: b.dir})
	if err != nil {
		b.Fatal(err)
	}
	return s.ID
}

// prompt is one for a model that answers so.
func (b *team) prompt(lines ...string) pawl.Prompt {
	b.Helper()
	path := filepath.Join(b.TempDir(), "script.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	return pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: servicetest.TestModel + path, Mode: "guard"}}
}

// run sends a prompt and returns why its turn ended.
func (b *team) run(svc pawl.Service, id pawl.SessionID, p pawl.Prompt) pawl.Reason {
	b.Helper()
	seq, err := svc.Send(b.Context(), id, p)
	if err != nil {
		b.Fatal(err)
	}
	for e, err := range b.all.Events(b.Context(), id, seq) {
		if err != nil {
			b.Fatal(err)
		}
		if f, ok := e.Body.(pawl.TurnFinished); ok {
			return f.Reason
		}
	}
	b.Fatal("it has not ended")
	return ""
}

// log is a session's, as it is in the store.
func (b *team) log(id pawl.SessionID) (events []pawl.Event) {
	b.Helper()
	for e, err := range b.store.Events(b.Context(), id, 0) {
		if err != nil {
			b.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

func (b *team) share(id pawl.SessionID, owner pawl.User, with ...pawl.User) {
	b.Helper()
	if err := b.as(owner).Share(b.Context(), id, with); err != nil {
		b.Fatal(err)
	}
}

// What a method is for: whom it lets at a session.
type reach int

const (
	reads  reach = iota // those with whom it is shared too
	writes              // the owner alone
	picks               // it answers with what one may see
)

type attempt struct {
	reach reach
	do    func(ctx context.Context, s pawl.Service, id pawl.SessionID) error
}

// attempts are what can be tried on a session, by the methods of pawl.Service.
func (b *team) attempts() map[string]attempt {
	words := pawl.Parts{pawl.Text{Text: "x"}}
	return map[string]attempt{
		"Create": {picks, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error {
			_, err := s.Create(ctx, pawl.NewSession{Dir: b.dir, Parent: id})
			return err
		}},
		"Mission": {reads, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error {
			_, err := s.Mission(ctx, id)
			if errors.Is(err, pawl.ErrInvalid) { // it is let through, and commands none
				return nil
			}
			return err
		}},
		"Get": {reads, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error {
			_, err := s.Get(ctx, id)
			return err
		}},
		"List": {picks, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error {
			subagents, err := s.List(ctx, pawl.Filter{Parent: id})
			return none(subagents.Sessions, err)
		}},
		"Usage": {picks, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error {
			rows, err := s.Usage(ctx, pawl.UsageFilter{Session: id})
			return none(rows, err)
		}},
		"Send": {writes, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error {
			_, err := s.Send(ctx, id, b.prompt(`{"text":"x"}`))
			return err
		}},
		"Waiting": {reads, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error {
			_, err := s.Waiting(ctx, id)
			return err
		}},
		"Reword":   {writes, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error { return s.Reword(ctx, id, 2, words) }},
		"Withdraw": {writes, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error { return s.Withdraw(ctx, id, 2) }},
		"Resume":   {writes, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error { return s.Resume(ctx, id) }},
		"Answer": {writes, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error {
			return s.Answer(ctx, id, 2, pawl.Answer{Outcome: pawl.OutcomeDenied})
		}},
		"Cancel": {writes, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error { return s.Cancel(ctx, id) }},
		"Compact": {writes, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error {
			_, err := s.Compact(ctx, id, "")
			return err
		}},
		"Shell": {writes, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error {
			_, err := s.Shell(ctx, id, "true")
			return err
		}},
		"Preview": {writes, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error {
			_, err := s.Preview(ctx, id, pawl.Undo{})
			return err
		}},
		"Undo": {writes, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error {
			_, err := s.Undo(ctx, id, pawl.Undo{})
			return err
		}},
		"Fork": {writes, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error {
			_, err := s.Fork(ctx, id, 0)
			return err
		}},
		"Rename": {writes, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error { return s.Rename(ctx, id, "taken") }},
		"Share": {writes, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error {
			return s.Share(ctx, id, []pawl.User{"eve"})
		}},
		"Events": {reads, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error {
			for _, err := range s.Events(ctx, id, 0) {
				return err
			}
			return errors.New("there are none")
		}},
		"Draft": {reads, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error {
			_, err := s.Draft(ctx, id)
			return err
		}},
		"Output": {reads, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error {
			_, err := s.Output(ctx, id, "none")
			return err
		}},
		"Import": {picks, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error {
			_, err := s.Import(ctx, pawl.NewSession{Dir: b.dir, Parent: id}, imported(pawl.SessionCreated{Dir: b.dir}))
			return err
		}},
		"Delete": {writes, func(ctx context.Context, s pawl.Service, id pawl.SessionID) error { return s.Delete(ctx, id) }},
	}
}

// none makes an empty list what it means: there is nothing.
func none[T any](list []T, err error) error {
	if err == nil && len(list) == 0 {
		return fmt.Errorf("none: %w", pawl.ErrNotFound)
	}
	return err
}

// imported is a log of a new session.
func imported(bodies ...pawl.Body) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		for i, body := range bodies {
			if !yield(pawl.Event{Session: "01JD0000000000000000000009", Seq: pawl.Seq(i + 1), Body: body}, nil) {
				return
			}
		}
	}
}

// worked returns a session of a user that has done some work, and its subagent.
func (b *team) worked(u pawl.User) (id, subagent pawl.SessionID) {
	b.Helper()
	id = b.create(u)
	b.run(b.as(u), id, b.prompt(
		`{"calls":[{"name":"task","input":{"agent":"general","prompt":"x","description":"x"}}],"usage":{"cost":40}}`,
		`{"text":"Ok."}`, `{"agent":"general","text":"Done.","usage":{"cost":2}}`))
	subagents, err := b.all.List(b.Context(), pawl.Filter{Parent: id})
	if err != nil || len(subagents.Sessions) != 1 {
		b.Fatal(subagents, err)
	}
	return id, subagents.Sessions[0].ID
}

// Each method of the service keeps another's session from one who knows its id,
// and does not even say that it is there.
func TestEveryMethodIsGuarded(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	id, subagent := b.worked("ada")
	b.share(id, "ada", "bob")
	attempts := b.attempts()
	for m := range reflect.TypeFor[pawl.Service]().Methods() {
		if _, folders := reflect.TypeFor[pawl.Projects]().MethodByName(m.Name); folders && m.Name != "Output" {
			continue // not about sessions
		}
		if m.Name == "StartMission" {
			continue // not about one that is there: see TestMissionsAreTheUsersOwn
		}
		if _, ok := attempts[m.Name]; !ok {
			t.Errorf("pawl.Service has %s, which nobody has tried on another's session", m.Name)
		}
	}
	const missing pawl.SessionID = "01JD0000000000000000000000"
	before := map[pawl.SessionID][]pawl.Event{id: b.log(id), subagent: b.log(subagent)}
	for name, try := range attempts {
		for target := range before {
			err := try.do(t.Context(), b.as("mallory"), target)
			if !errors.Is(err, pawl.ErrNotFound) {
				t.Errorf("%s: mallory got %v", name, err)
				continue
			}
			other := try.do(t.Context(), b.as("mallory"), missing)
			if same := strings.ReplaceAll(err.Error(), string(target), string(missing)); other == nil || same != other.Error() {
				t.Errorf("%s tells what is there: %q, of what is not: %v", name, err, other)
			}
			if err := try.do(t.Context(), b.as("bob"), target); try.reach == writes && !errors.Is(err, pawl.ErrNotFound) {
				t.Errorf("%s: bob, who may read it, got %v", name, err)
			} else if try.reach == reads && name != "Draft" && name != "Output" && err != nil {
				t.Errorf("%s: bob, who may read it, got %v", name, err)
			}
		}
	}
	for target, log := range before {
		if diff := cmp.Diff(log, b.log(target)); diff != "" {
			t.Errorf("the log of %s was changed:\n%s", target, diff)
		}
	}
}
