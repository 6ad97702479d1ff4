package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// linked creates a repository, and makes dir a linked worktree of it. It returns the git
// directory of the repository.
func linked(t *testing.T, dir string) string {
	t.Helper()
	main := filepath.Join(filepath.Dir(dir), "main")
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", main}, {"-C", main, "config", "user.name", "a"}, {"-C", main, "config", "user.email", "a@example.com"},
		{"-C", main, "commit", "-q", "--allow-empty", "-m", "one"}, {"-C", main, "worktree", "add", "-q", "-f", dir, "-b", "side"},
	} {
		gitOutside(t, args...)
	}
	return filepath.Join(main, ".git")
}

func gitOutside(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// apply runs a command and applies its changes.
func apply(t *testing.T, s *Safety, dir, script string) (sandbox.Outcome, string) {
	t.Helper()
	w, err := s.Wrap(t.Context(), sandbox.Request{Session: sessionOne, Workspace: dir, Dir: dir, Mode: "auto", Sandboxed: true, Args: []string{"bash", "-c", script}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var out strings.Builder
	if _, err := proc.Run(t.Context(), proc.Command{Args: w.Args, Env: w.Env, Bare: true, Files: w.Files, Attr: w.Attr, Dir: dir, Output: &out}); err != nil {
		t.Fatal(err)
	}
	if w.Finish == nil || len(w.Repository) > 0 {
		t.Fatalf("not on views: %v", w.Repository)
	}
	done, err := w.Finish(t.Context(), nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	return done, out.String()
}

// TestLinkedWorktree: commands in a linked worktree commit, and cannot write to the
// repository directly, nor change what belongs to another worktree.
func TestLinkedWorktree(t *testing.T) { //nolint:paralleltest // it sets environment variables
	if asUser(t) {
		return
	}
	s, dir, _ := open(t)
	common := linked(t, dir)
	done, out := apply(t, s, dir, `echo x > x && git add x && git commit -qm two && git log --format=%s && git branch other && git gc -q`)
	if len(done.Refused) > 0 || out != "two\none\n" {
		t.Errorf("refused %v, output %q", done.Refused, out)
	}
	if log := gitOutside(t, "-C", dir, "log", "--format=%s", "other"); log != "two\none" {
		t.Errorf("the branch has %q", log)
	}
	gitOutside(t, "-C", dir, "fsck", "--strict")
	if status := gitOutside(t, "-C", dir, "status", "--porcelain"); status != "" {
		t.Errorf("status: %s", status)
	}
	for _, attack := range []string{
		`echo evil > GIT/hooks/pre-commit`, `git config core.fsmonitor evil`, `echo ../evil > GIT/worktrees/ws/commondir`, `echo GIT > GIT/commondir`,
		`echo 'ref: refs/heads/other' > GIT/HEAD`, `cp GIT/worktrees/ws/index GIT/index`, `mkdir GIT/worktrees/new && echo ref: refs/heads/main > GIT/worktrees/new/HEAD`,
		`rm -rf GIT/objects`, `ln -s /etc GIT/refs/heads/link`, `echo '* filter=evil' > GIT/info/attributes`, `rm -rf GIT/worktrees`,
	} {
		before := contents(t, common)
		done, out := apply(t, s, dir, `echo y >> y; git add y; `+strings.ReplaceAll(attack, "GIT", common))
		if len(done.Refused) == 0 {
			t.Errorf("%s: nothing was refused: %s", attack, out)
		}
		if after := contents(t, common); after != before {
			t.Errorf("%s: the repository was changed", attack)
		}
		gitOutside(t, "-C", dir, "fsck", "--strict")
	}
}

// contents returns the paths and contents of the files of a git directory. Objects, which
// nothing refers to, do not count.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "/objects/") {
			return err
		}
		text := []byte("(a link)")
		if d.Type().IsRegular() {
			text, err = os.ReadFile(path)
		}
		all.WriteString(path + "\n" + string(text) + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
