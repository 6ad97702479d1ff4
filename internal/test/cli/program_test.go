//go:build e2e

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

// TestLongSession: 200 steps of 3 calls, on the real program. The log is
// complete and gap-free, each call has exactly one result, it can be shown, and
// export and import give the same conversation.
func TestLongSession(t *testing.T) {
	t.Parallel()
	const steps = 200
	bin := harness.Binary(t, "")
	b := harness.NewWorkdir(t, bin, harness.Stores["sqlite"](t))
	var script strings.Builder
	for i := 1; i < steps; i++ {
		fmt.Fprintf(&script, `{"text":"step %d","calls":[{"name":"write","input":{"path":"n.txt","content":"%d\n"}},{"name":"read","input":{"path":"n.txt"}},{"name":"list","input":{}}],"usage":{"input":1,"output":2}}`+"\n", i, i)
	}
	script.WriteString(`{"text":"the end","usage":{"input":1,"output":2}}` + "\n")
	b.Write(t, "s.jsonl", script.String())
	b.Must(t, "run", "--mode", "yolo", "--model", "script:s.jsonl", "go")

	session := b.Sessions(t)[0]
	events := b.Export(t, string(session.ID))
	calls, results := map[pawl.CallID]int{}, map[pawl.CallID]int{}
	for i, e := range events {
		if e.Seq != pawl.Seq(i+1) {
			t.Fatalf("event %d has Seq %d", i+1, e.Seq)
		}
		switch body := e.Body.(type) {
		case pawl.Replied:
			for _, c := range body.Parts.Calls() {
				calls[c.ID]++
			}
		case pawl.CallFinished:
			results[body.Call]++
		default: // not counted
		}
	}
	if len(calls) != 3*(steps-1) {
		t.Errorf("%d calls, want %d", len(calls), 3*(steps-1))
	}
	if diff := cmp.Diff(calls, results); diff != "" {
		t.Errorf("calls and results:\n%s", diff)
	}
	if want := (pawl.Usage{Input: steps, Output: 2 * steps}); session.Usage != want {
		t.Errorf("usage %+v, want %+v", session.Usage, want)
	}
	shown := b.Must(t, "session", "show", string(session.ID)).Stdout
	for _, want := range []string{"step 1\n", "step 199\n", "the end\n", "Done (200 steps, "} {
		if !strings.Contains(shown, want) {
			t.Errorf("session show has no %q", want)
		}
	}

	other := harness.NewWorkdir(t, bin, harness.Stores["postgres"](t))
	other.Write(t, "export.jsonl", b.Must(t, "session", "export", "--format", "jsonl", string(session.ID)).Stdout)
	other.Must(t, "session", "import", "export.jsonl")
	imported := other.Export(t, string(session.ID))
	if diff := cmp.Diff(harness.Conversation(t, events), harness.Conversation(t, imported)); diff != "" {
		t.Errorf("conversation (-exported, +imported):\n%s", diff)
	}
}

// TestTokensOfTenants: a tenant's tokens are made, listed and revoked in its name
// alone, and two tenants can have one of the same name.
func TestTokensOfTenants(t *testing.T) {
	t.Parallel()
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["postgres"](t))
	for _, tenant := range []string{"acme", "rival"} {
		if out := b.Run(t, "token", "create", "laptop", "--tenant", tenant, "--user", "ada"); out.Code == 0 || !strings.Contains(out.Stderr, "`pawl tenant create "+tenant+"`") {
			t.Errorf("a token of no tenant that is there: exit %d, %s", out.Code, out.Stderr)
		}
		b.Must(t, "tenant", "create", tenant)
		if made := b.Must(t, "token", "create", "laptop", "--tenant", tenant, "--user", "ada", "--json").Stdout; !strings.Contains(made, `"tenant":"`+tenant+`"`) {
			t.Errorf("made %s", made)
		}
	}
	if all := b.Must(t, "token", "list").Stdout; !strings.Contains(all, "No tokens") {
		t.Errorf("without a tenant there are %s", all)
	}
	b.Must(t, "token", "revoke", "laptop", "--tenant", "acme")
	for tenant, state := range map[string]string{"acme": "revoked", "rival": "active"} {
		if list := b.Must(t, "token", "list", "--tenant", tenant).Stdout; strings.Count(list, "laptop") != 1 || !strings.Contains(list, state) {
			t.Errorf("%s has %s, want one that is %s", tenant, list, state)
		}
	}
}

// TestSignals: Ctrl-C cancels cleanly and exits with 130; a second one ends the
// program at once; after that, and after a polite kill, the turn can be resumed.
func TestSignals(t *testing.T) {
	t.Parallel()
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	// The command does not listen to SIGTERM, so a cancel takes a moment.
	b.Write(t, "s.jsonl", `{"calls":[{"name":"bash","input":{"command":"trap '' TERM; touch $FILE; while :; do sleep 0.1; done"}}]}
{"text":"went on"}
`)
	for _, c := range []struct {
		name    string
		signals []os.Signal
		code    int
		state   pawl.State
	}{
		{"interrupt", []os.Signal{os.Interrupt}, cli.ExitCanceled, pawl.StateIdle},
		{"two_interrupts", []os.Signal{os.Interrupt, os.Interrupt}, cli.ExitCanceled, pawl.StateRunning},
		{"terminate", []os.Signal{syscall.SIGTERM}, 128 + int(syscall.SIGTERM), pawl.StateRunning},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := b.Command("run", "--mode", "yolo", "--model", "script:s.jsonl", c.name)
			cmd.Env = append(cmd.Env, "FILE="+c.name)
			stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
			if err != nil {
				t.Fatal(err)
			}
			cmd.Stderr = stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			wait.Until(t, "the program", func() bool { return exists(filepath.Join(b.Dir, c.name)) })
			began := time.Now()
			for i, s := range c.signals {
				if i > 0 {
					wait.Until(t, "the program", func() bool { return strings.Contains(contents(t, stderr), "canceling") })
				}
				_ = cmd.Process.Signal(s)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit %d, want %d: %s", code, c.code, contents(t, stderr))
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %s to end", took)
			}
			if got := b.Sessions(t)[0].State(); got != c.state {
				t.Errorf("the session is %s, want %s", got, c.state)
			}
			if c.state == pawl.StateIdle {
				return
			}
			if out := b.Must(t, "resume"); out.Stdout != "went on\n" {
				t.Errorf("resume printed %q", out.Stdout)
			}
		})
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func contents(t *testing.T, f *os.File) string {
	t.Helper()
	data, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
