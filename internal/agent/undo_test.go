package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/workspace/snapshot"
)

func bash(command string) string {
	return fmt.Sprintf(`{"name":"bash","input":{"command":%q}}`, command)
}

// busyScript does to files all that can be done to them, in two turns, the
// second of which is steered.
var busyScript = []string{
	`{"calls":[{"name":"write","input":{"path":"made.txt","content":"made\n"}},` + bash(`mkdir -p d/e; printf new > d/e/new; rm old.txt; printf more >> mod.txt`) + `]}`,
	`{"calls":[{"name":"read","input":{"path":"mod.txt"}},{"name":"edit","input":{"path":"mod.txt","old":"more","new":"less"}}]}`,
	`{"text":"The first is done."}`,
	`{"calls":[` + bash(`chmod +x made.txt; ln -s made.txt link; rm -r d; printf 'a\0b' > bin; exit 3`) + `]}`,
	`{"calls":[` + bash(`ln -sf mod.txt link; rm made.txt; mkdir made.txt; printf in > made.txt/in`) + `,{"name":"todowrite","input":{"todos":[]}}]}`,
	`{"text":"The second is done."}`,
	`{"text":"The third is done."}`,
}

// point is a session as it was before a message.
type point struct {
	files map[string]string
	talk  []pawl.Message
}

// workBusily plays the script and returns what was before each message.
func workBusily(t *testing.T) (*testEnv, map[pawl.Seq]point) {
	t.Helper()
	w := newUndoEnv(t, setup{script: busyScript})
	w.write("old.txt", "old\n")
	w.write("mod.txt", "mod ")
	points := map[pawl.Seq]point{}
	note := func() {
		events := w.events()
		for _, e := range slices.Backward(events) {
			switch e.Body.(type) {
			case pawl.TurnStarted, pawl.Injected: // nothing was done between it and this reply
				points[e.Seq] = point{files: w.show()}
			case pawl.Replied:
				return
			default:
			}
		}
	}
	w.model.begins = func(r model.Request) {
		note()
		points[w.events()[len(w.events())-1].Seq+1] = point{files: w.show()} // the reply's own
		if r.Replies == 3 {
			w.prompt("this way", steer)
		}
	}
	for _, text := range []string{"one", "two"} {
		w.prompt(text)
		w.mustTurn(pawl.ReasonEndTurn)
	}
	talk := w.talk()
	replied := map[pawl.Seq]point{}
	for _, e := range w.events() {
		switch e.Body.(type) {
		case pawl.TurnStarted, pawl.Injected, pawl.Replied:
			// A steering prompt may have come between the note and the reply.
			p, ok := points[e.Seq]
			if !ok {
				p, ok = points[e.Seq-1]
			}
			if !ok {
				t.Fatalf("nothing is known of %d", e.Seq)
			}
			for _, m := range talk {
				if m.Seq < e.Seq {
					p.talk = append(p.talk, m)
				}
			}
			replied[e.Seq] = p
		default:
		}
	}
	return w, replied
}

// From any message, with any scope, the session goes back to what was before it,
// byte for byte, and forward again.
func TestRewindToAnyMessage(t *testing.T) {
	t.Parallel()
	w, points := workBusily(t)
	if len(points) != 9 {
		t.Fatalf("%d messages, want 2 turns, a steering prompt and 6 replies", len(points))
	}
	end := point{w.show(), w.talk()}
	for to, before := range points {
		for _, scope := range []pawl.Scope{pawl.ScopeBoth, pawl.ScopeFiles, pawl.ScopeConversation} {
			t.Run(fmt.Sprintf("%d %s", to, scope), func(t *testing.T) {
				w.t = t
				done := w.order(pawl.Undo{To: to, Scope: scope})
				check(t, "", done.Refused)
				want := before
				if !scope.Files() {
					want.files = end.files
				}
				if !scope.Conversation() {
					want.talk = end.talk
				}
				check(t, want.files, w.show())
				talk := w.talk()
				if scope == pawl.ScopeFiles && len(done.Changed) > 0 {
					last := talk[len(talk)-1]
					if !strings.Contains(last.Text(), "put these files back") {
						t.Errorf("the model is told %q", last.Text())
					}
					talk = talk[:len(talk)-1]
				}
				check(t, want.talk, talk, cmpopts.EquateEmpty())

				check(t, "", w.order(pawl.Undo{Redo: pawl.LastUndo}).Refused)
				check(t, end.files, w.show())
				talk = slices.DeleteFunc(w.talk(), func(m pawl.Message) bool { return strings.HasPrefix(m.Text(), "[The user has") })
				end := slices.DeleteFunc(slices.Clone(end.talk), func(m pawl.Message) bool { return strings.HasPrefix(m.Text(), "[The user has") })
				check(t, end, talk)
			})
			end.talk = w.talk() // with what the model learned
		}
	}
	w.t = t
	w.prompt("three")
	w.mustTurn(pawl.ReasonEndTurn)
}

// What a preview says is what is done.
func TestUndoPlan(t *testing.T) {
	t.Parallel()
	w, points := workBusily(t)
	plan, err := w.PlanUndo(t.Context(), session, pawl.Undo{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, pawl.Parts{pawl.Text{Text: "two"}}, plan.Prompt)
	check(t, 5, plan.Messages) // the prompt, the steering one, three replies
	check(t, w.newest(pawl.TurnStarted{}), plan.To)
	check(t, []pawl.FileChange{
		{Path: "bin", Kind: "delete"},
		{Path: "d/e/new", Kind: "create", Added: 1},
		{Path: "link", Kind: "delete", Deleted: 1},
		{Path: "made.txt", Kind: "create", Added: 1},
		{Path: "made.txt/in", Kind: "delete", Deleted: 1},
	}, plan.Files)
	if !strings.Contains(plan.Diff, "+made\n") || !strings.Contains(plan.Diff, "deleted file mode 120000") || strings.Contains(plan.Diff, "mod.txt b/mod.txt") {
		t.Errorf("the diff is %s", plan.Diff)
	}
	check(t, points[plan.To].files, func() map[string]string { w.order(plan.Undo); return w.show() }())
	steered := pawl.Seq(0)
	for _, e := range w.events() {
		if _, ok := e.Body.(pawl.Injected); ok {
			steered = e.Seq
		}
	}
	for _, tt := range []struct {
		name string
		r    pawl.Undo
		want pawl.Code
	}{
		{"no message", pawl.Undo{To: 2}, pawl.CodeNotFound},
		{"one that is gone", pawl.Undo{To: steered}, pawl.CodeNotFound},
		{"beyond the end", pawl.Undo{To: 1000}, pawl.CodeNotFound},
		{"below the beginning", pawl.Undo{To: -3}, pawl.CodeNotFound},
		{"not the newest", pawl.Undo{Redo: 4}, pawl.CodeConflict},
	} {
		if _, err := w.PlanUndo(t.Context(), session, tt.r); err == nil || pawl.CodeOf(err) != tt.want {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
	plan, err = w.PlanUndo(t.Context(), session, pawl.Undo{Redo: pawl.LastUndo, Scope: pawl.ScopeFiles, Conflicts: pawl.ConflictsLeave})
	if err != nil {
		t.Fatal(err)
	}
	check(t, pawl.Undo{Redo: w.newest(pawl.Undone{}), Conflicts: pawl.ConflictsLeave}, plan.Undo)
	check(t, 5, plan.Messages)
	check(t, 5, len(plan.Files))
}

// The words that an undo gives back to the person are the ones that counted.
func TestUndoPlanOfARewordedPrompt(t *testing.T) {
	t.Parallel()
	w := newUndoEnv(t, setup{script: []string{`{"text":"Ok."}`}})
	seq := w.prompt("go west", queue)
	w.append(pawl.Reworded{Prompt: seq, Parts: pawl.Parts{pawl.Text{Text: "go east"}}})
	w.mustTurn(pawl.ReasonEndTurn)
	plan, err := w.PlanUndo(t.Context(), session, pawl.Undo{})
	if err != nil {
		t.Fatal(err)
	}
	check(t, pawl.UndoPlan{Undo: pawl.Undo{To: w.newest(pawl.TurnStarted{})}, Prompt: pawl.Parts{pawl.Text{Text: "go east"}}, Messages: 2}, plan)
	plan, err = w.PlanUndo(t.Context(), session, pawl.Undo{To: w.newest(pawl.Replied{})})
	if err != nil {
		t.Fatal(err)
	}
	check(t, pawl.UndoPlan{Undo: pawl.Undo{To: w.newest(pawl.Replied{})}, Messages: 1}, plan)
}

// Undo goes on to the turns before, redo comes back the same way, and what was
// undone before the session went on does not return.
func TestUndoTwiceRedoTwice(t *testing.T) {
	t.Parallel()
	w, points := workBusily(t)
	starts := []pawl.Seq{}
	for _, e := range w.events() {
		if _, ok := e.Body.(pawl.TurnStarted); ok {
			starts = append(starts, e.Seq)
		}
	}
	end := point{w.show(), w.talk()}
	w.order(pawl.Undo{})
	first := w.newest(pawl.Undone{})
	check(t, points[starts[1]].files, w.show())
	w.order(pawl.Undo{})
	check(t, points[starts[0]].files, w.show())
	check(t, 0, len(w.talk()))
	if _, err := w.PlanUndo(t.Context(), session, pawl.Undo{}); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("a third undo: %v", err)
	}
	if _, err := w.PlanUndo(t.Context(), session, pawl.Undo{Redo: first}); !errors.Is(err, pawl.ErrConflict) {
		t.Errorf("a redo of the first: %v", err)
	}
	w.order(pawl.Undo{Redo: pawl.LastUndo})
	check(t, points[starts[1]].files, w.show())
	check(t, points[starts[1]].talk, w.talk())
	check(t, "", w.order(pawl.Undo{Redo: first}).Refused)
	check(t, end, point{w.show(), w.talk()}, cmpopts.EquateEmpty(), cmp.AllowUnexported(point{}))
	if _, err := w.PlanUndo(t.Context(), session, pawl.Undo{Redo: pawl.LastUndo}); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("a third redo: %v", err)
	}

	w.order(pawl.Undo{})
	undone := w.newest(pawl.Undone{})
	w.prompt("another way")
	w.mustTurn(pawl.ReasonEndTurn)
	for _, redo := range []pawl.Seq{pawl.LastUndo, undone} {
		if _, err := w.PlanUndo(t.Context(), session, pawl.Undo{Redo: redo}); !errors.Is(err, pawl.ErrNotFound) {
			t.Errorf("a redo after the session went on: %v", err)
		}
	}
}

// The middle of a turn cannot be undone to a point in between, and the session goes on from there.
func TestRewindIntoATurn(t *testing.T) {
	t.Parallel()
	w, points := workBusily(t)
	var second pawl.Seq
	for _, e := range w.events() {
		if r, ok := e.Body.(pawl.Replied); ok && r.Step == 2 {
			second = e.Seq
			break
		}
	}
	w.order(pawl.Undo{To: second})
	check(t, points[second].files, w.show())
	w.prompt("then this")
	w.mustTurn(pawl.ReasonEndTurn)
	request := w.model.requests[len(w.model.requests)-1]
	var roles []pawl.Role
	for _, m := range request.Messages {
		roles = append(roles, m.Role)
	}
	check(t, []pawl.Role{pawl.RoleUser, pawl.RoleAssistant, pawl.RoleTool, pawl.RoleUser}, roles)
	check(t, []pawl.Message{{Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: "then this"}}}, says(pawl.Text{Text: "The third is done."})}, w.conversation()[3:])
	check(t, points[second].files, w.show())
}

// A compaction that a rewind removes leaves the conversation as it was.
func TestUndoOverACompaction(t *testing.T) {
	t.Parallel()
	w, _ := workBusily(t)
	before := w.talk()
	second := w.newest(pawl.TurnStarted{})
	w.append(pawl.Compacted{Keep: second, Text: "a summary"})
	check(t, "a summary", w.talk()[0].Text())
	w.order(pawl.Undo{To: second, Scope: pawl.ScopeConversation})
	var want []pawl.Message
	for _, m := range before {
		if m.Seq < second {
			want = append(want, m)
		}
	}
	check(t, want, w.talk())
	w.order(pawl.Undo{Redo: pawl.LastUndo})
	check(t, "a summary", w.talk()[0].Text())
}

// The files and the conversation go back apart from each other, in any order.
func TestFilesAndConversationApart(t *testing.T) {
	t.Parallel()
	w, points := workBusily(t)
	var starts []pawl.Seq
	for _, e := range w.events() {
		if _, ok := e.Body.(pawl.TurnStarted); ok {
			starts = append(starts, e.Seq)
		}
	}
	end := w.show()

	// The files of a turn that are back already do not go back again.
	w.order(pawl.Undo{Scope: pawl.ScopeFiles})
	check(t, points[starts[1]].files, w.show())
	plan, err := w.PlanUndo(t.Context(), session, pawl.Undo{Scope: pawl.ScopeFiles})
	if err != nil {
		t.Fatal(err)
	}
	check(t, starts[0], plan.To)
	check(t, "", w.order(pawl.Undo{To: starts[0]}).Refused)
	check(t, points[starts[0]].files, w.show())
	check(t, "", w.order(pawl.Undo{Redo: pawl.LastUndo}).Refused)
	check(t, points[starts[1]].files, w.show())
	check(t, "", w.order(pawl.Undo{Redo: pawl.LastUndo}).Refused)
	check(t, end, w.show())

	// What was done in a turn that only the conversation forgot goes back too.
	w.order(pawl.Undo{Scope: pawl.ScopeConversation})
	check(t, end, w.show())
	check(t, "", w.order(pawl.Undo{To: starts[0]}).Refused)
	check(t, points[starts[0]].files, w.show())
}

// What somebody else changed since is in the way, unless a person says what happens to
// it.
func TestConflicts(t *testing.T) {
	t.Parallel()
	for _, how := range []pawl.Conflicts{pawl.ConflictsRefuse, pawl.ConflictsAside, pawl.ConflictsLeave} {
		t.Run("way "+string(how), func(t *testing.T) {
			w := newUndoEnv(t, setup{script: []string{
				`{"calls":[` + bash("printf changed > a; printf changed > b; printf made > c") + `]}`, `{"text":"Ok."}`,
			}})
			w.write("a", "first")
			w.write("b", "first")
			w.prompt("go")
			w.mustTurn(pawl.ReasonEndTurn)
			before := w.talk()
			w.write("a", "mine")
			plan, err := w.PlanUndo(t.Context(), session, pawl.Undo{})
			if err != nil {
				t.Fatal(err)
			}
			check(t, []string{"a"}, plan.Conflicting())
			done := w.order(pawl.Undo{Conflicts: how})
			now := w.show()
			switch how {
			case pawl.ConflictsRefuse:
				if !strings.Contains(done.Refused, `"a"`) {
					t.Errorf("refused because %q", done.Refused)
				}
				check(t, map[string]string{"a": "-rw-r--r-- mine", "b": "-rw-r--r-- changed", "c": "-rw-r--r-- made"}, now)
				check(t, before, w.talk())
			case pawl.ConflictsAside:
				check(t, map[string]string{"a": "-rw-r--r-- first", "b": "-rw-r--r-- first"}, now)
				check(t, []string{"a", "b", "c"}, done.Changed)
				kept, err := os.ReadFile(done.Aside["a"])
				check(t, "mine", string(kept))
				check(t, nil, err)
			case pawl.ConflictsLeave:
				check(t, map[string]string{"a": "-rw-r--r-- mine", "b": "-rw-r--r-- first"}, now)
				check(t, pawl.Undone{Asked: done.Asked, Changed: []string{"b", "c"}, Left: []string{"a"}}, done)
			}
			if how != pawl.ConflictsRefuse {
				check(t, 0, len(w.talk()))
			}
		})
	}
}

// cutShort is a store of snapshots that is killed while it puts files back.
type cutShort struct {
	*snapshot.Store
	after int // files
}

var errKilled = errors.New("killed")

func (c *cutShort) Apply(ctx context.Context, plan snapshot.Plan, how snapshot.Conflicts) (snapshot.Report, error) {
	plan.Files = slices.Clone(plan.Files)[:min(c.after, len(plan.Files))]
	if _, err := c.Store.Apply(ctx, plan, how); err != nil {
		return snapshot.Report{}, err
	}
	panic(errKilled)
}

// An undo that is killed at any point ends the same when it is made again, and a
// prompt that came meanwhile is worked on after it.
func TestUndoKilled(t *testing.T) {
	t.Parallel()
	for _, scope := range []pawl.Scope{pawl.ScopeBoth, pawl.ScopeFiles} {
		for after := -1; after <= 3; after++ { // files that were put back; -1: it is not killed
			t.Run(fmt.Sprintf("%s %d", scope, after), func(t *testing.T) {
				w := newUndoEnv(t, setup{script: []string{
					`{"calls":[` + bash("printf changed > a; printf changed > b; printf made > c") + `]}`, `{"text":"Ok."}`, `{"text":"More."}`,
				}})
				w.write("a", "first")
				w.write("b", "first")
				w.prompt("go")
				w.mustTurn(pawl.ReasonEndTurn)
				plan, err := w.PlanUndo(t.Context(), session, pawl.Undo{Scope: scope})
				if err != nil {
					t.Fatal(err)
				}
				asked := w.append(pawl.UndoAsked{Undo: plan.Undo})
				if after >= 0 {
					snapshots := w.Snapshots.(*snapshot.Store)
					w.Snapshots = &cutShort{snapshots, after}
					killed(t, func() { _, _, _ = w.Begin(t.Context(), session) })
					w.Snapshots = snapshots
					w.Stepper = NewStepper(w.Config) // another process
				}
				w.prompt("more", queue)
				w.mustTurn(pawl.ReasonEndTurn)
				check(t, []pawl.Body{pawl.Undone{Asked: asked, Changed: []string{"a", "b", "c"}}}, w.bodies(pawl.Undone{}))
				check(t, map[string]string{"a": "-rw-r--r-- first", "b": "-rw-r--r-- first"}, w.show())
				talk := w.conversation()
				check(t, []pawl.Message{user("more"), says(pawl.Text{Text: "More."})}, talk[len(talk)-2:])
				check(t, map[pawl.Scope]int{pawl.ScopeBoth: 2, pawl.ScopeFiles: 7}[scope], len(talk))
			})
		}
	}
}

func killed(t *testing.T, do func()) {
	t.Helper()
	defer func() {
		if v := recover(); v != errKilled { //nolint:errorlint // the very value
			t.Fatalf("not killed: %v", v)
		}
	}()
	do()
}
