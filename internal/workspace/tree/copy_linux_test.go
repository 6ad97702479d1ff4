package tree_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// A directory that exceeds a limit is not copied, and the error says which.
func TestCopyLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		limits tree.Limits
		want   string
	}{
		"entries": {"touch a b c", tree.Limits{Entries: 2}, "2 entries"},
		"default": {"mkdir many; cd many; seq 50001 | xargs touch", tree.Limits{}, "50000 entries"},
		"bytes":   {"head -c 600 /dev/zero >a; cp a b", tree.Limits{Bytes: 1000}, "1000 bytes"},
		"sparse":  {"truncate -s 513M a", tree.Limits{}, "536870912 bytes"},
		"depth":   {"mkdir -p 1/2/3/4/5", tree.Limits{Depth: 4}, "4 levels"},
		"path":    {"touch 1234567890", tree.Limits{Path: 9}, "9 bytes in a path"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			shell(t, s.root, c.script)
			_, err := tree.NewCopy(t.Context(), tree.View{Lower: s.root, Limits: c.limits}, tempDir(t, s.scratch))
			var limit *tree.LimitError
			if !errors.As(err, &limit) || !strings.Contains(err.Error(), "too large to copy it for each command: more than "+c.want) {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

// A command that makes its copy too large or too deep has no effect.
func TestCollectLimits(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		`python3 -c 'import os` + "\n" + `for i in range(600): os.mkdir("n"); os.chdir("n")'`:        "512 levels",
		`python3 -c 'import os` + "\n" + `for i in range(30): os.mkdir("n"*200); os.chdir("n"*200)'`: "4000 bytes in a path",
	} {
		s := newSandbox(t)
		to := tempDir(t, s.scratch)
		c, err := tree.NewCopy(t.Context(), tree.View{Lower: s.root}, to)
		must(t, err)
		shell(t, to, script)
		var limit *tree.LimitError
		if err := c.Collect(t.Context(), tempDir(t, s.scratch)); !errors.As(err, &limit) || !strings.Contains(err.Error(), "changed too much: more than "+want) {
			t.Errorf("it ends with %v", err)
		}
	}
}

// What a command leaves in its copy deletes nothing that it did not delete, and leads nowhere.
func TestHostileCopy(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	outside := tempDir(t, "")
	shell(t, outside, "echo secret >file; mkdir dir; echo x >dir/f")
	shell(t, s.root, project)
	to, upper := tempDir(t, s.scratch), tempDir(t, s.scratch)
	view := tree.View{Lower: s.root, Upper: upper}
	c, err := tree.NewCopy(t.Context(), view, to)
	must(t, err)
	for _, name := range []string{"d", "deep"} {
		must(t, unix.Setxattr(filepath.Join(to, name), "user.overlay.opaque", []byte("y"), 0))
	}
	must(t, os.WriteFile(filepath.Join(to, "empty/n"), nil, 0o400))
	must(t, unix.Mknod(filepath.Join(to, "run.new"), unix.S_IFCHR, 0))
	shell(t, to, "rm run; mv run.new run; rm -r deep/a; ln -s "+outside+"/dir deep/a; rm db; ln -s "+outside+"/file db; rm -r .git; ln -s "+outside+" .git")
	must(t, c.Collect(t.Context(), upper))
	changes, _, err := tree.Scan(t.Context(), c.Complete(view))
	must(t, err)
	want := []string{"*.git", "-.git/HEAD", "-.git/index", "-.git/objects", "-.git/objects/aa", "-.git/objects/aa/1", "-.git/refs", "-.git/refs/heads", "-.git/refs/heads/main",
		"*db", "*deep/a", "-deep/a/b", "-deep/a/b/c", "-deep/a/b/c/z", "+empty/n", "-run"}
	if diff := cmp.Diff(want, describe(changes)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, change := range changes {
		if change.Path == "db" && change.New.Type != tree.Link {
			t.Errorf("the link was followed: %+v", change)
		}
	}
	if got := strings.Join(listing(t, outside), ""); !strings.Contains(got, "secret") || !strings.Contains(got, "dir/f") {
		t.Errorf("outside there is %s", got)
	}
}

// Copying changes nothing in the directory, whatever its modes are.
func TestCopyLeavesSource(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	shell(t, s.root, project+"mkdir no; echo x >no/x; chmod 0 no f; mkfifo fifo")
	before := changeTimes(t, s.root)
	_, err := tree.NewCopy(t.Context(), tree.View{Lower: s.root}, tempDir(t, s.scratch))
	must(t, err)
	if diff := cmp.Diff(before, changeTimes(t, s.root)); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
}

// changeTimes returns the change times of the entries in a directory.
func changeTimes(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	list := map[string]int64{}
	must(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
		var st unix.Stat_t
		must(t, unix.Lstat(path, &st))
		list[path] = st.Ctim.Nano()
		return nil
	}))
	return list
}
