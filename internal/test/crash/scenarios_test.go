//go:build crashtest

package crash

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// says is a line of a script with a shell command that appends to out.txt.
func says(line string) string {
	return fmt.Sprintf(`{"calls":[{"name":"bash","input":{"command":"echo %s >> out.txt"}}],"usage":{"input":1}}`, line)
}

const done = `{"text":"done"}`

func asAgent(line string) string { return strings.Replace(line, "{", `{"agent":"general",`, 1) }

func task(more string) string {
	return `{"calls":[{"name":"task","input":{"agent":"general","description":"errand","prompt":"do it"` + more + `}}]}`
}

var once = [][]string{runArgs()}

var scenarios = []scenario{
	{
		name:     "steered",
		script:   []string{says("1"), says("2"), done},
		inject:   `[{"after":"call.started","count":1,"steer":"this way"},{"after":"call.started","count":2,"steer":"and that"}]`,
		commands: once, reasons: []pawl.Reason{pawl.ReasonEndTurn}, out: "1\n2\n", kills: 15,
	},
	{
		name:   "queued, reworded, withdrawn",
		script: []string{says("1"), says("2"), done, `{"text":"that too","expect":"in other words"}`},
		inject: `[{"after":"call.started","count":1,"queue":"later"},{"after":"call.started","count":1,"queue":"never"},` +
			`{"after":"call.finished","count":1,"prompt":2,"reword":"in other words"},{"after":"call.started","count":2,"prompt":3}]`,
		commands: [][]string{runArgs(), {"resume"}}, reasons: []pawl.Reason{pawl.ReasonEndTurn, pawl.ReasonEndTurn}, out: "1\n2\n", kills: 17,
	},
	{
		name:     "a task",
		script:   []string{says("1"), task(""), says("3"), done, asAgent(says("2")), asAgent(done)},
		commands: once, reasons: []pawl.Reason{pawl.ReasonEndTurn}, out: "1\n2\n3\n", kills: 22,
	},
	{
		name:     "a task in the background",
		script:   []string{task(`,"background":true`), says("1"), `{"text":"I wait"}`, done, asAgent(says("2")), asAgent(done)},
		commands: once, reasons: []pawl.Reason{pawl.ReasonEndTurn}, out: "1\n2\n", kills: 20, unordered: true,
	},
	{
		name:     "a loop",
		script:   slices.Repeat([]string{`{"calls":[{"name":"list"}]}`}, 7),
		commands: once, reasons: []pawl.Reason{pawl.ReasonLoop}, kills: 20,
	},
	{
		name: "compacted by order",
		script: []string{says("1"), `{"text":"one"}`, says("2"), done, `{"text":"that too"}`,
			`{"agent":"compaction","expect":"mind the gap","text":"It counts.","usage":{"input":9,"output":2}}`},
		commands: [][]string{runArgs(), again(long("and on")), {"session", "compact", "last", "mind the gap"}, again("once more")},
		reasons:  ended(3), out: "1\n2\n", from: 2, kills: 7,
		check: func(t *testing.T, l leavings) { happened(t, l, "compacted, true: ") },
	},
	{
		name: "compacted by itself",
		script: []string{`{"window":{"context":24000,"output":2000}}`, `{"text":"one"}`, `{"text":"two"}`, says("1"), says("2"), done,
			`{"agent":"compaction","text":"It counts.","usage":{"input":9,"output":2}}`},
		commands: [][]string{runArgs(), again(long("and on")), again(long("and on and on"))},
		reasons:  ended(3), out: "1\n2\n", from: 2, kills: 10,
		check: func(t *testing.T, l leavings) { happened(t, l, "compacted, true: ") },
	},
	{
		name:   "undone and redone",
		files:  map[string]string{"gone": "it was here\n", "other": "one\ntwo\n", "tool.sh": "true\n", "kept": "as it is\n"},
		script: []string{`{"text":"hello"}`, does("rm gone; printf new > made; mkdir sub; printf sub > sub/made; printf 'one\\n2\\n' > other; chmod 644 tool.sh"), done},
		commands: [][]string{runArgs(), again("change it"), {"session", "undo", "last", "--yes"}, {"session", "redo", "last", "--yes"},
			{"session", "undo", "last", "--yes", "--files"}, {"session", "undo", "last", "--yes", "--conversation"}},
		reasons: ended(2), from: 1, kills: 15,
		check: func(t *testing.T, l leavings) {
			happened(t, l, "undone: gone made other sub/made tool.sh", "undone: gone made other sub/made tool.sh", "undone: gone made other sub/made tool.sh", "undone: ")
			was, is := l.Folders[0], l.Folders[2]
			want := []map[string]string{was, was, is, was, is, was, was}
			if diff := cmp.Diff(want, l.Folders); diff != "" || len(is) != 5 {
				t.Errorf("the dirs (-want, +got):\n%s", diff)
			}
		},
	},
	{
		name:     "rewound into a turn",
		files:    map[string]string{"a": "a\n"},
		script:   []string{does("printf 1 > a"), does("printf 2 > a"), does("printf 3 > a"), done, does("printf ' and 4' >> a"), done},
		commands: [][]string{runArgs(), {"session", "rewind", "last", "{reply 2}", "--yes"}, again("another way")},
		reasons:  ended(2), from: 1, kills: 9,
		check: func(t *testing.T, l leavings) {
			happened(t, l, "undone: a")
			if got := l.Folders[len(l.Folders)-1]["a"]; got != "-rw-r--r-- 1 and 4" {
				t.Errorf("a is %q", got)
			}
		},
	},
	{
		name:   "a command of the person's",
		files:  map[string]string{"a": "a\n"},
		script: []string{says("1"), done, says("3"), done},
		commands: [][]string{runArgs(), {"session", "shell", "last", "--", "echo 2 >> out.txt; printf 2 > a; echo seen"}, again("go on"),
			{"session", "shell", "last", "--", "printf 4 > a; exit 7"}, {"session", "undo", "last", "--yes", "--files"}},
		reasons: ended(2), out: "1\n2\n3\n", from: 1, kills: 14,
		check: func(t *testing.T, l leavings) {
			happened(t, l, "ran: done", "ran: done", "undone: a")
			if diff := cmp.Diff([]int{0, 0, 0, 7, 0}, l.Codes); diff != "" || !strings.Contains(strings.Join(l.Said[0], ""), "\nseen\n") {
				t.Errorf("it said %q, and ended (-want, +got):\n%s", l.Said, diff)
			}
			if got := l.Folders[5]["a"]; got != "-rw-r--r-- 2" {
				t.Errorf("a is %q", got)
			}
		},
	},
	{
		name:  "forked",
		files: map[string]string{"a": "a\n"},
		script: []string{does("seq 1 30000; printf 1 > a"), done,
			`{"calls":[{"name":"read","input":{"path":"blob:5bc81dbc42fe0b86fd1c103f37dfa3de5bd7e8a1767fd1bd4a2471aa8be7a06e","offset":29990}}]}`,
			does("printf 2 > a"), done},
		commands: [][]string{runArgs(), {"session", "fork", "last"},
			append(runArgs()[:5], "--session", "{fork}", "go on"), {"session", "undo", "{fork}", "--yes", "--files"}, {"session", "undo", "{fork}", "--yes", "--files"}},
		reasons: ended(3), from: 1, kills: 14,
		check: func(t *testing.T, l leavings) {
			if diff := cmp.Diff([][]string{{"undone: a", "undone: a"}, nil}, l.Extras); diff != "" {
				t.Errorf("beside the conversations (-want, +got):\n%s", diff)
			}
			if diff := cmp.Diff(l.Folders[0], l.Folders[5]); diff != "" || len(l.Said) != 2 || !strings.Contains(strings.Join(l.Said[0], ""), "30000\n") {
				t.Errorf("it said %q, and the files (-before, +after):\n%s", l.Said, diff)
			}
		},
	},
	{
		name: "titled and summed up",
		script: []string{says("1"), done, writes("a"), writes("b"), done, writes("c"), done,
			`{"agent":"title","text":"Counting"}`, `{"agent":"summary","text":"It counted."}`},
		inject: `[{"after":"call.started","count":1,"queue":"on"},{"after":"call.started","count":1,"queue":"and on"},` +
			`{"after":"turn.started","count":1,"await":"session.titled"},{"after":"turn.finished","count":2,"await":"session.summarized","own":true}]`,
		commands: [][]string{runArgs(), {"resume"}},
		reasons:  ended(3), out: "1\n", kills: 25,
		check: func(t *testing.T, l leavings) {
			happened(t, l, "title: Counting")
			if !slices.Contains(l.Summaries, "2: It counted.") {
				t.Errorf("the summaries are %q", l.Summaries)
			}
		},
	},
}

// writes is a line of a script that writes a file.
func writes(name string) string {
	return fmt.Sprintf(`{"calls":[{"name":"write","input":{"path":"%s","content":"written\n"}}]}`, name)
}

// does is a line of a script with a shell command.
func does(command string) string {
	return fmt.Sprintf(`{"calls":[{"name":"bash","input":{"command":%q}}],"usage":{"input":1}}`, command)
}

// again is a further prompt to the newest session.
func again(prompt string) []string { return append(runArgs()[:5], "-c", prompt) }

// long is a prompt that takes much of a window.
func long(prompt string) string { return prompt + strings.Repeat(" and so on", 4000) }

func ended(turns int) []pawl.Reason { return slices.Repeat([]pawl.Reason{pawl.ReasonEndTurn}, turns) }

// happened fails the test unless just this happened beside the conversation.
func happened(t *testing.T, l leavings, want ...string) {
	t.Helper()
	if diff := cmp.Diff([][]string{want}, l.Extras); diff != "" {
		t.Errorf("beside the conversation (-want, +got):\n%s", diff)
	}
}
