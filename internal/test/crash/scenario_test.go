//go:build crashtest

package crash

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// playTime bounds each process of a scenario.
const playTime = time.Minute

// scenario is a story that the program is killed in, at every append of every
// command of it. To add one, add it to scenarios.
type scenario struct {
	name      string
	files     map[string]string // what the directory holds before; names that end in .sh can be run
	script    []string          // the model's lines
	inject    string            // what others say; see internal/app/inject_crashtest.go
	commands  [][]string        // what a person does, in order; see words
	from      int               // the first command that is killed: those before are like others' that are
	reasons   []pawl.Reason
	out       string // what out.txt holds in the end
	kills     int    // at least so many, before and after an append
	unordered bool   // things happen beside each other: their order does not count, nor what the model says to it

	// check looks at what the uncrashed run left.
	check func(t *testing.T, l leavings)
}

// TestCrashInScenarios kills the program before and after each append of each
// scenario. What is left when it was resumed is what an uncrashed run leaves.
func TestCrashInScenarios(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) { s.matrix(t, "sqlite") })
	}
	onPostgres := scenarios
	if !full {
		one := pick(t, "scenario", len(scenarios))
		onPostgres = scenarios[one : one+1]
	}
	for _, s := range onPostgres {
		t.Run("postgres/"+s.name, func(t *testing.T) { s.matrix(t, "postgres") })
	}
}

// matrix kills the program at every append of the scenario.
func (s scenario) matrix(t *testing.T, storeName string) {
	t.Helper()
	store := harness.Stores[storeName](t)
	b := s.env(t, store)
	v := s.visit(t, b)
	for i := range s.commands {
		v.see(t, s.play(t, b, i))
	}
	want := s.leaves(t, b, v)
	if want.Out != s.out || !slices.Equal(want.Reasons, s.reasons) {
		t.Fatalf("the uncrashed run is not as scripted: %+v", want)
	}
	if s.check != nil {
		s.check(t, want)
	}
	for _, when := range []string{"before", "after"} {
		killed := 0
		for i := s.from; i < len(s.commands); i++ {
			killed += each(t, 1000, func(n int) bool {
				defer func() { // also when it ends the test
					if t.Failed() {
						t.Logf("^ killed %s append %d of %.80s", when, n+1, strings.Join(s.commands[i], " "))
					}
				}()
				return s.crash(t, store, want, i, fmt.Sprintf("PAWL_CRASH=%s:%d", when, n+1))
			})
		}
		if killed < s.kills {
			t.Errorf("only %d kills %s an append: the matrix is not what it should be", killed, when)
		}
		t.Logf("%d kills %s an append, each resumed to the same end", killed, when)
	}
}

func (s scenario) env(t *testing.T, store string) *harness.Workdir {
	t.Helper()
	b := harness.NewWorkdir(t, harness.Binary(t, "crashtest"), store)
	b.Env = append(b.Env, "PAWL_DATA="+t.TempDir())
	b.Write(t, "script.jsonl", strings.Join(s.script, "\n")+"\n")
	for name, content := range s.files {
		mode := os.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		b.Write(t, name, content)
		if err := os.Chmod(filepath.Join(b.Dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if s.inject != "" {
		b.Env = append(b.Env, "PAWL_INJECT="+s.inject)
	}
	return b
}

// crash plays the scenario, but the i-th command is killed. It reports whether
// it was. A command whose order was not accepted is given once more.
func (s scenario) crash(t *testing.T, store string, want leavings, i int, knife string) bool {
	t.Helper()
	b := s.env(t, store)
	v := s.visit(t, b)
	for k := range i {
		v.see(t, s.play(t, b, k))
	}
	before := s.orders(t, b)
	if s.play(t, b, i, knife).Code != -1 {
		return false
	}
	running := s.leaves(t, b, v).Running
	if s.orders(t, b) == before {
		v.see(t, s.play(t, b, i))
	} else {
		out := run(t, b, []string{"resume"})
		if out.Code == 0 { // it may have had nothing to do any more
			out.Code = want.Codes[i]
		}
		v.see(t, out)
	}
	for k := i + 1; k < len(s.commands); k++ {
		v.see(t, s.play(t, b, k))
	}
	got := s.leaves(t, b, v)
	if diff := cmp.Diff(want.without(running, want), got.without(running, want)); diff != "" {
		t.Errorf("running at the kill: %v (-uncrashed, +crashed and resumed):\n%s\n%s", running, diff, strings.Join(v.stderr, ""))
	}
	return true
}

// play gives the i-th command and waits for its end.
func (s scenario) play(t *testing.T, b *harness.Workdir, i int, env ...string) harness.Output {
	t.Helper()
	return run(t, b, s.words(t, b, s.commands[i]), env...)
}

// run runs pawl, and fails the test if it comes to no end.
func run(t *testing.T, b *harness.Workdir, args []string, env ...string) harness.Output {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), playTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.Bin, args...) //nolint:gosec // the program under test
	cmd.Dir, cmd.Env, cmd.WaitDelay = b.Dir, append(slices.Clone(b.Env), env...), time.Second
	out := harness.Wait(t, cmd)
	if ctx.Err() != nil {
		t.Fatalf("pawl %s %s: it came to no end in %s\n%s%s", strings.Join(args, " "), strings.Join(env, " "), playTime, out.Stdout, out.Stderr)
	}
	return out
}

// words are a command's, with what is known only once it is given: {fork} is
// the session that was made from another, {reply N} the number of the newest
// session's N-th reply.
func (s scenario) words(t *testing.T, b *harness.Workdir, command []string) []string {
	t.Helper()
	words := slices.Clone(command)
	for i, w := range words {
		n, isReply := strings.CutPrefix(w, "{reply ")
		switch {
		case w == "{fork}":
			words[i] = "none"
			for _, row := range b.Sessions(t) {
				created, ok := b.Export(t, string(row.ID))[0].Body.(pawl.SessionCreated)
				if ok && created.Forked != nil {
					words[i] = string(row.ID)
				}
			}
		case isReply:
			left, err := strconv.Atoi(strings.TrimSuffix(n, "}"))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range b.Export(t, string(b.Sessions(t)[0].ID)) {
				if _, ok := e.Body.(pawl.Replied); ok {
					if left--; left == 0 {
						words[i] = strconv.FormatInt(int64(e.Seq), 10)
					}
				}
			}
		}
	}
	return words
}

// orders counts what people have said to the sessions.
func (s scenario) orders(t *testing.T, b *harness.Workdir) (n int) {
	t.Helper()
	for _, row := range b.Sessions(t) {
		for _, e := range b.Export(t, string(row.ID)) {
			switch body := e.Body.(type) {
			case pawl.SessionCreated:
				if body.Forked != nil {
					n++
				}
			case pawl.Prompted, pawl.Reworded, pawl.Withdrawn, pawl.CompactionAsked, pawl.UndoAsked, pawl.ShellAsked:
				n++
			default: // pawl's own
			}
		}
	}
	return n
}
