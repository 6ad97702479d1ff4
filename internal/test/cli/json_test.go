//go:build e2e

package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/root"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// jsonRun is a run of a command with --json, and the code that it exits with.
type jsonRun struct {
	args string
	code int
}

// jsonRuns are runs of every command that has the flag, in an order in which each
// finds what it needs.
var jsonRuns = []jsonRun{
	{"agents", 0}, {"agents show build", 0}, {"extensions list", 0}, {"extensions list hooks --all", 0},
	{"auth list", 0},
	{"config", 0}, {"config get permissions.mode", 0}, {"config check", 0}, {"config limits", 0}, {"config managed", 0}, {"config show", 0},
	{"doctor", 0},
	{"gc --dry-run", 0}, {"gc", 0},
	{"mcp list", 0}, {"mcp test", 0}, {"mcp tools", 0}, {"mcp prompts", 0}, {"mcp resources", 0},
	{"mission list", 0}, {"mission status", 0}, {"mission plan", 0}, {"mission diff", 0},
	{"models", 0}, {"models no-such-model", 0},
	{"permissions list", 0}, {"permissions test --json ls", 0},
	{"session list", 0}, {"session list no-such-words", 0}, {"session list --search go", 0}, {"session queue last", 0},
	{"session diff last", 0}, {"session diff last --turn 1", 0}, {"session undo last --dry-run", 0}, {"session undo last --yes", 0}, {"session redo last --yes", 0}, {"session rewind last", 0}, {"session rewind last 3 --dry-run", 0},
	{"stats", 0},
	{"token create ci --user ada --scope run", 0}, {"token link --url http://127.0.0.1:4747 --name phone", 0}, {"token list", 0},
	{"trust --status", cli.ExitDenied}, {"trust --list", 0}, {"trust --yes", 0}, {"trust --status", 0}, {"trust --list", 0}, {"trust --revoke", 0},
	{"skills", 0}, {"skills verify", 0}, {"skills add --local --dry-run SOURCE", 0}, {"skills add --local --yes SOURCE", 0},
	{"skills", 0}, {"skills show deploy", 0}, {"skills update --local --yes", 0}, {"skills verify", 0},
	{"skills remove --dry-run deploy", 0}, {"skills remove --yes deploy", 0},
}

// isolatedRuns are those that need an isolated session.
var isolatedRuns = []jsonRun{{"session changes last", 0}}

// tenantRuns are those that need a store of many tenants.
var tenantRuns = []jsonRun{
	{"tenant list", 0}, {"tenant create acme --rate 9", 0}, {"tenant list", 0}, {"tenant show acme", 0}, {"tenant set acme --budget 5", 0},
	{"tenant suspend acme", 0}, {"tenant resume acme", 0}, {"tenant remove acme", 0},
}

// TestEveryJSON: whoever asks for JSON gets it: one value, and not null, whatever
// the command did.
func TestEveryJSON(t *testing.T) {
	t.Parallel()
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	home := t.TempDir()
	b.Env = append(b.Env, "HOME="+home, "XDG_CONFIG_HOME=", "PAWL_CONFIG=", "ANTHROPIC_API_KEY=", "CI=")
	source := skillSource(t)
	b.Write(t, "say.jsonl", `{"calls":[{"name":"write","input":{"path":"a.txt","content":"a"}}]}`+"\n"+`{"text":"hello"}`+"\n")
	b.Write(t, "block.jsonl", `{"calls":[{"name":"plan","input":{"tasks":[{"id":"T1","title":"Do it","files":["a.txt"]}],"criteria":[{"id":"C1","text":"It is done."}]}}]}`+"\n"+
		`{"calls":[{"name":"block","input":{"reason":"a person is needed"}}]}`+"\n"+`{"text":"I wait."}`+"\n")
	commitAll(t, b.Dir)
	if out := b.Run(t, "mission", "--model", "script:block.jsonl", "--check", "true", "do", "it"); out.Code != cli.ExitGate {
		t.Fatalf("the mission: exit %d\n%s", out.Code, out.Stderr)
	}
	b.Must(t, "run", "--mode", "yolo", "--model", "script:say.jsonl", "hi")
	for _, run := range jsonRuns {
		run.args = strings.ReplaceAll(run.args, "SOURCE", "file://"+source)
		run.check(t, b)
	}
	b.Write(t, "change.jsonl", `{"calls":[{"name":"write","input":{"path":"b.txt","content":"b"}}]}`+"\n"+`{"text":"hello"}`+"\n")
	b.Must(t, "run", "--isolated", "--mode", "yolo", "--model", "script:change.jsonl", "hi")
	for _, run := range isolatedRuns {
		run.check(t, b)
	}
	many := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["postgres"](t))
	for _, run := range tenantRuns {
		run.check(t, many)
	}
	for _, path := range withJSON(root.Command()) {
		if strings.HasPrefix(path, "fleet ") {
			continue // it needs a fleet: internal/test/fleet runs them
		}
		if !slices.ContainsFunc(slices.Concat(jsonRuns, isolatedRuns, tenantRuns), func(r jsonRun) bool { return strings.HasPrefix(r.args+" ", path+" ") }) {
			t.Errorf("'pawl %s' has --json: add a run of it to jsonRuns", path)
		}
	}
}

// check wants one value on the standard output, and the code.
func (r jsonRun) check(t *testing.T, b *harness.Workdir) {
	t.Helper()
	args := strings.Fields(r.args)
	if !slices.Contains(args, "--json") {
		args = append(args, "--json")
	}
	out := b.Run(t, args...)
	var v any
	if err := json.Unmarshal([]byte(out.Stdout), &v); err != nil || v == nil || out.Code != r.code {
		t.Errorf("pawl %s --json: exit %d, %v\n%s%s", r.args, out.Code, err, out.Stdout, out.Stderr)
	}
}

// withJSON returns the paths of the commands that have the flag.
func withJSON(cmd *cobra.Command) (paths []string) {
	if cmd.Flags().Lookup("json") != nil {
		paths = append(paths, strings.TrimPrefix(cmd.CommandPath(), "pawl "))
	}
	for _, c := range cmd.Commands() {
		paths = append(paths, withJSON(c)...)
	}
	return paths
}

// skillSource is a repository with a skill.
func skillSource(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "deploy"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "deploy", "SKILL.md"), []byte("---\nname: deploy\ndescription: Ships the site.\n---\nShip it.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	commitAll(t, dir)
	return dir
}

// commitAll makes a directory a repository.
func commitAll(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "one"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
}
