//go:build e2e

package cli

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/pawl-dev/pawl/internal/test/harness"
)

// action is action.yml, as far as the tests run it.
type action struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Using string
		Steps []struct {
			Name, Shell, Run, Uses string
			Env                    map[string]string
		}
	}
}

// TestAction runs the steps of the GitHub Action as a runner does, in a clone with a proven change and one with a failed
// change.
func TestAction(t *testing.T) {
	t.Parallel()
	var a action
	readYAML(t, "action.yml", &a)
	for _, s := range a.Runs.Steps {
		if strings.Contains(s.Run, "${{") {
			t.Errorf("step %q inserts an expression into a script, which can inject commands: pass it in env", s.Name)
		}
	}
	binary := harness.Binary(t, "")
	for name, test := range map[string]struct {
		inputs map[string]string
		double string
		code   int
		want   string
	}{
		"proven":         {map[string]string{"path": binary}, "echo $(($1 * 2))", 0, "Proven: 1 check"},
		"proven release": {map[string]string{"version": "1.2.3", "downloads": "file://" + release(t, binary), "command": "make test"}, "echo $(($1 * 2))", 0, "Proven: 1 check"},
		"failed":         {map[string]string{"path": binary}, "echo $(($1 * 3))", 6, "::error title=pawl gate%3A check-failed::make-test"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, env := cloneWithChange(t, test.double), runnerEnv(t)
			env = append(env, "GITHUB_ACTIONS=true", "GITHUB_BASE_REF=main", "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "..", "summary.md"))
			out, code := runAction(t, a, test.inputs, dir, env)
			if code != test.code || !strings.Contains(out, test.want) {
				t.Errorf("exit code %d, want %d with %q:\n%s", code, test.code, test.want, out)
			}
			for file, want := range map[string]string{filepath.Join(dir, "pawl-gate.sarif"): `"version":"2.1.0"`, filepath.Join(dir, "..", "summary.md"): "## Runs"} {
				if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), want) {
					t.Errorf("%s: %v, %s", file, err, text)
				}
			}
		})
	}
}

// TestActionRefusesDownload: an archive that does not have its checksum is not used.
func TestActionRefusesDownload(t *testing.T) {
	t.Parallel()
	var a action
	readYAML(t, "action.yml", &a)
	from := release(t, harness.Binary(t, ""))
	sums := filepath.Join(from, "checksums.txt")
	text, err := os.ReadFile(sums)
	check(t, err)
	check(t, os.WriteFile(sums, append([]byte("0000"), text[4:]...), 0o600))
	dir := cloneWithChange(t, "echo $(($1 * 2))")
	if out, code := runAction(t, a, map[string]string{"version": "1.2.3", "downloads": "file://" + from}, dir, runnerEnv(t)); code != 1 || !strings.Contains(out, "FAILED") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// TestGitLabTemplate runs the scripts of the GitLab template as a runner does.
func TestGitLabTemplate(t *testing.T) {
	t.Parallel()
	var template map[string]struct {
		Variables     map[string]string
		Before        []string `yaml:"before_script"`
		Script, Rules any
		Artifacts     struct{ Reports struct{ JUnit string } }
	}
	readYAML(t, "ci/gitlab/pawl-gate.gitlab-ci.yml", &template)
	job := template["pawl-gate"]
	lines := job.Before
	for _, line := range job.Script.([]any) {
		lines = append(lines, line.(string))
	}
	binary := harness.Binary(t, "")
	for name, set := range map[string][]string{
		"binary":  {"PAWL_BINARY=" + binary},
		"release": {"PAWL_VERSION=1.2.3", "PAWL_DOWNLOADS=file://" + release(t, binary), "PAWL_GATE_COMMAND=make test"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, env := cloneWithChange(t, "echo $(($1 * 2))"), runnerEnv(t)
			for key, value := range job.Variables {
				env = append(env, key+"="+value)
			}
			env = append(env, "CI_BUILDS_DIR="+t.TempDir(), "CI_JOB_ID=1", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main")
			out, code := runBash(t, dir, strings.Join(lines, "\n"), append(env, set...))
			if code != 0 || !strings.Contains(out, "Proven: 1 check") {
				t.Errorf("exit code %d:\n%s", code, out)
			}
			if text, err := os.ReadFile(filepath.Join(dir, job.Artifacts.Reports.JUnit)); err != nil || !strings.Contains(string(text), `name="verdict"`) {
				t.Errorf("%v, %s", err, text)
			}
		})
	}
}

// runAction runs the scripts of the action's steps until one fails. It leaves out the installation of the sandbox, which
// needs another user, and actions of others.
func runAction(t *testing.T, a action, inputs map[string]string, dir string, env []string) (out string, code int) {
	t.Helper()
	paths := filepath.Join(t.TempDir(), "path")
	for _, s := range a.Runs.Steps {
		if s.Run == "" || s.Name == "Install the sandbox" {
			continue
		}
		list := append([]string{"GITHUB_PATH=" + paths, "RUNNER_TEMP=" + filepath.Dir(paths)}, env...)
		for key, value := range s.Env {
			name := strings.TrimSuffix(strings.TrimPrefix(value, "${{ inputs."), " }}")
			given, ok := inputs[name]
			if !ok {
				given = a.Inputs[name].Default
			}
			list = append(list, key+"="+given)
		}
		if added, err := os.ReadFile(paths); err == nil {
			list = append(list, "PATH="+strings.TrimSpace(string(added))+":"+os.Getenv("PATH"))
		}
		var text string
		if text, code = runBash(t, dir, s.Run, list); code != 0 {
			return out + text, code
		}
		out += text
	}
	return out, code
}

// runBash runs a script with the options of the runners.
func runBash(t *testing.T, dir, script string, env []string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = dir, append([]string{"PATH=" + os.Getenv("PATH"), "CI=true"}, env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func runnerEnv(t *testing.T) []string {
	t.Helper()
	home := t.TempDir()
	return []string{"HOME=" + home, "PAWL_DATA=" + filepath.Join(home, "data"), "XDG_CACHE_HOME=" + filepath.Join(home, "cache")}
}

// cloneWithChange returns a clone of a repository, with a branch that adds a function and its test.
func cloneWithChange(t *testing.T, double string) string {
	t.Helper()
	top := t.TempDir()
	origin, dir := filepath.Join(top, "origin"), filepath.Join(top, "clone")
	script := `git init -q -b main "$1" && cd "$1" && git config user.name n && git config user.email e@example.org
printf 'test:\n\tgrep -q hello greeting\n' >Makefile && echo hello >greeting && git add . && git commit -qm base
git clone -q "$1" "$2" && cd "$2" && git config user.name n && git config user.email e@example.org && git checkout -q -b work
printf 'double() {\n\t%s\n}\n' "$3" >double.sh
printf 'test:\n\tgrep -q hello greeting\n\t. ./double.sh && [ "$$(double 4)" = 8 ] && [ "$$(double 0)" = 0 ]\n' >Makefile
git add . && git commit -qm change`
	if out, err := exec.CommandContext(t.Context(), "sh", "-ec", script, "sh", origin, dir, double).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// release returns a directory with an archive of the binary and its checksum, named as those of releases.
func release(t *testing.T, binary string) string {
	t.Helper()
	dir := t.TempDir()
	name := fmt.Sprintf("pawl_1.2.3_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	text, err := os.ReadFile(binary)
	check(t, err)
	var b strings.Builder
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	check(t, w.WriteHeader(&tar.Header{Name: "pawl", Mode: 0o755, Size: int64(len(text))}))
	_, err = w.Write(text)
	check(t, err)
	check(t, w.Close())
	check(t, z.Close())
	check(t, os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o600))
	check(t, os.WriteFile(filepath.Join(dir, "checksums.txt"), fmt.Appendf(nil, "%x  %s\n", sha256.Sum256([]byte(b.String())), name), 0o600))
	return dir
}

func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", name))
	check(t, err)
	check(t, yaml.Unmarshal(text, into))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
