package policy

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

// job is a background command on its view.
type job struct {
	t       *testing.T
	dir     string
	process *proc.Process
	w       sandbox.Wrapped
	out     *strings.Builder
}

func startJob(t *testing.T, s *Safety, dir, script string) *job {
	t.Helper()
	w, err := s.Wrap(t.Context(), sandbox.Request{
		Session: "01JD0000000000000000000000", Workspace: dir, Mode: "auto", Sandboxed: true, Dir: dir,
		Args: []string{"bash", "-c", script},
	})
	if err != nil {
		t.Fatal(err)
	}
	j := &job{t: t, dir: dir, w: w, out: &strings.Builder{}}
	j.process, err = proc.Start(proc.Command{Args: w.Args, Env: w.Env, Bare: true, Files: w.Files, Attr: w.Attr, Dir: dir, Output: j.out})
	if err != nil {
		t.Fatal(err)
	}
	w.Follow(j.process.PID())
	t.Cleanup(func() {
		j.process.Kill()
		<-j.process.Done()
		w.Close()
	})
	return j
}

// await waits until the project has a file with a text.
func (j *job) await(name, text string) {
	j.t.Helper()
	wait.Until(j.t, name+" contains "+text, func() bool {
		got, _ := os.ReadFile(filepath.Join(j.dir, name))
		return strings.Contains(string(got), text)
	})
}

func (j *job) finish() sandbox.Outcome {
	j.t.Helper()
	j.process.Kill()
	<-j.process.Done()
	out, err := j.w.Finish(j.t.Context(), nil)
	if err != nil {
		j.t.Fatalf("%v\n%s", err, j.out)
	}
	return out
}

// echo prints what is in a file to another one, whenever it changes.
const echo = `last=; while :; do new=$(cat src/in 2>/dev/null); [ "$new" = "$last" ] || echo "$new" >> out; last=$new; sleep 0.02; done`

// TestJob: a job sees what people, programs and commands change while it runs, what it writes is applied while it runs,
// and what is protected is not.
func TestJob(t *testing.T) { //nolint:paralleltest // it sets environment variables
	if asUser(t) {
		return
	}
	s, dir, _ := open(t)
	put(t, dir, "src/in", "one\n")
	j := startJob(t, s, dir, "mkdir .vscode; echo '{}' > .vscode/tasks.json; "+echo)
	j.await("out", "one")

	put(t, dir, "src/in", "two\n") // in place
	j.await("out", "two")
	put(t, dir, "new", "three\n") // by rename
	if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "src/in")); err != nil {
		t.Fatal(err)
	}
	j.await("out", "three")
	if err := os.Rename(filepath.Join(dir, "src"), filepath.Join(dir, "old")); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "moved/in", "four\n")
	if err := os.Rename(filepath.Join(dir, "moved"), filepath.Join(dir, "src")); err != nil {
		t.Fatal(err)
	}
	j.await("out", "four")
	if err := os.Remove(filepath.Join(dir, "src/in")); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "src/in", "five\n")
	j.await("out", "five")

	out := j.finish()
	if len(out.Applied) != 1 || out.Applied[0].Path != "out" {
		t.Errorf("applied %v", out.Applied)
	}
	if len(out.Refused) != 1 || out.Refused[0].Path != ".vscode/tasks.json" {
		t.Errorf("refused %v", out.Refused)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".vscode")); err == nil {
		t.Error("a protected directory was created")
	}
}

// TestJobSecret: a job never sees hidden files, not even those that appear while it runs.
func TestJobSecret(t *testing.T) { //nolint:paralleltest // it sets environment variables
	if asUser(t) {
		return
	}
	s, dir, _ := open(t)
	put(t, dir, "src/in", "one\n")
	put(t, dir, ".env", "KEY=early\n")
	j := startJob(t, s, dir, `while :; do cat .env src/.env new/.env 2>/dev/null >> stolen; cp src/in out 2>/dev/null; sleep 0.02; done`)
	j.await("out", "one")
	put(t, dir, "src/.env", "KEY=late\n")
	put(t, dir, "made/.env", "KEY=moved\n")
	if err := os.Rename(filepath.Join(dir, "made"), filepath.Join(dir, "new")); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "src/in", "two\n")
	j.await("out", "two")
	j.finish()
	if stolen, _ := os.ReadFile(filepath.Join(dir, "stolen")); len(stolen) > 0 {
		t.Errorf("it read %q", stolen)
	}
}

// TestJobUserWins: what a person saves while a job runs is not lost, and what the job made of it is applied.
func TestJobUserWins(t *testing.T) { //nolint:paralleltest // it sets environment variables
	if asUser(t) {
		return
	}
	s, dir, _ := open(t)
	put(t, dir, "f", "a")
	j := startJob(t, s, dir, `while :; do read -r x < f; case $x in *!) ;; *) echo "$x!" > f;; esac; sleep 0.02; done`)
	j.await("f", "a!") // the job changes it, then the user, then the job again
	put(t, dir, "f", "b")
	j.await("f", "b!")
	if err := os.Remove(filepath.Join(dir, "f")); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "done", "")
	j.finish()
	if got, err := os.ReadFile(filepath.Join(dir, "f")); err == nil {
		t.Errorf("a deleted file came back with %q", got)
	}
}

// TestJobs: jobs in one directory see what the other and commands write, also in a directory that git ignores.
func TestJobs(t *testing.T) { //nolint:paralleltest // it sets environment variables
	if asUser(t) {
		return
	}
	s, dir, _ := open(t)
	put(t, dir, ".gitignore", "build\n")
	put(t, dir, "build/n", "0\n")
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	const answer = `while :; do n=$(cat build/MINE); case $n in *9) ;; *) [ "$n" = "$last" ] || echo "$n"1 > build/OTHER;; esac; last=$n; sleep 0.02; done`
	a := startJob(t, s, dir, strings.NewReplacer("MINE", "n", "OTHER", "m").Replace(answer))
	b := startJob(t, s, dir, strings.NewReplacer("MINE", "m", "OTHER", "k").Replace(answer))
	a.await("build/m", "01")
	b.await("build/k", "011")
	command := startJob(t, s, dir, "echo 2 > build/n") // it ends at once
	<-command.process.Done()
	command.finish()
	b.await("build/k", "211")
	a.finish()
	b.finish()
}

// asUser runs the test as root and as a normal user, if this user is root. It reports whether it did.
func asUser(t *testing.T) bool {
	t.Helper()
	return asUserWith(t, "")
}

// asUserWith is asUser, and before the test a script can mount file systems, which only the test sees. $TMPDIR is the
// directory for temporary files.
func asUserWith(t *testing.T, script string) bool {
	t.Helper()
	const again, nobody = "PAWL_TEST_AGAIN", 65534
	if os.Geteuid() != 0 || os.Getenv(again) != "" {
		return false
	}
	base, err := os.MkdirTemp("/var/lib", "pawl-policy-test-") // not for temporary files, which sandboxes hide
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	program := filepath.Join(base, "policy.test")
	if err := os.Link(os.Args[0], program); err != nil {
		if out, err := exec.Command("cp", os.Args[0], program).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	for name, user := range map[string]uint32{"root": 0, "nobody": nobody} {
		t.Run(name, func(t *testing.T) {
			temp := filepath.Join(base, name)
			if err := errors.Join(os.Chmod(base, 0o755), os.Mkdir(temp, 0o755), os.Chown(temp, int(user), int(user))); err != nil {
				t.Fatal(err)
			}
			id := strconv.Itoa(int(user))
			cmd := exec.Command("unshare", "--mount", "sh", "-ec", script+"\n"+`exec setpriv --reuid "$0" --regid "$0" --clear-groups "$@"`, id,
				program, "-test.run=^"+strings.Split(t.Name(), "/")[0]+"$", "-test.v")
			cmd.Env, cmd.Dir = append(os.Environ(), "TMPDIR="+temp, "PAWL_TEST_BASE="+temp, again+"=1"), "/"
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	return true
}
