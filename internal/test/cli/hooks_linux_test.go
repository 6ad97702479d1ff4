//go:build e2e

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// hookEvents are all events that a hook can be configured for.
var hookEvents = []string{
	"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "Notification", "PostToolUse",
	"SubagentStop", "Stop", "PreCompact", "PostCompact", "SessionEnd",
}

// hooksFor is a configuration that runs a command at each of the events.
func hooksFor(t *testing.T, command string, events ...string) string {
	t.Helper()
	hooks := map[string]any{}
	for _, e := range events {
		hooks[e] = []any{map[string]any{"hooks": []any{map[string]any{"command": command}}}}
	}
	text, err := json.Marshal(map[string]any{"small_model": "none", "hooks": hooks})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// configure writes the person's configuration.
func configure(t *testing.T, b *harness.Workdir, text string) {
	t.Helper()
	for _, entry := range b.Env {
		if path, ok := strings.CutPrefix(entry, "PAWL_CONFIG="); ok {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// recorded returns what hooks received, a line each, and forgets it.
func recorded(t *testing.T, b *harness.Workdir) []string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(b.Read(t, "told")) {
		var in struct {
			Session string `json:"session_id"`
			Parent  string `json:"parent_session_id"`
			Event   string `json:"hook_event_name"`
			Source  string `json:"source"`
			Tool    string `json:"tool_name"`
			Kind    string `json:"notification_type"`
			Trigger string `json:"trigger"`
			Reason  string `json:"reason"`
			Agent   string `json:"agent_type"`
		}
		if err := json.Unmarshal([]byte(line), &in); err != nil || in.Session == "" {
			t.Fatalf("a hook was told %q: %v", line, err)
		}
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprint(in.Event, " ", in.Source, " ", in.Tool, " ", in.Kind, " ", in.Trigger, " ", in.Reason, " ", in.Agent)), " "))
	}
	if err := os.Remove(filepath.Join(b.Dir, "told")); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return lines
}

// TestEveryPoint: the real program runs hooks at all points, each time once. In
// each case all that hooks learn is there, in its order.
func TestEveryPoint(t *testing.T) {
	t.Parallel()
	const task = `{"name":"task","input":{"agent":"explore","prompt":"look","description":"a look"}}`
	b := newProject(t, "",
		calls(`{"name":"write","input":{"path":"a","content":"`+strings.Repeat("words ", 300)+`"}}`), `{"text":"All done."}`,
		calls(task), `{"text":"Looked."}`, `{"agent":"explore","text":"Seen."}`,
		`{"text":"Compacted."}`, `{"agent":"compaction","text":"Sum."}`)
	configure(t, b, hooksFor(t, "cat >> told", hookEvents...))
	seen := map[string]bool{}
	for _, test := range []struct {
		name string
		do   func()
		want []string
	}{
		{"a person is asked", func() {
			x := startAsk(t, b)
			x.Await(hint)
			x.Type("y\n")
			ended(t, x, 0)
		}, []string{
			"SessionStart startup", "UserPromptSubmit", "PreToolUse write", "PermissionRequest write", "Notification permission_prompt", "PostToolUse write",
			"Stop build", "Notification idle_prompt", "SessionEnd other",
		}},
		{"a script has a task done", func() { b.Must(t, "run", "-c", "--mode", "yolo", "--format", "json", "go on") }, []string{
			"SessionStart resume", "UserPromptSubmit", "PreToolUse task", "SubagentStop explore", "PostToolUse task", "Stop build", "SessionEnd other",
		}},
		{"the conversation is made smaller", func() { b.Must(t, "session", "compact", "last") }, []string{"PreCompact manual", "PostCompact manual", "SessionStart compact"}},
		{"nothing is left to do", func() { b.Must(t, "resume") }, nil},
	} {
		test.do()
		got := recorded(t, b)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.name, diff)
		}
		for _, line := range got {
			seen[strings.Fields(line)[0]] = true
		}
	}
	for _, e := range hookEvents {
		if !seen[e] {
			t.Errorf("no hook was run at %s", e)
		}
	}
}

// TestKilledBetweenPoints: a pawl that is killed tells nobody that the session has
// ended; the one that resumes it tells hooks nothing twice that the log shows.
func TestKilledBetweenPoints(t *testing.T) {
	t.Parallel()
	b := newProject(t, "", calls(writesA), done)
	configure(t, b, hooksFor(t, "cat >> told", hookEvents...))
	x := startAsk(t, b)
	x.Await(hint)
	x.Kill()
	want := []string{"SessionStart startup", "UserPromptSubmit", "PreToolUse write", "PermissionRequest write", "Notification permission_prompt"}
	if diff := cmp.Diff(want, recorded(t, b)); diff != "" {
		t.Error(diff)
	}
	x = b.Terminal(t, "resume")
	x.Await(hint)
	x.Type("y\n")
	ended(t, x, 0)
	// The call has not begun: what hooks say of it is not in the log.
	want = []string{"SessionStart resume", "PreToolUse write", "PostToolUse write", "Stop build", "Notification idle_prompt", "SessionEnd other"}
	if diff := cmp.Diff(want, recorded(t, b)); diff != "" {
		t.Error(diff)
	}
}

// TestHookCanceled: Ctrl-C ends the wait for a hook that looks at a prompt, and the
// prompt is withdrawn.
func TestHookCanceled(t *testing.T) {
	t.Parallel()
	b := newProject(t, "", done)
	configure(t, b, hooksFor(t, "touch looks; sleep 1000", "UserPromptSubmit"))
	x := startAsk(t, b)
	x.Await("waiting for hooks")
	x.Type("\x03")
	ended(t, x, cli.ExitCanceled)
	if shown := b.Must(t, "session", "show", "last").Stdout; strings.Contains(shown, "All done.") {
		t.Errorf("the model was asked:\n%s", shown)
	}
}

// TestManagedHooksOfAMachine: the real program, with an /etc of its own. Hooks of
// the administrator run as they are, and can be all that run.
func TestManagedHooksOfAMachine(t *testing.T) {
	t.Parallel()
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Fatal(err)
	}
	b := newProject(t, "", done)
	configure(t, b, hooksFor(t, "touch users", "UserPromptSubmit"))
	run := func(policy string, args ...string) harness.Output {
		t.Helper()
		etc := t.TempDir()
		if err := errors.Join(os.WriteFile(filepath.Join(etc, "managed.json"), []byte(policy), 0o644), os.Chmod(etc, 0o755)); err != nil { //nolint:gosec // as in /etc
			t.Fatal(err)
		}
		cmd := b.Command(args...)
		cmd.Path = bwrap
		cmd.Args = append([]string{bwrap, "--unshare-user", "--uid", "0", "--gid", "0", "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--tmpfs", "/etc", "--bind", etc, "/etc/pawl", b.Bin}, args...)
		return harness.Wait(t, cmd)
	}
	const guard = `"hooks":{"UserPromptSubmit":[{"hooks":[{"command":"touch managed; if grep -q secret; then echo not here >&2; exit 2; fi"}]}]}`
	for _, test := range []struct {
		policy, prompt, list string
		code                 int
		users                bool
	}{
		{"{" + guard + "}", "hello", `"source":"user","file":"[^"]*","active":true.*"source":"managed","file":"[^"]*","active":true`, 0, true},
		{"{" + guard + "}", "a secret", "", cli.ExitDenied, true},
		{"{" + guard + `,"allow_only_managed_hooks":true}`, "hello", `^[^}]*"source":"managed","file":"[^"]*","active":true`, 0, false},
	} {
		if out := run(test.policy, "extensions", "list", "hooks", "--json"); !regexp.MustCompile(test.list).MatchString(out.Stdout) {
			t.Errorf("%s: listed:\n%s%s", test.policy, out.Stdout, out.Stderr)
		}
		out := run(test.policy, "run", "--mode", "yolo", "--model", "script:s.jsonl", test.prompt)
		if out.Code != test.code || !exists(filepath.Join(b.Dir, "managed")) || exists(filepath.Join(b.Dir, "users")) != test.users {
			t.Errorf("%s, %q: %+v; the managed one has run: %v, the user's: %v", test.policy, test.prompt, out, exists(filepath.Join(b.Dir, "managed")), exists(filepath.Join(b.Dir, "users")))
		}
		for _, name := range []string{"managed", "users"} {
			_ = os.Remove(filepath.Join(b.Dir, name))
		}
	}
	shown := run("{"+guard+`,"allow_only_managed_hooks":true}`, "config", "managed").Stdout
	if want := "hooks of users and projects: disabled\nhook: UserPromptSubmit: touch managed; "; !strings.HasPrefix(shown, want) {
		t.Errorf("shown:\n%s", shown)
	}
	if out := run(`{"hooks":{"PreTool":[]}}`, "run", "--mode", "yolo", "--model", "script:s.jsonl", "hello"); out.Code == 0 || !strings.Contains(out.Stderr, "unknown event") {
		t.Errorf("a policy that cannot be understood: %+v", out)
	}
}
