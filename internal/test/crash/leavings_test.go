//go:build crashtest

package crash

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// visit is what was seen after each command: how it ended, and the directory.
type visit struct {
	env    *harness.Workdir
	dirs   []map[string]string // modes and contents, without the script and out.txt; nil if the story is not about files
	codes  []int
	stderr []string
}

// visit starts watching the working directory.
func (s scenario) visit(t *testing.T, b *harness.Workdir) *visit {
	t.Helper()
	v := &visit{env: b}
	if s.files != nil {
		v.dirs = append(v.dirs, dirFiles(t, b))
	}
	return v
}

// see notes what a command came to.
func (v *visit) see(t *testing.T, out harness.Output) {
	t.Helper()
	v.codes = append(v.codes, out.Code)
	v.stderr = append(v.stderr, out.Stderr)
	if v.dirs != nil {
		v.dirs = append(v.dirs, dirFiles(t, v.env))
	}
}

// dirFiles returns the modes and contents of the files.
func dirFiles(t *testing.T, b *harness.Workdir) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(b.Dir, func(path string, e fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, b.Dir+"/")
		if err != nil || e.IsDir() || name == "script.jsonl" || name == "out.txt" {
			return err
		}
		info, err := e.Info()
		if err == nil {
			files[name] = info.Mode().String() + " " + b.Read(t, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// leavings are what a story leaves: the file, how the turns ended, and what was
// said in each session, the children's after their parent's.
type leavings struct {
	Out     string
	Reasons []pawl.Reason // of the sessions that have no parent
	Said    [][]string
	Extras  [][]string // titles and outcomes of orders, of the sessions that have no parent

	Summaries []string // of turns; one may be missing if pawl ended before it was written, and none is there twice

	Codes   []int               // how each command ended
	Folders []map[string]string // before the first command and after each; see visit

	Running []string // commands that nobody knows the outcome of
}

var ids = regexp.MustCompile(`[0-9A-HJKMNP-TV-Z]{26}`)

func (s scenario) leaves(t *testing.T, b *harness.Workdir, v *visit) leavings {
	t.Helper()
	l := leavings{Out: b.Read(t, "out.txt"), Codes: v.codes, Folders: v.dirs}
	if s.unordered {
		l.Out = strings.Join(slices.Sorted(strings.Lines(l.Out)), "")
	}
	rows := b.Sessions(t)
	slices.SortFunc(rows, func(a, b pawl.Session) int { return a.Created.Compare(b.Created) })
	for _, row := range rows {
		if row.Turns+row.Queued == 0 {
			continue // it was made, and the prompt did not come
		}
		events := b.Export(t, string(row.ID))
		s.hear(t, &l, events)
		l.recall(t, events)
		for _, e := range events {
			switch body := e.Body.(type) {
			case pawl.TurnFinished:
				l.Reasons = append(l.Reasons, body.Reason)
			case pawl.Spawned:
				if out := b.Run(t, "session", "export", string(body.Subagent)); out.Code == 0 { // it may not be made yet
					s.hear(t, &l, b.Export(t, string(body.Subagent)))
				}
			default: // told in the conversation
			}
		}
	}
	return l
}

// recall adds what happened beside the conversation of a session.
func (l *leavings) recall(t *testing.T, events []pawl.Event) {
	t.Helper()
	var list []string
	for _, e := range events {
		switch body := e.Body.(type) {
		case pawl.SessionTitled:
			list = append(list, "title: "+body.Title)
		case pawl.SessionSummarized:
			summary := fmt.Sprintf("%d: %s", e.Turn, body.Summary)
			if slices.Contains(l.Summaries, summary) {
				t.Errorf("a turn is summed up twice: %s", summary)
			}
			l.Summaries = append(l.Summaries, summary)
		case pawl.Compacted:
			list = append(list, fmt.Sprintf("compacted, %t: %s", body.Keep > 0, body.Message))
		case pawl.Undone:
			if body.Refused != "" {
				t.Errorf("what was ordered was not done: %s", body.Refused)
			}
			list = append(list, undone+strings.Join(body.Changed, " "))
		case pawl.ShellRan:
			list = append(list, ran+string(body.Status))
		default: // told in the conversation
		}
	}
	l.Extras = append(l.Extras, list)
}

// undone begins the report of an undo; the files follow.
const undone = "undone: "

// ran begins the report of a command of the user; its status follows.
const ran = "ran: "

// hear adds what was said in a session, and which commands run in it.
func (s scenario) hear(t *testing.T, l *leavings, events []pawl.Event) {
	t.Helper()
	open, command := map[pawl.CallID]bool{}, map[pawl.CallID]string{}
	for _, e := range events {
		switch body := e.Body.(type) {
		case pawl.Replied:
			for _, c := range body.Parts.Calls() {
				command[c.ID] = string(c.Input)
			}
		case pawl.CallStarted:
			open[body.Call] = !body.ReadOnly
		case pawl.CallFinished:
			delete(open, body.Call)
		case pawl.ShellAsked:
			command[e.Seq.ShellCall()] = body.Command
		case pawl.ShellStarted:
			open[body.Asked.ShellCall()] = true
		case pawl.ShellRan:
			delete(open, body.Asked.ShellCall())
		default: // no call
		}
	}
	for id, runs := range open {
		if runs {
			l.Running = append(l.Running, command[id])
		}
	}
	var said []string
	for _, m := range harness.Conversation(t, events) {
		said = append(said, string(m.Role)+": "+ids.ReplaceAllString(shown(m, command), "ID"))
	}
	if s.unordered {
		slices.Sort(said)
		said = slices.DeleteFunc(said, func(m string) bool { return strings.HasPrefix(m, "assistant: ") && !strings.Contains(m, " calls ") })
	}
	l.Said = append(l.Said, said)
}

// shown is a message with its calls, and its results by the command that they are of.
func shown(m pawl.Message, command map[pawl.CallID]string) string {
	text := m.Text()
	for _, part := range m.Parts {
		switch p := part.(type) {
		case pawl.ToolCall:
			text += " calls " + string(p.Input)
		case pawl.ToolResult:
			text += fmt.Sprintf(" of %s: %s", command[p.Call], p.Content)
		default: // its text says it
		}
	}
	return text
}

// dependent is what is said because a command did something.
var dependent = regexp.MustCompile(`^(user: \[The user has put these files back|tool:  of {"path":"blob:)`)

// without leaves out what commands of unknown outcome may have done or not. Of
// the directories that is all but those that an uncrashed run leaves as they were.
func (l leavings) without(running []string, uncrashed leavings) leavings {
	l.Running, l.Summaries = nil, nil
	l.Said, l.Extras, l.Folders = slices.Clone(l.Said), slices.Clone(l.Extras), slices.Clone(l.Folders)
	for i := range l.Folders {
		if len(running) > 0 && !maps.Equal(uncrashed.Folders[i], uncrashed.Folders[0]) {
			l.Folders[i] = nil
		}
	}
	for i, list := range l.Extras {
		l.Extras[i] = slices.Clone(list)
		for k, what := range list {
			for _, order := range []string{undone, ran} {
				if len(running) > 0 && strings.HasPrefix(what, order) {
					l.Extras[i][k] = order
				}
			}
		}
	}
	for _, command := range running {
		for i := range l.Said {
			l.Said[i] = slices.DeleteFunc(slices.Clone(l.Said[i]), func(said string) bool {
				mine := strings.HasPrefix(said, "user: I ran ") && strings.Contains(said, command)
				return mine || strings.Contains(said, " of "+command) || dependent.MatchString(said)
			})
		}
		for line := range strings.Lines(l.Out) {
			if strings.Contains(command, "echo "+strings.TrimSpace(line)+" >>") {
				l.Out = strings.Replace(l.Out, line, "", 1)
			}
		}
	}
	return l
}
