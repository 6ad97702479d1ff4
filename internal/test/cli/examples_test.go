//go:build e2e

package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/test/harness"
)

// prepare creates the project in which the examples run: a branch with a change, an agent, a command, a skill, a schema
// and a finished session.
const prepare = `set -e
git init -q -b main . && git config user.name t && git config user.email t@localhost
mkdir -p .pawl/agents .pawl/commands .agents/skills/deploy
printf -- '---\ndescription: Reviews\n---\nReview the change.\n' >.pawl/agents/reviewer.md
printf 'Fix issue $1.\n' >.pawl/commands/fix.md
printf -- '---\nname: deploy\ndescription: Deploys\n---\nDeploy it.\n' >.agents/skills/deploy/SKILL.md
echo '{"type":"object"}' >owners.json
printf 'check integration lint:\n\ttrue\n' >Makefile
mkdir docs && cp Makefile docs/
git add -A && git commit -qm one && git switch -qc topic && echo x >x && git add -A && git commit -qm two
git remote add origin . && git fetch -q origin
pawl trust --yes . >/dev/null
pawl run --model "script:$S" hello >/dev/null
pawl session export last -o session.jsonl >/dev/null
`

// replies is the scripted model of the examples: JSON, because one of them has a schema.
var replies = strings.Repeat(`{"text":"{}"}`+"\n", 20)

// longRunning are examples that run until they are stopped.
var longRunning = regexp.MustCompile(`^pawl (serve( |$)|acp|mcp serve|mission status --watch)`)

// interactive are examples that need a terminal, and stay open in it.
var interactive = regexp.MustCompile(`^pawl( -c| --attach unix| --theme.*| --model.*| --screen-reader.*| ".*")?( +#.*)?$`)

// inCI are examples that take the base of the change from the CI.
var inCI = regexp.MustCompile(`^pawl (gate|review) `)

// notRun are examples that a test cannot run, with the reason.
var notRun = []struct {
	pattern *regexp.Regexp
	reason  string
}{
	{regexp.MustCompile(`^pawl auth log(in|out)`), "it would use the keyring of the person who runs the tests"},
	{regexp.MustCompile(`script:/tmp/`), "it is part of a tutorial, which TestTutorial runs"},
	{regexp.MustCompile(`^pawl skills (add|update)|^pawl sandbox --network|^pawl mcp (login|test|tools)|^pawl (auth test|models --local)`), "it talks to another host"},
	{regexp.MustCompile(`\\$`), "it continues on the next line: TestGuideScript compares it"},
	{regexp.MustCompile(`--attach http|^pawl tenant|--tenant`), "it needs a server of the example's name, or PostgreSQL"},
	{regexp.MustCompile(`^pawl run "(/mcp__|/tracker:|summarize @files:)`), "it needs the MCP server of the example"},
}

// TestExamples runs every command that README.md and the documentation show, each in a project of its own. None may be
// a usage error.
func TestExamples(t *testing.T) {
	t.Parallel()
	for _, line := range exampleLines(t) {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			for _, n := range notRun {
				if n.pattern.MatchString(line) {
					return
				}
			}
			out, code, alive := runExample(t, line)
			switch {
			case alive && !longRunning.MatchString(line) && !interactive.MatchString(line):
				t.Errorf("it did not end:\n%s", out)
			case alive, strings.Contains(out, "Pass --yes to confirm"): // on a terminal it would ask
			case code == 2, code == 127, code < 0, strings.Contains(out, "panic:"):
				t.Errorf("exit code %d:\n%s", code, out)
			}
		})
	}
}

// exampleLines returns the distinct commands in the shell blocks of the pages that begin with pawl.
func exampleLines(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "*", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen, lines := map[string]bool{}, []string{}
	for _, page := range append(pages, filepath.Join("..", "..", "..", "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range shellBlock.FindAllStringSubmatch(string(text), -1) {
			for line := range strings.Lines(m[1]) {
				line = strings.TrimSuffix(strings.TrimSpace(line), " &")
				if (line == "pawl" || strings.HasPrefix(line, "pawl ")) && !seen[line] {
					seen[line] = true
					lines = append(lines, line)
				}
			}
		}
	}
	if len(lines) < 100 {
		t.Fatalf("only %d examples", len(lines))
	}
	return lines
}

var shellBlock = regexp.MustCompile("(?s)\n```sh\n(.*?)\n```")

// runExample runs a line in a new project. alive is true if it had to be stopped.
func runExample(t *testing.T, line string) (out string, code int, alive bool) {
	t.Helper()
	base := t.TempDir()
	dir, home := filepath.Join(base, "project"), filepath.Join(base, "home")
	script := filepath.Join(base, "replies.jsonl")
	for _, d := range []string{dir, home} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(script, []byte(replies), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(ctx context.Context, text string) (string, error) {
		cmd := exec.CommandContext(ctx, "bash", "-c", text)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", "XDG_DATA_HOME=", "PAWL_DATA="+filepath.Join(home, "data"), "S="+script,
			"PAWL_MODEL=script:"+script, "GOCACHE="+goCache(), "PATH="+filepath.Dir(harness.Binary(t, ""))+":"+os.Getenv("PATH"), "TERM=xterm", "CI=", "DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
		cmd.WaitDelay = 10 * time.Second
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run(t.Context(), prepare); err != nil {
		t.Fatalf("prepare: %v\n%s", err, out)
	}
	limit := 2 * time.Minute
	switch {
	case inCI.MatchString(line) && !strings.Contains(line, "--base"):
		line = "export CI=true GITHUB_BASE_REF=main; " + line
	case interactive.MatchString(line):
		line = "exec script -qec '" + strings.ReplaceAll(line, "'", `'\''`) + "' /dev/null"
		limit = 3 * time.Second
	case longRunning.MatchString(line):
		limit = 3 * time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	out, err := run(ctx, line)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	return out, code, ctx.Err() != nil
}
