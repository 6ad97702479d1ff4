//go:build e2e

package cli

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
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
printf 'module example.org/m\n\ngo 1.26\n' >go.mod
printf 'package m\n\nfunc One() int { return 1 }\n' >m.go
printf 'package m\n\nimport "testing"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fatal(One())\n\t}\n}\n' >m_test.go
for name in hello fix-typo test; do cp "$S" $name.jsonl; done
git add -A && git commit -qm one && git tag v1.2.0 && git switch -qc topic
printf '\nfunc Two() int { return 2 }\n' >>m.go
printf '\nfunc TestTwo(t *testing.T) {\n\tif Two() != 2 {\n\t\tt.Fatal(Two())\n\t}\n}\n' >>m_test.go
git add -A && git commit -qm two && git tag v1.3.0
git remote add origin . && git fetch -q origin
mkdir -p ~/src/protos ../shared-lib
pawl trust --yes . >/dev/null
pawl run --model "script:$S" hello >/dev/null
`

// replies is the scripted model of the examples: JSON, because some of them have a schema.
var replies = strings.Repeat(`{"text":"{\"summary\":\"good\",\"findings\":[]}"}`+"\n", 20)

// longRunning are examples that run until they are stopped.
var longRunning = regexp.MustCompile(`^pawl (serve( |$)|acp|mcp serve|mission status --watch)`)

// interactive are examples that need a terminal, and stay open in it.
var interactive = regexp.MustCompile(`^pawl( -c| --attach unix| --theme.*| --model.*| --add-dir.*| --isolated.*| --screen-reader.*| ".*")?( +#.*)?$`)

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
	{regexp.MustCompile(`^pawl mission --issue`), "it talks to another host, or needs the issue of the example"},
	{regexp.MustCompile(`\\$`), "it continues on the next line: TestGuideScript compares it"},
	{regexp.MustCompile(`--attach http|^pawl tenant|--tenant`), "it needs a server of the example's name, or PostgreSQL"},
	{regexp.MustCompile(`^pawl run "(/mcp__|/tracker:|summarize @files:)`), "it needs the MCP server of the example"},
}

// TestExamples runs every command that README.md and the documentation show, each in a project of its own. It must succeed, or
// fail as the list says.
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
			want, text := wanted(line)
			switch {
			case alive && !longRunning.MatchString(line) && !interactive.MatchString(line):
				t.Errorf("it did not end:\n%s", out)
			case alive, strings.Contains(out, "Pass --yes to confirm"): // on a terminal it would ask
			case code != want || !strings.Contains(out, text):
				t.Errorf("exit code %d, want %d and %q:\n%s", code, want, text, out)
			}
		})
	}
}

// failing are examples that cannot succeed in the project of the test, with their exit code and what they print.
var failing = []struct {
	pattern *regexp.Regexp
	code    int
	text    string
}{
	{regexp.MustCompile(`^pawl permissions test --mode guard 'git clean`), 3, "rm -rf"},
	{regexp.MustCompile(`^pawl sandbox -- curl`), 6, "Could not resolve host"},
	{regexp.MustCompile(`^pawl sandbox -- sh -c 'date`), 3, ".vscode/tasks.json not changed"},
	{regexp.MustCompile(`^pawl session queue last --(remove|edit) 17`), 1, "has no prompt 17"},
	{regexp.MustCompile(`--(worker-)?model (sonnet|anthropic/)`), 1, "no API key for anthropic"},
	{regexp.MustCompile(`^pawl permissions revoke`), 1, "not found. Run `pawl permissions list`"},
	{regexp.MustCompile(`^pawl session fork last 42`), 1, "has no event 42"},
	{regexp.MustCompile(`^pawl session rewind last 42`), 1, "message 42 not found"},
	{regexp.MustCompile(`^pawl session redo`), 1, "nothing to redo"},
	{regexp.MustCompile(`^pawl session (changes|apply|branch|discard)`), 1, "has no view"},
	{regexp.MustCompile(`^pawl session import`), 1, "session.jsonl: no such file"},
	{regexp.MustCompile(`^pawl session compact`), 1, "not compacted"},
	{regexp.MustCompile(`^pawl token revoke`), 1, "no active token"},
	{regexp.MustCompile(`^pawl serve .*0\.0\.0\.0.*/srv/`), 1, "does not exist. Create it"},
	{regexp.MustCompile(`^pawl serve .*0\.0\.0\.0`), 1, "no token is configured"},
	{regexp.MustCompile(`^pawl run --attach unix`), 1, "connect to the server"},
	{regexp.MustCompile(`^pawl mission (-|")`), 6, "blocked"},
	{regexp.MustCompile(`^pawl mission (verify|report|resume|stop|show|status|diff|pr|merge|plan|approve|pause)`), 1, "no missions in"},
	{regexp.MustCompile(`^pawl gate .*gradlew`), 1, "cannot open gradlew"},
	{regexp.MustCompile(`^pawl agents new reviewer --project`), 1, "already exists"},
}

// wanted returns the exit code of an example, and a text in its output.
func wanted(line string) (code int, text string) {
	for _, f := range failing {
		if f.pattern.MatchString(line) {
			return f.code, f.text
		}
	}
	return 0, ""
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
	base, err := os.MkdirTemp("", "") // short, because it contains sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
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
	writeKey(t, filepath.Join(home, "gate-key.pem"))
	shareToolchains(t, home)
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
	if inCI.MatchString(line) {
		limit = 10 * time.Minute // the first gate compiles the standard library
	}
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
	out, err = run(ctx, line)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	return out, code, ctx.Err() != nil
}

// writeKey writes a new key, with which an example signs.
func writeKey(t *testing.T, path string) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// shareToolchains lets the gates of all examples use one compiled standard library.
func shareToolchains(t *testing.T, home string) {
	t.Helper()
	shared, cache := filepath.Join(os.TempDir(), "pawl-test-toolchains-"+strconv.Itoa(os.Getuid())), filepath.Join(home, ".cache", "pawl")
	err := errors.Join(os.MkdirAll(shared, 0o700), os.MkdirAll(cache, 0o700))
	if err == nil {
		err = os.Symlink(shared, filepath.Join(cache, "toolchains"))
	}
	if err != nil {
		t.Fatal(err)
	}
}
