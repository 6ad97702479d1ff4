package editor

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/completion"
	"github.com/pawl-dev/pawl/internal/frontend/tui/editor/history"
	"github.com/pawl-dev/pawl/internal/frontend/tui/picker"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// TestSend: what enter and its relatives do with what is written.
func TestSend(t *testing.T) {
	t.Parallel()
	prompt := func(text string, d pawl.Delivery) tea.Msg {
		return Submit{Number: 1, Pieces: []textinput.Piece{{Text: text}}, Delivery: d}
	}
	for _, c := range []struct {
		name, keys string
		want       []tea.Msg
		left       string
	}{
		{"nothing", "‹enter›", nil, ""},
		{"blanks", "  ‹ctrl+j›‹enter›", nil, "  \n"},
		{"a prompt", "go‹enter›", []tea.Msg{prompt("go", pawl.DeliverSteer)}, ""},
		{"queued", "go‹ctrl+q›", []tea.Msg{prompt("go", pawl.DeliverQueue)}, ""},
		{"typed ahead", "one‹enter›two", []tea.Msg{prompt("one", pawl.DeliverSteer)}, "two"},
		{"a command", "/quit‹enter›", []tea.Msg{completion.Run{Name: "quit"}}, ""},
		{"a command by its first letters", "/hel‹enter›", []tea.Msg{completion.Run{Name: "help"}}, ""},
		{"a command with arguments", "/rename a title‹enter›", []tea.Msg{completion.Run{Name: "rename", Arguments: "a title"}}, ""},
		{"one that needs them is completed", "/rena‹enter›", nil, "/rename "},
		{"tab completes only", "/qui‹tab›", nil, "/quit "},
		{"another is chosen", "/co‹down›‹enter›", []tea.Msg{completion.Run{Name: "compact"}}, ""},
		{"and back around", "/ne‹up›‹down›‹enter›", []tea.Msg{completion.Run{Name: "new"}}, ""},
		{"one of the folder's is sent", "/check‹enter›", []tea.Msg{prompt("/check", pawl.DeliverSteer)}, ""},
		{"with arguments", "/review main‹enter›", []tea.Msg{prompt("/review main", pawl.DeliverSteer)}, ""},
		{"a path is no command", "/etc/hosts?‹enter›", []tea.Msg{prompt("/etc/hosts?", pawl.DeliverSteer)}, ""},
		{"nor is what a blank stands before", " /quit‹enter›", []tea.Msg{prompt(" /quit", pawl.DeliverSteer)}, ""},
		{"a mention is put in", "see @app‹enter› now‹enter›", []tea.Msg{prompt("see @app.go  now", pawl.DeliverSteer)}, ""},
		{"another mention", "see @app‹down›‹tab›", nil, "see @internal/app_test.go "},
		{"in the middle of a text", "a b‹left›@app‹tab›", nil, "a @app.go b"},
		{"esc offers nothing more of it", "see @app‹esc›‹enter›", []tea.Msg{prompt("see @app", pawl.DeliverSteer)}, ""},
		{"but the next one", "see @app‹esc› @exp‹tab›", nil, "see @app @explore "},
		{"a shell command", "! ls -l ‹enter›", []tea.Msg{Shell{1, "ls -l"}}, ""},
		{"no shell command", "!‹enter›", nil, "!"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, nil).write(c.keys)
			if diff := cmp.Diff(c.want, s.sent); diff != "" {
				t.Error(diff)
			}
			if s.Text() != c.left {
				t.Errorf("left: %q, want %q", s.Text(), c.left)
			}
		})
	}
}

// TestUnknown: an unknown command is not sent, stays written, and says what is
// near.
func TestUnknown(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil).write("/chek it‹enter›")
	if f, ok := s.sent[0].(ui.Failed); !ok || !strings.Contains(fault.Text(f.Err), `Did you mean "/check"?`) || s.Text() != "/chek it" {
		t.Errorf("got %v, %q left", s.sent, s.Text())
	}
}

// TestFoldedCommand: no command runs that is not seen whole; tab opens it.
func TestFoldedCommand(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil).write("!sh ").paste(lines(20)).write("‹enter›")
	if f, ok := s.sent[0].(ui.Failed); !ok || !errors.Is(f.Err, pawl.ErrInvalid) {
		t.Fatalf("got %v", s.sent)
	}
	s.write("‹tab›‹enter›")
	if diff := cmp.Diff(tea.Msg(Shell{1, "sh " + strings.TrimSpace(lines(20))}), s.sent[1]); diff != "" {
		t.Error(diff)
	}
}

// TestHistory: earlier prompts come back, of this run and of others, and what was
// being written does too.
func TestHistory(t *testing.T) {
	t.Parallel()
	file := history.File{Path: filepath.Join(t.TempDir(), "prompts.jsonl")}
	newStage(t, file).write("one‹enter›").write("two‹ctrl+j›lines‹enter›")
	for _, c := range []struct{ name, keys, want string }{
		{"the last", "‹up›", "two\nlines"},
		{"the one before", "‹up›‹up›", "one"},
		{"no further", "‹up›‹up›‹up›", "one"},
		{"and back", "‹up›‹up›‹down›", "two\nlines"},
		{"to what was written", "draft‹up›‹up›‹down›‹down›‹down›", "draft"},
		{"only at the edge", "a‹ctrl+j›b‹up›", "a\nb"},
		{"and then further", "a‹ctrl+j›b‹up›‹up›", "two\nlines"},
		{"changed and sent", "‹up›!‹enter›‹up›", "!two\nlines"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := newStage(t, history.File{Path: copyOf(t, file.Path)}).write(c.keys).Text(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func copyOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "copy.jsonl")
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestSearch: ctrl+r finds an earlier prompt.
func TestSearch(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil).write("first one‹enter›second two‹enter›third‹enter›")
	s.sent = nil
	s.write("‹ctrl+r›")
	d := s.sent[0].(ui.Open).Dialog
	var cmd tea.Cmd
	for _, k := range []tea.KeyPressMsg{{Text: "w", Code: 'w'}, {Text: "o", Code: 'o'}, {Code: tea.KeyEnter}} {
		d, cmd = d.Update(k)
	}
	if d != nil {
		t.Fatal("it is open still")
	}
	s.do(s.Update(cmd()))
	if s.Text() != "second two" {
		t.Errorf("got %q", s.Text())
	}
}

// TestDrafts: what is written for a session is there when one comes back to it.
func TestDrafts(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil).write("for a new one")
	s.SetSession("A")
	if s.Text() != "for a new one" {
		t.Fatalf("lost as the session got its ID: %q", s.Text())
	}
	s.do(s.Switch("B", "/b"))
	if !s.Empty() {
		t.Errorf("B has %q", s.Text())
	}
	s.write("for B")
	s.do(s.Switch("A", "/a"))
	if s.Text() != "for a new one" {
		t.Errorf("A has %q", s.Text())
	}
	s.do(s.Switch("B", "/b"))
	if s.write("!"); s.Text() != "for B!" {
		t.Errorf("B has %q", s.Text())
	}
}

func waiting() Waiting {
	p := func(seq pawl.Seq, d pawl.Delivery, parts ...pawl.Part) pawl.Waiting {
		return pawl.Waiting{Seq: seq, Prompt: pawl.Prompted{Parts: parts, Delivery: d}}
	}
	return Waiting{Session: "A", List: []pawl.Waiting{
		p(7, pawl.DeliverSteer, pawl.Text{Text: "be quick"}),
		p(8, pawl.DeliverQueue, pawl.Text{Text: "then @secret test\nit\x1b[2J"}, pawl.File{Name: "a.txt"}),
		p(9, pawl.DeliverQueue, pawl.Text{Text: "third"}),
		p(10, pawl.DeliverQueue, pawl.Text{Text: "fourth"}),
	}}
}

// TestWaiting: prompts that wait are listed, withdrawn and reworded; what was being
// written comes back afterwards.
func TestWaiting(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.SetSession("A")
	s.do(s.Update(Waiting{Session: "B", List: waiting().List}))
	if len(s.lists.waiting) > 0 {
		t.Error("those of another session are shown")
	}
	s.do(s.Update(waiting()))
	s.write("draft ")
	s.golden("waiting")
	s.write("‹alt+up›‹up›")
	s.golden("waiting-focus")
	s.write("‹up›‹backspace›")
	if diff := cmp.Diff([]tea.Msg{Withdraw{8}}, s.sent); diff != "" {
		t.Error(diff)
	}
	s.write("‹enter›")
	s.golden("waiting-edit")
	s.write(" now @app")
	s.complete.Close()
	s.service.expand = hungry
	s.write("‹enter›")
	m := s.sent[1].(Submit)
	if m.Reword != 8 {
		t.Errorf("reworded: %d", m.Reword)
	}
	want := pawl.Parts{pawl.Text{Text: "then @secret test\nit\x1b[2J now @app"}, pawl.Text{Text: "<file @app>"}, pawl.File{Name: "a.txt"}}
	if diff := cmp.Diff(want, s.prompt()); diff != "" {
		t.Error(diff)
	}
	if s.Text() != "draft " {
		t.Errorf("the draft is %q", s.Text())
	}
	if s.write("‹alt+up›‹enter›x‹esc›"); s.Text() != "draft " || s.draft.reword != 0 {
		t.Errorf("given up: %q, %d", s.Text(), s.draft.reword)
	}
}

// TestBack: a prompt that could not be sent is there again, unless another one is
// being written.
func TestBack(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil).write("one‹enter›")
	back := SendFailed{Submit: s.sent[0].(Submit), Err: errors.New("no")}
	s.write("x")
	s.do(s.Update(back))
	if s.Text() != "x" {
		t.Errorf("what was written is lost: %q", s.Text())
	}
	s.write("‹backspace›")
	s.do(s.Update(back))
	if s.Text() != "one" {
		t.Errorf("got %q", s.Text())
	}
}

// TestOutside: the prompt goes through the person's own editor, in a file that is
// theirs alone, and nothing is left behind.
func TestOutside(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "ed")
	code := "#!/bin/sh\nstat -c %a \"$2\" \"$(dirname \"$2\")\" > \"$1\"\nsed -i s/draft/final/ \"$2\"\n"
	if err := os.WriteFile(script, []byte(code), 0o755); err != nil {
		t.Fatal(err)
	}
	modes := filepath.Join(t.TempDir(), "modes")
	s := newStage(t, nil).write("a draft‹ctrl+e›")
	if f, ok := s.sent[0].(ui.Failed); !ok || !strings.Contains(fault.Text(f.Err), "EDITOR") {
		t.Errorf("got %v", s.sent)
	}
	s.env["EDITOR"] = script + " " + modes
	m := s.openExternal()().(externalMsg)
	if err := exec.Command(m.args[0], append(m.args[1:], promptFile(m.folder))...).Run(); err != nil {
		t.Fatal(err)
	}
	s.do(s.Update(m.read(nil)))
	if s.Text() != "a final" {
		t.Errorf("got %q", s.Text())
	}
	if got, _ := os.ReadFile(modes); string(got) != "600\n700\n" {
		t.Errorf("modes: %q", got)
	}
	if _, err := os.Stat(m.folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
	m = s.openExternal()().(externalMsg)
	s.do(s.Update(m.read(errors.New("crashed"))))
	if _, ok := s.sent[len(s.sent)-1].(ui.Failed); !ok || s.Text() != "a final" {
		t.Errorf("a failure: %v, %q", s.sent, s.Text())
	}
}

// TestPalette: what is chosen there runs, or is written before what is there.
func TestPalette(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil).write("main")
	s.do(s.Update(picker.Chosen{Picker: completion.Palette, ID: "help"}))
	s.do(s.Update(picker.Chosen{Picker: completion.Palette, ID: "review"}))
	if diff := cmp.Diff([]tea.Msg{completion.Run{Name: "help"}}, s.sent); diff != "" || s.Text() != "/review main" {
		t.Errorf("%q %s", s.Text(), diff)
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		width int
		write func(s *stage)
	}{
		{"empty", 80, func(*stage) {}},
		{"narrow", 20, func(s *stage) { s.write("some words that do not fit into one row 日本語") }},
		{"tall", 40, func(s *stage) { s.paste(strings.Repeat("row\n", 9)); s.paste("and\nmore\n"); s.write("end") }},
		{"commands", 80, func(s *stage) { s.write("/re") }},
		{"mentions", 80, func(s *stage) { s.write("look at @app") }},
		{"shell", 80, func(s *stage) { s.write("!go test ./...") }},
		{"folded", 80, func(s *stage) { s.write("fix "); s.paste(lines(120)); s.write(" please") }},
		{"attached", 60, func(s *stage) {
			s.draft.files = []*Attachment{
				{Name: "a.png", Path: "/home/me/some/very/long/path/to/a/picture\x1b[2J/a.png", Size: 12345},
				{Name: "clipboard.png", Size: 3_400_000},
			}
			s.write("what is this?")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, nil)
			s.SetWidth(c.width)
			c.write(s)
			s.golden(c.name)
		})
	}
}

// TestReturn: words that come back count as pasted, whatever they look like, and
// what is written is not lost for them.
func TestReturn(t *testing.T) {
	t.Parallel()
	e := newStage(t, nil)
	if !e.Restore(pawl.Parts{pawl.Text{Text: "/quit @secret"}, pawl.File{Name: "a.png"}}) {
		t.Fatal("nothing was written, and it did not come back")
	}
	if diff := cmp.Diff([]textinput.Piece{{Text: "/quit @secret", Pasted: true}}, e.draft.text.Pieces()); diff != "" {
		t.Error(diff)
	}
	if e.Restore(pawl.Parts{pawl.Text{Text: "another"}}) || e.Text() != "/quit @secret" {
		t.Errorf("%q is written now", e.Text())
	}
}
