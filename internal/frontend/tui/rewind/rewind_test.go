package rewind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/frontend/tui/uitest"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func said(text string) pawl.Parts { return pawl.Parts{pawl.Text{Text: text}} }

// sample is a window over messages and plans that are there already.
func sample(t *testing.T, themeName string, k Kind) *Dialog {
	t.Helper()
	d := New(uitest.Shared(t, nil, themeName), "s", k)
	d.now = func() time.Time { return noon }
	d.fill(listedMsg{d, []Message{
		{Seq: 40, At: noon.Add(-20 * time.Second), Parts: said("and now\tthe tests,\nall \x1b]0;of\a them " + strings.Repeat("please ", 20))},
		{Seq: 30, At: noon.Add(-5 * time.Minute), Parts: said("rather in Go"), Steered: true},
		{Seq: 20, At: noon.Add(-3 * time.Hour), Parts: pawl.Parts{pawl.File{Name: "a.png"}}},
		{Seq: 10, At: noon.Add(-50 * time.Hour), Parts: said("fix the parser")},
	}, nil})
	return d
}

const patchText = `diff --git a/parse.go b/parse.go
index 5c1b149..0cfbf08 100644
--- a/parse.go
+++ b/parse.go
@@ -1,4 +1,3 @@ func Parse
 package parse
-// index of what is old
-x := 1
+x := 2
diff --git a/notes.txt b/notes.txt
deleted file mode 100644
index 45b983b..0000000
--- a/notes.txt
+++ /dev/null
@@ -1 +0,0 @@
-diff --git a/x b/x
[cut after 99 bytes: 2 of 3 files are shown, the last of them in part]
`

// plan is one of a session that has changed two files.
func plan(r pawl.Undo) pawl.UndoPlan {
	return pawl.UndoPlan{
		Undo: r, Prompt: said("fix the parser"), Messages: 7, Blind: []pawl.CallID{"c1"}, Diff: patchText,
		Files: []pawl.FileChange{{Path: "parse.go", Kind: "modify", Added: 1, Deleted: 2}, {Path: "a/very/long/way/to/" + strings.Repeat("folders/", 9) + "notes\x1b[2J.txt", Kind: "delete", Deleted: 1}},
	}
}

// known gives the window what it would get for the selection.
func known(d *Dialog, change func(*pawl.UndoPlan), err error) {
	order, _ := d.order()
	p := plan(order)
	if order.Redo != 0 {
		p.Redo = 50
	}
	if change != nil {
		change(&p)
	}
	d.came(previewMsg{d, order, preview{p, err}})
}

func conflicting(p *pawl.UndoPlan) { p.Files[0].Conflict = "changed since" }

func TestGolden(t *testing.T) {
	t.Parallel()
	dialogs := map[string]func(themeName string) *Dialog{
		"list": func(themeName string) *Dialog {
			d := sample(t, themeName, Back)
			known(d, nil, nil)
			return d
		},
		"looking": func(themeName string) *Dialog {
			d := sample(t, themeName, Back)
			d.move(1)
			return d
		},
		"closely": func(themeName string) *Dialog {
			d := sample(t, themeName, Back)
			d.choose()
			known(d, nil, nil)
			return d
		},
		"conflict": func(themeName string) *Dialog {
			d := sample(t, themeName, Undo)
			known(d, conflicting, nil)
			return d
		},
		"conversation": func(themeName string) *Dialog {
			d := sample(t, themeName, Undo)
			d.scope = pawl.ScopeConversation
			known(d, func(p *pawl.UndoPlan) { p.Files, p.Diff, p.Blind, p.Messages = nil, "", nil, 1 }, nil)
			return d
		},
		"unavailable": func(themeName string) *Dialog {
			d := sample(t, themeName, Undo)
			known(d, nil, errors.New("the files cannot be put back: snapshots need git; the conversation can go back alone"))
			return d
		},
		"redo": func(themeName string) *Dialog {
			d := sample(t, themeName, Redo)
			known(d, nil, nil)
			return d
		},
		"fork": func(themeName string) *Dialog {
			d := sample(t, themeName, Fork)
			d.fault = "session s: it is gone"
			return d
		},
	}
	for name, newDialog := range dialogs {
		for _, themeName := range []string{"dark", "plain"} {
			uitest.Golden(t, fmt.Sprintf("%s-%s-80", name, themeName), newDialog(themeName).View(80, 24), 80)
		}
		uitest.Golden(t, name+"-plain-120", newDialog("plain").View(120, 40), 120)
		for line := range strings.SplitSeq(newDialog("plain").View(20, 8), "\n") {
			if ansi.StringWidth(line) > 20 {
				t.Errorf("%s: too wide for 20 cells: %q", name, line)
			}
		}
	}
}

// counted is a service that counts how often it is asked for a plan.
type counted struct {
	pawl.Service
	previews atomic.Int64
}

func (c *counted) Preview(ctx context.Context, id pawl.SessionID, r pawl.Undo) (pawl.UndoPlan, error) {
	c.previews.Add(1)
	return c.Service.Preview(ctx, id, r)
}

// env is a dialog over a real session of three turns.
type env struct {
	*testing.T
	*Dialog
	svc    *counted
	dir    string
	ended  []Ended
	closed bool
}

func begin(t *testing.T, k Kind) *env {
	t.Helper()
	w := &env{T: t, svc: &counted{Service: servicetest.Local(t).Service}, dir: t.TempDir()}
	script := filepath.Join(t.TempDir(), "s.jsonl")
	lines := `{"calls":[{"name":"write","input":{"path":"a","content":"one"}}]}
{"text":"One."}
{"calls":[{"name":"edit","input":{"path":"a","old":"one","new":"two"}},{"name":"write","input":{"path":"b","content":"b"}}]}
{"text":"Two."}
{"text":"Three."}`
	if err := os.WriteFile(script, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := w.svc.Create(t.Context(), pawl.NewSession{Dir: w.dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first", "second", "third"} {
		seq, err := w.svc.Send(t.Context(), s.ID, pawl.Prompt{Parts: said(text), Settings: pawl.Settings{Model: "script:" + script, Mode: "yolo"}})
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range w.svc.Events(t.Context(), s.ID, seq) {
			if err != nil {
				t.Fatal(err)
			}
			if _, over := e.Body.(pawl.TurnFinished); over {
				break
			}
		}
	}
	w.Dialog = New(uitest.Shared(t, w.svc, "plain"), s.ID, k)
	w.run(w.Shown())
	return w
}

// run does what commands say, until nothing is left.
func (w *env) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	msg := cmd()
	if v := reflect.ValueOf(msg); msg != nil && v.Kind() == reflect.Slice && v.Type().Elem() == reflect.TypeFor[tea.Cmd]() {
		for i := range v.Len() {
			w.run(v.Index(i).Interface().(tea.Cmd))
		}
		return
	}
	if e, ok := msg.(Ended); ok {
		w.ended = append(w.ended, e)
		return
	}
	w.run(w.give(msg))
}

// give gives a message. The person looks at the result for long enough.
func (w *env) give(msg tea.Msg) tea.Cmd {
	next, cmd := w.Update(msg)
	w.lock = dialog.NewLock()
	w.closed = w.closed || next == nil
	w.View(80, 24)
	return cmd
}

// press gives keys, and waits for the result of each.
func (w *env) press(names ...string) {
	for _, name := range names {
		w.run(w.give(uitest.Key(name)))
	}
}

func (w *env) file(name string) string {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil && !os.IsNotExist(err) {
		w.Fatal(err)
	}
	return string(text)
}

func (w *env) says(parts ...string) {
	w.Helper()
	for _, p := range parts {
		if view := ansi.Strip(w.View(80, 24)); !strings.Contains(view, p) {
			w.Errorf("%q is not shown:\n%s", p, view)
		}
	}
}

// TestPreviews checks that a plan is made once, and only for a message that stays selected.
func TestPreviews(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := begin(t, Back)
	w.says("› third", "Undo 2 messages", "Change no files")
	passed := w.give(uitest.Key("down"))
	rests := w.give(uitest.Key("down"))
	w.run(passed)
	if n := w.svc.previews.Load(); n != 1 {
		t.Errorf("%d looks while the bar was moved", n)
	}
	w.run(rests)
	w.says("› first", "Change 2 files", "delete  a  +0 -1")
	w.press("home", "end")
	if n := w.svc.previews.Load(); n != 2 {
		t.Errorf("%d looks at two messages", n)
	}
	w.press("esc")
	if !w.closed {
		t.Error("it does not close")
	}
}

// TestBack previews a message, rewinds to it, and redoes.
func TestBack(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := begin(t, Back)
	w.press("down", "enter")
	w.says("from second", "[both]", "5 messages", "modify  a  +1 -1", "1 - two", "1 + one", "delete  b")
	w.press("tab")
	w.says("[files]", "Keep the conversation")
	w.press("tab")
	w.says("[conversation]", "Keep the files")
	w.press("tab", "enter")
	if len(w.ended) != 1 || w.ended[0].Err != nil {
		t.Fatalf("%+v", w.ended)
	}
	e := w.ended[0]
	if diff := cmp.Diff(said("second"), e.Prompt); diff != "" {
		t.Error(diff)
	}
	if got, want := e.Notice(), "Undid 5 messages and 2 file changes · /redo to restore"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if a, b := w.file("a"), w.file("b"); a != "one" || b != "" {
		t.Errorf("the files are %q, %q", a, b)
	}
	redo := &env{T: t, Dialog: New(w.shared, w.session, Redo), svc: w.svc, dir: w.dir}
	redo.run(redo.Shown())
	redo.says("from second", "Redo 5 messages", "create  b")
	redo.press("enter")
	if len(redo.ended) != 1 || redo.ended[0].Err != nil || redo.ended[0].Prompt != nil || w.file("a") != "two" {
		t.Errorf("%+v, the file is %q", redo.ended, w.file("a"))
	}
}

// TestConflicts: a file that somebody else has changed is not undone without a
// word, and each word does what it says.
func TestConflicts(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for key, want := range map[string]struct{ file, notice string }{
		"a": {"one", "Undid 5 messages and 2 file changes, backed up 1 file · /redo to restore"},
		"l": {"mine", "Undid 5 messages and 1 file change, kept 1 file · /redo to restore"},
	} {
		w := begin(t, Back)
		if err := os.WriteFile(filepath.Join(w.dir, "a"), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.press("down", "enter", "enter")
		w.says("1 file with other changes", "a back up", "l keep")
		if len(w.ended) > 0 || w.file("a") != "mine" {
			t.Fatalf("enter did it: %+v", w.ended)
		}
		w.press(key)
		if len(w.ended) != 1 || w.ended[0].Notice() != want.notice || w.file("a") != want.file {
			t.Errorf("%s: %+v, the file is %q", key, w.ended, w.file("a"))
		}
	}
}

// TestShown: nothing is done that was not shown, and no key counts that was
// pressed before it was.
func TestShown(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := begin(t, Undo)
	early := New(w.shared, w.session, Undo)
	shut := early.Shown()
	for _, cmd := range shut().(tea.BatchMsg)[1:] { // the plan, not the time
		early.Update(cmd())
	}
	early.View(80, 24)
	if _, cmd := early.Update(uitest.Key("enter")); cmd != nil {
		t.Error("a key that was pressed too early did it")
	}
	w.press("tab", "tab", "tab")
	if err := os.WriteFile(filepath.Join(w.dir, "a"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.press("enter") // the newest turn has not touched it
	if len(w.ended) != 1 || w.ended[0].Err != nil {
		t.Fatalf("%+v", w.ended)
	}
	w.Dialog = New(w.shared, w.session, Undo)
	w.run(w.Shown())
	w.says("from second", "with other changes")
	if err := os.WriteFile(filepath.Join(w.dir, "b"), []byte("mine too"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.press("l")
	last := w.ended[len(w.ended)-1]
	if !errors.Is(last.Err, errChanged) || w.file("b") != "mine too" {
		t.Fatalf("%+v, the file is %q", last, w.file("b"))
	}
	w.run(w.Fail(last.Err))
	w.says("have changed: review the new preview", "2 files with other changes")
}

// TestFork: a session begins before a message, or as this one is.
func TestFork(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := begin(t, Fork)
	w.press("down", "enter", "home", "enter")
	w.doing = false
	w.press("home", "enter")
	var prompts []string
	for _, e := range w.ended {
		if e.Err != nil || !e.Forked {
			t.Fatalf("%+v", e)
		}
		list, err := read(t.Context(), w.svc, e.Session)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			prompts = append(prompts, m.Parts.Text())
		}
		prompts = append(prompts, "> "+e.Prompt.Text())
	}
	if diff := cmp.Diff([]string{"second", "first", "> third", "third", "second", "first", "> "}, prompts); diff != "" {
		t.Error(diff)
	}
}

// TestNothing: without anything to go back to it is said so, and no window stays.
func TestNothing(t *testing.T) { //nolint:paralleltest // it sets environment variables
	svc := servicetest.Local(t).Service
	s, err := svc.Create(t.Context(), pawl.NewSession{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []Kind{Back, Undo, Redo} {
		d := New(uitest.Shared(t, svc, "plain"), s.ID, k)
		for _, cmd := range d.Shown()().(tea.BatchMsg)[1:] {
			next, nextCmd := d.Update(cmd())
			if next != nil || nextCmd == nil {
				t.Fatalf("%d: it stays", k)
			}
			switch m := nextCmd().(type) {
			case ui.Failed:
				if !errors.Is(m.Err, pawl.ErrNotFound) {
					t.Error(m.Err)
				}
			case ui.Notice:
			default:
				t.Errorf("%T", m)
			}
		}
	}
}
