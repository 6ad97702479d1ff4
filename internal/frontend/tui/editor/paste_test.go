package editor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

// prompt makes the prompt of what was submitted last.
func (s *stage) prompt() pawl.Parts {
	s.t.Helper()
	for i := len(s.sent) - 1; i >= 0; i-- {
		if m, ok := s.sent[i].(Submit); ok {
			p, _, err := m.Prompt(s.t.Context(), s.service, "/work", pawl.Settings{})
			if err != nil {
				s.t.Fatal(err)
			}
			return p.Parts
		}
	}
	s.t.Fatalf("nothing was submitted: %v", s.sent)
	return nil
}

// TestPaste: a paste is text, whole, and sends nothing by itself.
func TestPaste(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, before, pasted, after string
		shown                       string // in the editor
		want                        string // what is sent
	}{
		{"a word", "see ", "this", " ok", "see this ok", "see this ok"},
		{"line ends do not send", "", "one\r\ntwo\rthree\n", "x", "one\ntwo\nthree\nx", "one\ntwo\nthree\nx"},
		{"ten lines stay", "", lines(10), "x", "", lines(10) + "x"},
		{"eleven are folded", "a ", lines(11), " b", "a [pasted 11 lines] b", "a " + lines(11) + " b"},
		{"a long line is folded", "", strings.Repeat("x", 1001), "", "[pasted 1001 characters]", strings.Repeat("x", 1001)},
		{"a command in it is none", "", "/quit", "", "/quit", "/quit"},
		{"a shell command in it is none", "", "!rm -rf /", "", "!rm -rf /", "!rm -rf /"},
		{"what hides shows", "", "a\u202e\x1b[2Jb", "", `a\u{202e}\u{1b}[2Jb`, "a\u202e\x1b[2Jb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, nil).write(c.before).paste(c.pasted)
			for _, m := range s.sent {
				if _, ok := m.(ui.Notice); !ok {
					t.Fatalf("the paste did something: %#v", m)
				}
			}
			s.write(c.after)
			if got := strings.Join(s.draft.text.Draw(200, 0, 100, nil), "\n"); c.shown != "" && got != c.shown {
				t.Errorf("shown: %q, want %q", got, c.shown)
			}
			s.write("‹enter›")
			if diff := cmp.Diff(pawl.Parts{pawl.Text{Text: c.want}}, s.prompt()); diff != "" {
				t.Error(diff)
			}
			if !s.Empty() {
				t.Error("the editor is not empty")
			}
		})
	}
}

// hungry is a project that takes in whatever a prompt mentions, and runs commands.
func hungry(p pawl.Prompt) (pawl.Prompt, []string, error) {
	text := p.Parts.Text()
	for _, w := range strings.Fields(text) {
		if strings.HasPrefix(w, "@") {
			p.Parts = append(p.Parts, pawl.Text{Text: "<file " + w + ">"})
		}
	}
	if rest, ok := strings.CutPrefix(text, "/review "); ok {
		p.Parts[0] = pawl.Text{Text: "Review this: " + rest}
	}
	return p, nil, nil
}

// pasteCases are prompts with an @ that was typed or pasted, and the files that
// come with them.
var pasteCases = []struct {
	name  string
	write func(s *stage)
	want  string
}{
	{"typed", func(s *stage) { s.write("see @a ") }, "see @a|<file @a>"},
	{"pasted", func(s *stage) { s.paste("see @secret now ") }, "see @secret now"},
	{"folded", func(s *stage) { s.paste(strings.Repeat("@secret\n", 20)) }, strings.TrimSpace(strings.Repeat("@secret\n", 20))},
	{"pasted between", func(s *stage) { s.write("a "); s.paste("@secret "); s.write("@b ") }, "a @secret @b|<file @b>"},
	{"pasted behind a typed @", func(s *stage) { s.write("see @"); s.paste("dir/a.go") }, "see @dir/a.go|<file @dir/a.go>"},
	{"confirmed", func(s *stage) { s.paste("see @a"); s.write("‹tab›") }, "see @a|<file @a>"},
	{"killed and yanked", func(s *stage) { s.paste("@secret x"); s.write("‹ctrl+u›‹alt+y›") }, "@secret x"},
	{"undone and redone", func(s *stage) { s.paste("@secret x"); s.write("‹ctrl+z›‹ctrl+y›") }, "@secret x"},
	{"as an argument", func(s *stage) { s.write("/review "); s.paste("@secret") }, "Review this: @secret"},
	{"a command that was pasted", func(s *stage) { s.paste("/review x") }, "/review x"},
	{"a blank before a slash", func(s *stage) { s.write(" /review x") }, " /review x"},
}

func (s *stage) expanded() string {
	var texts []string
	for _, p := range s.prompt() {
		texts = append(texts, p.(pawl.Text).Text)
	}
	return strings.Join(texts, "|")
}

// TestPastedNames: what a paste names is not read, whatever the project would do.
func TestPastedNames(t *testing.T) {
	t.Parallel()
	for _, c := range pasteCases {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, nil)
			s.service.expand = hungry
			c.write(s)
			s.complete.Close()
			s.write("‹enter›")
			if got := s.expanded(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if strings.Contains(s.service.got[0].Parts.Text(), "secret") && !defense.Off("tui.paste") {
				t.Errorf("the desk saw what was pasted: %q", s.service.got[0].Parts.Text())
			}
		})
	}
}

// TestPastedNamesComeBack: a prompt that is sent again, from the history or after a
// failure, reads no more than the first time.
func TestPastedNamesComeBack(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.service.expand = hungry
	s.paste("see @secret x").write("‹enter›")
	s.write("‹up›‹enter›")
	if got := s.expanded(); got != "see @secret x" {
		t.Errorf("from the history: %q", got)
	}
	s.do(s.Update(SendFailed{Submit: s.sent[len(s.sent)-1].(Submit), Err: errors.New("no")}))
	if s.write("‹enter›"); s.expanded() != "see @secret x" {
		t.Errorf("after a failure: %q", s.expanded())
	}
}

// TestOutside: what was pasted stays pasted through the person's own editor.
func TestAgain(t *testing.T) {
	t.Parallel()
	paste := textinput.Piece{Text: "@secret\nx", Pasted: true}
	for _, c := range []struct {
		name   string
		before []textinput.Piece
		now    string
		want   []textinput.Piece
	}{
		{"typed", []textinput.Piece{{Text: "a"}}, "b @c", []textinput.Piece{{Text: "b @c"}}},
		{"kept", []textinput.Piece{{Text: "a "}, paste}, "new @b @secret\nx end", []textinput.Piece{{Text: "new @b "}, paste, {Text: " end"}}},
		{"changed", []textinput.Piece{{Text: "a "}, paste}, "a @secret\ny", []textinput.Piece{{Text: "a @secret\ny", Pasted: true}}},
		{"taken out", []textinput.Piece{{Text: "a "}, paste}, "a @b", []textinput.Piece{{Text: "a @b", Pasted: true}}},
	} {
		if got, _ := restorePastes(c.before, c.now); !cmp.Equal(c.want, got) {
			t.Errorf("%s: %s", c.name, cmp.Diff(c.want, got))
		}
	}
}

// TestPaths: paths of files are attached, shown, and read when they are sent.
func TestPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, data := range map[string]string{"a.txt": "A", "with blank.txt": "B", "p.png": "\x89PNG"} {
		if err := os.WriteFile(at(name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("a.txt"), at("link.txt")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, pasted string
		want         []string // the names of what is attached; nil means that it is text
	}{
		{"one", at("a.txt"), []string{"a.txt"}},
		{"with a line end", at("a.txt") + "\n", []string{"a.txt"}},
		{"quoted", "'" + at("with blank.txt") + "'", []string{"with blank.txt"}},
		{"with backslashes", strings.ReplaceAll(at("with blank.txt"), " ", `\ `), []string{"with blank.txt"}},
		{"an address", "file://" + strings.ReplaceAll(at("with blank.txt"), " ", "%20"), []string{"with blank.txt"}},
		{"several", at("a.txt") + " " + at("p.png"), []string{"a.txt", "p.png"}},
		{"lines", at("a.txt") + "\n" + at("p.png") + "\n", []string{"a.txt", "p.png"}},
		{"home", "~/a.txt", []string{"a.txt"}},
		{"the same twice", at("a.txt") + " " + at("a.txt"), []string{"a.txt"}},
		{"a link is what it leads to", at("link.txt"), []string{"a.txt"}},
		{"one is not there", at("a.txt") + " " + at("none"), nil},
		{"a folder", dir, nil},
		{"words about a path", "see " + at("a.txt"), nil},
		{"relative", "a.txt", nil},
		{"of another machine", "file://other" + at("a.txt"), nil},
		{"a device", "/dev/zero", nil},
		{"a quote without an end", "'" + at("a.txt"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, nil)
			s.env["HOME"] = dir
			s.paste(c.pasted)
			var got []string
			for _, f := range s.draft.files {
				got = append(got, f.Name)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if text := s.Text(); (text == "") != (c.want != nil) {
				t.Errorf("the text is %q", text)
			}
		})
	}
}

// TestSeen: a file that was not shown is not sent, nor what has been put in its
// place.
func TestSeen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(path, []byte("A"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newStage(t, nil).paste(path).write("go‹enter›")
	if len(s.sent) > 0 {
		t.Fatalf("sent before it was shown: %#v", s.sent)
	}
	s.View()
	s.write("‹enter›")
	want := pawl.Parts{pawl.Text{Text: "go"}, pawl.File{Name: "a.txt", MediaType: "text/plain; charset=utf-8", Data: []byte("A")}}
	if diff := cmp.Diff(want, s.prompt()); diff != "" {
		t.Error(diff)
	}
	if err := errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path)); err != nil {
		t.Fatal(err)
	}
	m := s.sent[len(s.sent)-1].(Submit)
	if _, _, err := m.Prompt(t.Context(), s.service, "/work", pawl.Settings{}); err == nil {
		t.Error("a link in its place was followed")
	}
}

// TestClipboard: a picture is attached, a text pasted; without a program it says
// what to do.
func TestClipboard(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	program := func(script string) {
		if err := os.WriteFile(filepath.Join(bin, "wl-paste"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := newStage(t, nil)
	s.write("‹ctrl+v›")
	if f, ok := s.sent[0].(ui.Failed); !ok || !strings.Contains(fault.Text(f.Err), "Install wl-paste") {
		t.Errorf("got %#v", s.sent)
	}
	s.env["WAYLAND_DISPLAY"] = "wayland-0"
	program(`case "$*" in *list*) echo image/png;; *image/png*) printf '\211PNGdata';; esac`)
	s.write("‹ctrl+v›")
	if len(s.draft.files) != 1 || string(s.draft.files[0].data) != "\x89PNGdata" {
		t.Errorf("attached: %v", s.draft.files)
	}
	program(`case "$*" in *list*) echo text/plain;; *) printf 'two\nlines';; esac`)
	if s.write("‹ctrl+v›"); s.Text() != "two\nlines" {
		t.Errorf("pasted: %q", s.Text())
	}
	program(`case "$*" in *list*) echo image/png;; *) head -c 20000000 /dev/zero;; esac`)
	if s.write("‹ctrl+v›"); len(s.draft.files) != 1 {
		t.Error("more than the bound was attached")
	}
}

// TestMouse: the mouse puts the cursor, and selects.
func TestMouse(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil).write("one two‹ctrl+j›three")
	s.SetTop(20)
	s.do(s.Update(tea.MouseClickMsg{X: 2 + 4, Y: 20, Button: tea.MouseLeft}))
	s.do(s.Update(tea.MouseMotionMsg{X: 2 + 3, Y: 21, Button: tea.MouseLeft}))
	s.do(s.Update(tea.MouseReleaseMsg{X: 2 + 3, Y: 21, Button: tea.MouseLeft}))
	if from, to := s.draft.text.Selected(); s.draft.text.Slice(from, to) != "two\nthr" {
		t.Errorf("selected: %q", s.draft.text.Slice(from, to))
	}
	if len(s.sent) != 1 {
		t.Errorf("copied: %v", s.sent)
	}
}
