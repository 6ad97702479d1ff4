package snapshot

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/git"
)

// counted returns an env that counts the runs of git.
func counted(t *testing.T) (w *env, runs func() int) {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	script := fmt.Sprintf("#!/bin/sh\necho \"$1\" >>%s\nexec %s \"$@\"\n", log, real)
	if err := errors.Join(os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o700), os.Chmod(bin, 0o755)); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", bin+":"+path)
	g, err := git.Find(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path)
	return newEnvWith(t, Config{Git: g}), func() int {
		text, _ := os.ReadFile(log)
		_ = os.Remove(log)
		return strings.Count(string(text), "\n")
	}
}

// TestUnchanged: an unchanged directory has the same snapshot, without running git,
// also for another session and for a file that was only touched.
func TestUnchanged(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w, runs := counted(t)
	w.sh(`mkdir a b empty; echo 1 >a/x; echo 2 >b/y; ln -s a/x link; echo '*.log' >.gitignore; echo z >z.log`)
	first := w.take()
	if runs() == 0 {
		t.Error("the first snapshot took no git: it is not counted")
	}
	for range 3 {
		if got := w.take(); got != first {
			t.Errorf("got %s, want %s", got, first)
		}
	}
	w.sh("touch a/x; rmdir empty")
	if got, err := w.store.Take(t.Context(), w.dir, bob); got != first || err != nil {
		t.Errorf("got %s, %v, want %s", got, err, first)
	}
	if n := runs(); n != 0 {
		t.Errorf("git was run %d times", n)
	}
	w.sh("echo 2 >a/x")
	if w.take() == first || runs() != 1 {
		t.Error("a change is one snapshot more, by one git")
	}
}

// TestSameLook: a change that keeps size and modification time is detected by the
// ctime, which programs cannot set.
func TestSameLook(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	then := time.Now().Add(-time.Hour)
	for i := range 20 {
		w.write("f", fmt.Sprintf("%03d", i))
		if err := os.Chtimes(w.path("f"), then, then); err != nil {
			t.Fatal(err)
		}
		before := w.take()
		w.write("f", fmt.Sprintf("%03d", i+500))
		if err := os.Chtimes(w.path("f"), then, then); err != nil {
			t.Fatal(err)
		}
		if w.take() == before {
			t.Fatalf("round %d: the change was not seen", i)
		}
	}
}

// TestRacy: if the ctime is the same too, a file that was new when it was read is read
// again. A file without the racy mark is not, which shows that the mark causes it.
func TestRacy(t *testing.T) {
	t.Parallel()
	for _, young := range []bool{true, false} {
		w := newEnv(t)
		w.write("f", "1")
		before := w.take()
		w.write("f", "2")
		var st unix.Stat_t
		if err := unix.Lstat(w.path("f"), &st); err != nil {
			t.Fatal(err)
		}
		// As if the second write had come right after the file was read.
		f, err := w.store.lock(t.Context(), w.dir, exists)
		if err != nil {
			t.Fatal(err)
		}
		table := f.readTable()
		later := f.newWalker()
		if later.start = time.Unix(0, st.Ctim.Nano()); !later.lookOf(&st).racy {
			t.Error("a file that was just written counts as old")
		}
		later.start = later.start.Add(time.Hour)
		look := later.lookOf(&st)
		if look.racy {
			t.Error("an old file counts as young")
		}
		look.racy = young
		table.trees[""].entries[0].look = look
		if err := f.replace(f.path(tableName), table.encode()); err != nil {
			t.Fatal(err)
		}
		later.old = f.readTable()
		if err := later.walk(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.unlock()
		if seen := later.next.id != before; seen != young {
			t.Errorf("young %t, seen %t", young, seen)
		}
		later.pack.close()
	}
}

// TestLeftOut: files that are left out never count as changes, and an undo does not
// touch them.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	w := newEnvWith(t, Config{MaxFile: 100})
	w.sh(`git init -q .; echo hidden >.git/info/exclude
		printf '%s\n' build/ '*.o' '!keep.o' >.gitignore; mkdir build; echo 1 >build/out; echo 1 >a.o; echo 1 >keep.o; echo 1 >hidden
		head -c 101 /dev/zero >large; head -c 100 /dev/zero >fits; mkfifo pipe
		mkdir nested; (cd nested; git init -q .; echo n >n); mkdir -p sub/module; echo 'gitdir: ../../.git/modules/x' >sub/module/.git; echo m >sub/module/m`)
	s := w.span(`echo 2 >build/out; echo 2 >b.o; echo 2 >hidden; echo 2 >nested/n; echo 2 >sub/module/m; echo more >>large
		rm pipe; mkfifo pipe2; echo 2 >keep.o; echo new >fits`)
	changes, err := w.store.Changes(t.Context(), w.dir, s.Before, s.After)
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{
		{Path: "fits", Kind: Modified, OldMode: modeFile, NewMode: modeFile, Binary: true},
		{Path: "keep.o", Kind: Modified, OldMode: modeFile, NewMode: modeFile, Added: 1, Deleted: 1},
	}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Report{Changed: []string{"fits", "keep.o"}}, w.undo(Refuse, s)); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{"build/out": "2\n", "b.o": "2\n", "hidden": "2\n", "nested/n": "2\n", "sub/module/m": "2\n", "keep.o": "1\n"} {
		if got := w.read(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
}

// TestCrossing: a file that only one of two snapshots covers counts as neither deleted
// nor added. Undo and redo do not touch it.
func TestCrossing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ lay, do, path, why string }{
		"too large":       {"echo 1 >f", "head -c 200 /dev/zero >f", "f", outLarge},
		"small again":     {"head -c 200 /dev/zero >f", "echo 1 >f", "f", outLarge},
		"ignored":         {"echo 1 >f", "echo f >.gitignore", "f", outIgnored},
		"not ignored":     {"echo 1 >f; echo f >.gitignore", "rm .gitignore", "f", outIgnored},
		"ignored folder":  {"mkdir d; echo 1 >d/f", "echo d/ >.gitignore", "d/f", outIgnored},
		"a repository":    {"mkdir d; echo 1 >d/f", "git init -q d", "d/f", outNested},
		"no repository":   {"mkdir d; echo 1 >d/f; git init -q d", "rm -r d/.git", "d/f", outNested},
		"a pipe":          {"echo 1 >f", "rm f; mkfifo f", "f", outSpecial},
		"ignored, edited": {"echo 1 >f", "echo f >.gitignore; echo 2 >f", "f", outIgnored},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnvWith(t, Config{MaxFile: 100})
			w.sh(tt.lay)
			s := w.span(tt.do)
			info, err := os.Lstat(w.path(tt.path))
			if err != nil {
				t.Fatal(err)
			}
			changes, err := w.store.Changes(t.Context(), w.dir, s.Before, s.After)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, c := range changes {
				found = found || c.Path == tt.path && c.Kind == Uncovered && c.LeftOut == tt.why
			}
			if !found {
				t.Errorf("changes: %+v", changes)
			}
			for _, redo := range []bool{false, true} {
				p := w.plan(redo, s)
				for _, r := range p.Files {
					if r.Path == tt.path && (r.LeftOut != tt.why || r.Conflict != "") {
						t.Errorf("redo %t: %+v", redo, r)
					}
				}
				r := w.apply(p, KeepAside)
				if diff := cmp.Diff([]string{tt.path}, r.Left); diff != "" || len(r.Aside) > 0 {
					t.Errorf("redo %t: %+v", redo, r)
				}
				if now, err := os.Lstat(w.path(tt.path)); err != nil || !os.SameFile(info, now) || now.Size() != info.Size() {
					t.Errorf("redo %t: the file was touched: %v, %v", redo, now, err)
				}
			}
		})
	}
}

// TestTooLarge: Take fails for a directory beyond the limits, and says what to do.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Config{"files": {MaxFiles: 5}, "bytes": {MaxBytes: 5}} {
		w := newEnvWith(t, c)
		w.sh("for i in 1 2 3 4 5 6; do echo $i >$i; done")
		if _, err := w.store.Take(t.Context(), w.dir, alice); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "let git ignore") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOwnFolder: pawl's own directories are left out, also inside of the directory.
func TestOwnFolder(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	other := w.path("elsewhere")
	c := w.store.Config
	c.Dir, c.Except = w.path("data/snapshots"), []string{other}
	var err error
	if w.store, err = Open(c); err != nil {
		t.Fatal(err)
	}
	w.sh("mkdir elsewhere; echo f >f")
	first := w.take()
	w.sh("echo 1 >elsewhere/log")
	if got := w.take(); got != first {
		t.Errorf("%s, %s", first, got)
	}
}

// TestHostileRepository: no hook, filter or other setting of the directory's repository
// has an effect: the snapshot has the bytes of the files.
func TestHostileRepository(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	canary := filepath.Join(t.TempDir(), "canary")
	w.sh(`git init -q .; printf '* filter=evil diff=evil eol=crlf ident working-tree-encoding=UTF-16\n' >.gitattributes
		printf 'one\ntwo\n$Id$\n' >f; mkdir evil; printf '#!/bin/sh\ntouch ` + canary + `\ncat\n' >evil/run; chmod 755 evil/run
		for k in filter.evil.clean filter.evil.smudge filter.evil.process diff.evil.command diff.evil.textconv diff.external core.fsmonitor core.pager uploadpack.packObjectsHook; do git config $k "$PWD/evil/run"; done
		git config filter.evil.required true; git config core.hooksPath "$PWD/evil"
		for h in post-index-change reference-transaction pre-auto-gc post-checkout; do cp evil/run .git/hooks/$h; cp evil/run evil/$h; done`)
	before := w.show()
	s := w.span(`printf 'two\n' >f; rm .gitattributes`)
	if text, _, err := w.store.Patch(t.Context(), w.dir, s.Before, "", 0); err != nil || !strings.Contains(text, "-one\n") {
		t.Errorf("%s, %v", text, err)
	}
	w.undo(Refuse, s)
	if diff := cmp.Diff(before, w.show()); diff != "" {
		t.Error(diff)
	}
	if _, err := w.store.GC(t.Context(), GC{}); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(canary); err == nil {
		t.Error("something of the repository was run")
	}
	w.sh("git add f || true; git status || true") // as a user would
	if _, err := os.Lstat(canary); err != nil {
		t.Error("the repository is not hostile: this test shows nothing")
	}
}

// TestWithoutRepository: an undo works after a command has removed .git.
func TestWithoutRepository(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.sh("git init -q .; echo 1 >f; git add f; git commit -qm first; rm f; echo 2 >g")
	before := w.show()
	s := w.span("rm -rf .git g; echo 3 >f")
	w.undo(Refuse, s)
	if diff := cmp.Diff(before, w.show()); diff != "" {
		t.Error(diff)
	}
}
