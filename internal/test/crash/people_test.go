//go:build crashtest

package crash

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// Sequences of random operations, and operations in one.
var (
	sequences = map[bool]int{false: 60, true: 200}[full]
	longest   = 8
)

// simulation is the real thing and the model of it, side by side.
type simulation struct {
	t     *testing.T
	r     *rapid.T
	env   *harness.Workdir
	talks []*talk
	n     int // turns so far, of all sessions
	count map[string]int
}

// The real program does what a model of it says, whatever people do with it and
// whenever it is killed: edits, commands, undo, redo, rewind, fork.
func TestWhateverPeopleDo(t *testing.T) { //nolint:paralleltest // it sets the flags of rapid
	for name, value := range map[string]string{"rapid.checks": fmt.Sprint(sequences / 2), "rapid.steps": fmt.Sprint(longest)} {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	bin := harness.Binary(t, "crashtest")
	for half := range 2 {
		t.Run(fmt.Sprint(half), func(t *testing.T) {
			t.Parallel()
			count := map[string]int{}
			rapid.Check(t, func(r *rapid.T) {
				w := &simulation{t: t, r: r, count: count, env: harness.NewWorkdir(t, bin, filepath.Join(t.TempDir(), "pawl.db"))}
				w.env.Write(t, "a.txt", "a\n")
				w.env.Write(t, "b.txt", "b\n")
				r.Repeat(map[string]func(*rapid.T){
					"edit": w.edit, "shell": w.shell, "mine": w.mine, "undo": w.undo, "redo": w.redo, "rewind": w.rewind, "fork": w.fork, "outside": w.outside,
					"": w.check,
				})
			})
			t.Logf("%d sequences: %v", sequences/2, count)
		})
	}
}

// scan reads the workspace. Scripts are no part of it.
func (w *simulation) scan() files {
	all := files{}
	err := filepath.WalkDir(w.env.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".jsonl") {
			return err
		}
		rel, err := filepath.Rel(w.env.Dir, path)
		if err != nil {
			return err
		}
		if d.Type() == fs.ModeSymlink {
			target, err := os.Readlink(path)
			all[rel] = "-> " + target
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode()&0o100 != 0 {
			text = append([]byte("x "), text...)
		}
		all[rel] = string(text) + " "
		return err
	})
	if err != nil {
		w.r.Fatal(err)
	}
	return all
}

// pick draws a session; the first use makes one.
func (w *simulation) pick() *talk {
	if len(w.talks) == 0 {
		w.r.Skip("no session yet")
	}
	return w.talks[rapid.IntRange(0, len(w.talks)-1).Draw(w.r, "session")]
}

// pawl runs the program, and sometimes has it killed and resumed.
func (w *simulation) pawl(args ...string) (out harness.Output, killed bool) {
	cmd := w.env.Command(args...)
	if at := rapid.IntRange(-12, 12).Draw(w.r, "killed at"); at != 0 && rapid.Bool().Draw(w.r, "killed") {
		when := "before"
		if at < 0 {
			when, at = "after", -at
		}
		cmd.Env = append(slices.Clone(cmd.Env), fmt.Sprintf("PAWL_CRASH=%s:%d", when, at))
	}
	out = harness.Wait(w.t, cmd)
	if out.Code != -1 {
		return out, false
	}
	w.count["killed"]++
	resumed := w.env.Run(w.t, "resume")
	if resumed.Code != 0 {
		w.r.Fatalf("pawl resume after %v was killed: exit %d: %s", args, resumed.Code, resumed.Stderr)
	}
	return out, true
}

// replies is how many replies the session's log holds.
func (w *simulation) replies(id string) int {
	n := 0
	if id != "" {
		for _, e := range w.env.Export(w.t, id) {
			if _, ok := e.Body.(pawl.Replied); ok {
				n++
			}
		}
	}
	return n
}

// turn has a session work on a prompt with some calls.
func (w *simulation) turn(calls ...string) {
	var s *talk
	if len(w.talks) == 0 {
		s = &talk{}
		w.talks = append(w.talks, s)
	} else {
		s = w.pick()
	}
	w.n++
	prompt := fmt.Sprintf("prompt %d", w.n)
	script := fmt.Sprintf("script%d.jsonl", w.n)
	lines := slices.Repeat([]string{`{"text":"never"}`}, w.replies(s.id))
	lines = append(lines, `{"text":"I do.","calls":[`+strings.Join(calls, ",")+`]}`, `{"text":"Done."}`)
	w.env.Write(w.t, script, strings.Join(lines, "\n"))
	before := w.scan()
	args := []string{"run", "--mode", "yolo", "--model", "script:" + script}
	if s.id != "" {
		args = append(args, "--session", s.id)
	}
	out, killed := w.pawl(append(args, prompt)...)
	if !killed && out.Code != 0 {
		w.r.Fatalf("%v: exit %d: %s", args, out.Code, out.Stderr)
	}
	if s.id == "" {
		list := w.env.Sessions(w.t)
		if len(list) == 0 { // killed before anything was accepted
			w.talks = nil
			return
		}
		s.id = string(list[0].ID)
	}
	if killed && !w.accepted(s.id, prompt) {
		return
	}
	s.turns = append(s.turns, turn{prompt: prompt, before: before, after: w.scan(), said: true, done: true, then: s.clone()})
	s.undone = nil
}

// accepted reports whether a prompt came into the conversation.
func (w *simulation) accepted(id, prompt string) bool {
	return slices.Contains(w.prompts(id), prompt)
}

// prompts are what the person said, as the conversation has it.
func (w *simulation) prompts(id string) []string {
	var list []struct {
		Role pawl.Role
		Text string
	}
	if err := json.Unmarshal([]byte(w.env.Must(w.t, "session", "rewind", id, "--json").Stdout), &list); err != nil {
		w.r.Fatal(err)
	}
	prompts := []string{}
	for _, m := range list {
		if m.Role == pawl.RoleUser && !strings.HasPrefix(m.Text, "[The user has") {
			prompts = append(prompts, m.Text)
		}
	}
	return prompts
}

var names = rapid.SampledFrom([]string{"a.txt", "b.txt", "c.txt", "d/e.txt", "d/f/g.txt"})

func (w *simulation) edit(*rapid.T) {
	w.count["edit"]++
	var calls []string
	// Each file once: the model of a session does not see what is between two calls.
	for _, name := range rapid.SliceOfNDistinct(names, 1, 2, rapid.ID[string]).Draw(w.r, "files") {
		text := rapid.SampledFrom([]string{"one\n", "two\n", "three\n"}).Draw(w.r, "text")
		calls = append(calls, fmt.Sprintf(`{"name":"bash","input":{"command":"mkdir -p $(dirname %s) && printf '%s' > %[1]s"}}`, name, strings.ReplaceAll(text, "\n", `\\n`)))
	}
	w.turn(calls...)
}

func (w *simulation) shell(*rapid.T) {
	w.count["shell"]++
	w.turn(fmt.Sprintf(`{"name":"bash","input":{"command":%q}}`, w.command()))
}

// command draws a command that changes files.
func (w *simulation) command() string {
	name := names.Draw(w.r, "file")
	return rapid.SampledFrom([]string{
		"rm -rf d a.txt", "rm -f " + name, "chmod +x b.txt", "ln -sf b.txt link", "mv b.txt c.txt", "mkdir -p d/f && echo new > d/f/new.txt",
		"echo more >> " + name, "rm -rf d && echo file > d", "true",
	}).Draw(w.r, "command")
}

// mine is a command of the person, which counts as a turn does.
func (w *simulation) mine(*rapid.T) {
	s := w.pick()
	w.count["mine"]++
	w.n++
	command := fmt.Sprintf("%s # %d", w.command(), w.n)
	before := w.scan()
	out, killed := w.pawl("session", "shell", s.id, "--", command)
	if !killed && strings.Contains(out.Stderr, "pawl: ") {
		w.r.Fatalf("%s: exit %d: %s", command, out.Code, out.Stderr)
	}
	if killed && !w.accepted(s.id, "!"+command) {
		w.same(before)
		return
	}
	s.turns = append(s.turns, turn{prompt: "!" + command, before: before, after: w.scan(), said: true, done: true, then: s.clone()})
	s.undone = nil
}

// outside is somebody else who edits files.
func (w *simulation) outside(*rapid.T) {
	w.count["outside"]++
	name := rapid.SampledFrom([]string{"a.txt", "b.txt", "mine.txt"}).Draw(w.r, "file")
	_ = os.Remove(filepath.Join(w.env.Dir, name)) // it may be a link
	w.env.Write(w.t, name, fmt.Sprintf("mine %d\n", rapid.IntRange(1, 2).Draw(w.r, "text")))
}

var scopes = rapid.SampledFrom([]pawl.Scope{pawl.ScopeBoth, pawl.ScopeBoth, pawl.ScopeFiles, pawl.ScopeConversation})

func (w *simulation) undo(*rapid.T) {
	s, scope := w.pick(), scopes.Draw(w.r, "scope")
	w.count["undo"]++
	w.back(s, s.newest(scope), scope, "session", "undo", s.id, "--yes", "--json")
}

func (w *simulation) rewind(*rapid.T) {
	s, scope := w.pick(), scopes.Draw(w.r, "scope")
	live := s.live()
	if len(live) == 0 {
		w.r.Skip("nothing was said")
	}
	w.count["rewind"]++
	to := rapid.SampledFrom(live).Draw(w.r, "to")
	w.back(s, to, scope, "session", "rewind", s.id, w.number(s, to), "--yes", "--json")
}

// number is the number of a turn's first message.
func (w *simulation) number(s *talk, at int) string {
	var list []struct {
		Seq  pawl.Seq
		Text string
	}
	if err := json.Unmarshal([]byte(w.env.Must(w.t, "session", "rewind", s.id, "--json").Stdout), &list); err != nil {
		w.r.Fatal(err)
	}
	for _, m := range list {
		if m.Text == s.turns[at].prompt {
			return fmt.Sprint(m.Seq)
		}
	}
	w.r.Fatalf("session %s does not have %q", s.id, s.turns[at].prompt)
	return ""
}

// back goes back to before a turn.
func (w *simulation) back(s *talk, to int, scope pawl.Scope, args ...string) {
	switch scope {
	case pawl.ScopeFiles:
		args = append(args, "--files")
	case pawl.ScopeConversation:
		args = append(args, "--conversation")
	case pawl.ScopeBoth:
	}
	var g undoneTurns
	if to >= 0 {
		g = s.since(to, scope)
	}
	if w.runUndo(s, to >= 0, g, false, args) {
		s.mark(g, false)
		s.undone = append(slices.Clone(s.undone), g)
	}
}

func (w *simulation) redo(*rapid.T) {
	s := w.pick()
	w.count["redo"]++
	var g undoneTurns
	last := len(s.undone) - 1
	if last >= 0 {
		g = s.undone[last]
	}
	if w.runUndo(s, last >= 0, g, true, []string{"session", "redo", s.id, "--yes", "--json"}) {
		s.mark(g, true)
		s.undone = slices.Clone(s.undone[:last])
	}
}

// runUndo runs the program to take turns back, or bring them back, and reports
// whether that was done. It is refused if it is not possible, or if somebody
// else's change is in the way.
func (w *simulation) runUndo(s *talk, possible bool, g undoneTurns, redo bool, args []string) bool {
	now, head := w.scan(), w.head(s.id)
	then, ok := plan(s.at(g.done), now, redo)
	out, killed := w.pawl(args...)
	switch {
	case !possible || !ok:
		if out.Code == 0 || w.head(s.id) != head {
			w.r.Fatalf("%v was not refused: %s", args, out.Stdout)
		}
		w.count["refused"]++
		w.same(now)
		return false
	case killed && w.head(s.id) == head: // before the order was accepted
		w.same(now)
		return false
	case !killed && out.Code != 0:
		w.r.Fatalf("%v: exit %d: %s%s", args, out.Code, out.Stdout, out.Stderr)
	}
	w.same(then)
	return true
}

// head is the number of the session's newest event.
func (w *simulation) head(id string) pawl.Seq {
	events := w.env.Export(w.t, id)
	return events[len(events)-1].Seq
}

func (w *simulation) fork(*rapid.T) {
	s := w.pick()
	w.count["fork"]++
	args := []string{"session", "fork", s.id}
	f := s.clone()
	if live := s.live(); len(live) > 0 && rapid.Bool().Draw(w.r, "earlier") {
		at := rapid.SampledFrom(live).Draw(w.r, "at")
		args = append(args, w.number(s, at))
		f = s.turns[at].then.clone()
	}
	f.id = strings.TrimSpace(w.env.Must(w.t, args...).Stdout)
	w.talks = append(w.talks, f)
}

func (w *simulation) same(want files) {
	if diff := cmp.Diff(want, w.scan()); diff != "" {
		w.r.Fatalf("the files are not as they should be:\n%s", diff)
	}
}

// check compares the conversations.
func (w *simulation) check(*rapid.T) {
	for _, s := range w.talks {
		want := []string{}
		for _, t := range s.at(s.live()) {
			want = append(want, t.prompt)
		}
		if diff := cmp.Diff(want, w.prompts(s.id)); diff != "" {
			w.r.Fatalf("the conversation of %s is not as it should be:\n%s", s.id, diff)
		}
	}
}
