package lineui

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// A person learns that pawl works, while it says nothing and asks nothing.
func TestStillWorking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := newUI(Config{Out: &out})
		s.sessionEvent(t.Context(), pawl.Event{At: time.Now(), Body: pawl.TurnStarted{}})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
		defer cancel()
		if err := s.run(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if diff := cmp.Diff("working: 30 seconds so far\nworking: 1 minute so far\nworking: 1 minute 30 seconds so far\n", out.String()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// A question takes answers once nothing was typed for a while; what there is then
// is forgotten before it says so.
func TestSettles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		begin := time.Now()
		var forgot []time.Duration
		s := newUI(Config{Out: &out, Forget: func() {
			forgot = append(forgot, time.Since(begin))
			if strings.Contains(out.String(), "number: ") {
				t.Error("what is typed behind the hint is forgotten")
			}
		}})
		taken := 0
		s.present(s.menu(func() { s.out.printf("ask: well?") }, []choice{{number: "1", text: "yes", do: func(context.Context, string) { taken++ }}}))
		in := make(chan userInput)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			defer cancel()
			for _, wait := range []time.Duration{350, 350, 600} {
				time.Sleep(wait * time.Millisecond)
				in <- userInput{lines: []string{"1"}, at: time.Now()}
			}
			synctest.Wait()
		}()
		if err := s.run(ctx, in); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if taken != 1 || strings.Count(out.String(), "ignored") != 2 {
			t.Errorf("%d answers were taken:\n%s", taken, out.String())
		}
		if len(forgot) != 1 || forgot[0] < 1100*time.Millisecond {
			t.Errorf("forgot at %v", forgot)
		}
	})
}

// flaky is a service whose events break off.
type flaky struct {
	pawl.Service
	left int
}

func (f *flaky) Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		if f.left--; f.left >= 0 {
			yield(pawl.Event{}, errors.New("gone\x1b[2J"))
			return
		}
		yield(pawl.Event{Session: id, Seq: after + 1, Body: pawl.ModeChanged{Mode: "plan"}}, nil)
		<-ctx.Done()
	}
}

// A session that cannot be heard is heard again by itself; it is said once that it is
// lost, and where nothing is missing then.
func TestLostAndFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := newUI(Config{Service: &flaky{left: 3}, Out: &out})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		s.follow(ctx, "s", 7)
		if err := s.run(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		want := "> \nconnection: lost, reconnecting: gone\\u{1b}[2J\n> \nconnection: restored\nnote: Permission mode: plan\n> "
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// Who has chosen nothing chooses a model and a mode, and the choice is kept.
func TestFirstChoice(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := newHarness(t)
	s.Settings = pawl.Settings{}
	var kept []string
	s.Onboarding.Save = func(model, mode string) error {
		kept = append(kept, model, mode)
		return nil
	}
	s.start(s.ctx)
	s.until("1: p/m\n")
	s.settles().write("7").until("not a number of the list")
	s.write("1").until("recommended")
	s.settles().write("plan").until("in your configuration")
	if diff := cmp.Diff([]string{"p/m", "plan", s.Settings.Model, s.Settings.Mode}, append(kept, "p/m", "plan")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A session that is opened says its newest turn again, and not what was undone.
func TestOpen(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := newHarness(t, `{"text":"One."}`, `{"text":"Two."}`)
	s.write("first").until("done: ")
	s.write("second").until("done: ")
	id := s.session.ID
	if err := s.openSession(s.ctx, id); err != nil {
		t.Fatal(err)
	}
	if messages := s.until("done: "); !strings.Contains(messages, "you: second\npawl: Two.\n") || strings.Contains(messages, "One.") {
		t.Errorf("it says\n%s", messages)
	}
	s.write("/undo").until("3: no\n")
	s.settles().write("1").until("note: Undone\n")
	s.until("> ")
	if err := s.openSession(s.ctx, id); err != nil {
		t.Fatal(err)
	}
	if messages := s.until("> "); strings.Contains(messages, "Two.") || !strings.Contains(messages, "pawl: One.\n") || !strings.Contains(messages, "note: Undone\n") {
		t.Errorf("it says\n%s", messages)
	}
	s.write("/rewind").until("1: first\nmessages: 1,")
}
