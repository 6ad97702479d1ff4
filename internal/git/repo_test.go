package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// TestFind: a git program in the workspace is not used, however it got into the PATH.
func TestFind(t *testing.T) {
	w := newEnv(t)
	w.file("bin/git", "#!/bin/sh\ntouch "+w.seen+"/git\necho git version 9.9.9\n")
	outside := filepath.Join(filepath.Dir(w.dir), "link")
	if err := os.Symlink(filepath.Join(w.dir, "bin"), outside); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(filepath.Dir(w.dir), "open")
	w.write(filepath.Join(open, "git"), "#!/bin/sh\ntouch "+w.seen+"/git\necho git version 9.9.9\n")
	if err := os.Chmod(open, 0o777); err != nil { //nolint:gosec // that is the point
		t.Fatal(err)
	}
	file := filepath.Join(filepath.Dir(w.dir), "file")
	if err := errors.Join(os.Mkdir(file, 0o700), os.Symlink(filepath.Join(w.dir, "bin/git"), filepath.Join(file, "git"))); err != nil {
		t.Fatal(err)
	}
	real := os.Getenv("PATH")
	t.Chdir(w.dir)
	for _, entry := range []string{filepath.Join(w.dir, "bin"), "bin", "./bin", "", outside, file, open} {
		t.Setenv("PATH", entry+":"+real)
		g, err := Find(t.Context(), w.dir)
		if err != nil || g.Version() == "9.9.9" || w.tripped() != "" {
			t.Errorf("%q: %+v, %v", entry, g, err)
		}
		t.Setenv("PATH", entry)
		if g, err := Find(t.Context(), w.dir); !errors.Is(err, pawl.ErrNotFound) {
			t.Errorf("%q alone: %+v, %v", entry, g, err)
		}
	}
	old := filepath.Join(filepath.Dir(w.dir), "old")
	w.write(filepath.Join(old, "git"), "#!/bin/sh\necho git version 2.31.9\n")
	t.Setenv("PATH", old)
	if _, err := Find(t.Context(), w.dir); !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), "2.32 or later is required") {
		t.Errorf("an old git: %v", err)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r, err := w.open(filepath.Join(w.dir, "sub"))
	if err != nil {
		t.Fatal(err)
	}
	want := Repo{Top: w.dir, Dir: w.dir + "/.git", Common: w.dir + "/.git"}
	if got := (Repo{Top: r.Top, Dir: r.Dir, Common: r.Common, Linked: r.Linked}); got != want {
		t.Errorf("%+v", got)
	}
	tree := filepath.Join(filepath.Dir(w.dir), "tree")
	w.must("worktree", "add", "-q", "-b", "side", tree)
	if r, err = w.open(tree); err != nil {
		t.Fatal(err)
	}
	want = Repo{Top: tree, Dir: w.dir + "/.git/worktrees/tree", Common: w.dir + "/.git", Linked: true}
	if got := (Repo{Top: r.Top, Dir: r.Dir, Common: r.Common, Linked: r.Linked}); got != want {
		t.Errorf("%+v", got)
	}
	if branch, err := r.Branch(t.Context()); branch != "side" || err != nil {
		t.Errorf("%q, %v", branch, err)
	}
	other := newEnv(t)
	w.must("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.dir, "mod")
	if r, err = w.open(filepath.Join(w.dir, "mod")); err != nil {
		t.Fatal(err)
	}
	if head, err := r.Head(t.Context()); head != other.must("rev-parse", "HEAD") || err != nil || r.Linked {
		t.Errorf("%q, %v, %+v", head, err, r)
	}
	if _, err := w.open(filepath.Dir(w.dir)); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("no repository: %v", err)
	}
}

// TestForged: a .git file that points to another repository is refused unless that one
// points back. Row A8.
func TestForged(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(w *env, dir string){
		"a repository": func(w *env, dir string) { w.write(dir+"/.git", "gitdir: "+w.dir+"/.git\n") },
		"another's worktree": func(w *env, dir string) {
			w.write(dir+"/.git", "gitdir: "+w.dir+"/.git/worktrees/tree\n")
		},
		"worktrees themselves": func(w *env, dir string) { w.write(dir+"/.git", "gitdir: "+w.dir+"/.git/worktrees\n") },
		"nothing":              func(w *env, dir string) { w.write(dir+"/.git", "gitdir: "+w.dir+"/none\n") },
		"no words":             func(w *env, dir string) { w.write(dir+"/.git", "x\n") },
		"a folder of its own that claims to be of the repository": func(w *env, dir string) {
			own := dir + "/own"
			w.write(own+"/commondir", w.dir+"/.git\n")
			w.write(own+"/gitdir", dir+"/.git\n")
			w.write(own+"/HEAD", "ref: refs/heads/main\n")
			w.write(dir+"/.git", "gitdir: "+own+"\n")
		},
		"a folder that claims to be of the repository": func(w *env, dir string) {
			w.write(dir+"/.git/commondir", w.dir+"/.git\n")
			w.write(dir+"/.git/HEAD", "ref: refs/heads/main\n")
			w.write(dir+"/.git/objects/x", "")
			w.write(dir+"/.git/refs/x", "")
		},
		"a link": func(w *env, dir string) {
			if err := errors.Join(os.Mkdir(dir, 0o700), os.Symlink(w.dir+"/.git", dir+"/.git")); err != nil {
				w.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.must("worktree", "add", "-q", filepath.Join(filepath.Dir(w.dir), "tree"))
			dir := filepath.Join(filepath.Dir(w.dir), "forged")
			forge(w, dir)
			if r, err := w.open(dir); !errors.Is(err, pawl.ErrDenied) {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// TestForgedIsReal: plain git accepts such a file.
func TestForgedIsReal(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.must("worktree", "add", "-q", filepath.Join(filepath.Dir(w.dir), "tree"))
	dir := filepath.Join(filepath.Dir(w.dir), "forged")
	w.write(dir+"/.git", "gitdir: "+w.dir+"/.git/worktrees/tree\n")
	if got := w.must("-C", dir, "rev-parse", "--git-common-dir"); got != w.dir+"/.git" {
		t.Error(got)
	}
}

// TestOtherOwner: a repository of another user is refused.
func TestOtherOwner(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	if os.Geteuid() == 0 {
		if err := os.Lchown(filepath.Join(w.dir, ".git"), 12345, 12345); err != nil {
			t.Fatal(err)
		}
		if _, err := w.open(w.dir); !errors.Is(err, pawl.ErrDenied) {
			t.Error(err)
		}
		return
	}
	if err := owned("/"); !errors.Is(err, pawl.ErrDenied) {
		t.Error(err)
	}
}

// TestBare: a directory with the layout of a bare repository is not used as one.
func TestBare(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	lay := w.dir + "/sub/"
	w.write(lay+"HEAD", "ref: refs/heads/main\n")
	w.write(lay+"config", "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = ..\nfsmonitor = "+w.evil+"\n")
	w.write(lay+"objects/x", "")
	w.write(lay+"refs/x", "")
	r, err := w.open(lay)
	if err != nil || r.Dir != w.dir+"/.git" {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := r.Status(t.Context()); err != nil || w.tripped() != "" {
		t.Error(w.tripped(), err)
	}
	if out, _ := w.plain("-C", lay, "status"); w.tripped() == "" {
		t.Errorf("plain git does not fall for it: %s", out)
	}
}

// TestWorktreeElsewhere: core.worktree in the configuration is ignored.
func TestWorktreeElsewhere(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	victim := filepath.Join(filepath.Dir(w.dir), "victim")
	w.write(victim+"/secret", "x")
	w.must("config", "core.worktree", victim)
	s, err := w.repo().Status(t.Context())
	if diff := cmp.Diff([]File{{State: ".M", Path: "f"}}, s.Files); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := w.repo().Run(t.Context(), Call{Args: []string{"add"}, Paths: []string{"secret"}}); err == nil {
		t.Error("added a file from elsewhere")
	}
	if out := w.must("status", "--short"); !strings.Contains(out, "?? secret") {
		t.Errorf("plain git does not fall for it: %s", out)
	}
}

// TestRead: results with file names that are difficult for a shell or a parser. Row D6.
func TestRead(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t), context.Background()
	odd := []string{";touch x", "$(touch x)", "new\nline", "-n", "--output=x", ":(top)f", "a b\tc", "? f"}
	for _, name := range odd {
		w.file(name, "odd\n")
	}
	w.must("mv", "sub/g", "sub/moved")
	r := w.repo()
	head := w.must("rev-parse", "HEAD")
	if got, err := r.Head(ctx); got != head || err != nil {
		t.Errorf("head %q, %v", got, err)
	}
	s, err := r.Status(ctx)
	want := []File{{State: "R.", Path: "sub/moved", From: "sub/g"}, {State: ".M", Path: "f"}}
	for _, name := range odd {
		want = append(want, File{State: "??", Path: name})
	}
	byPath := func(a, b File) int { return strings.Compare(a.Path, b.Path) }
	slices.SortFunc(want, byPath)
	slices.SortFunc(s.Files, byPath)
	if diff := cmp.Diff(Status{Head: head, Branch: "main", Files: want}, s); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, name := range odd {
		if _, err := r.Run(ctx, Call{Args: []string{"add"}, Paths: []string{name}}); err != nil {
			t.Error(err)
		}
		if out, err := r.Diff(ctx, "HEAD", name); !strings.Contains(string(out), "+odd") || err != nil {
			t.Errorf("%q: %s, %v", name, out, err)
		}
	}
	if _, err := r.Run(ctx, Call{Args: []string{"commit", "-q", "-m", "odd"}}); err != nil {
		t.Error(err)
	}
	for _, name := range odd {
		if out, err := r.Show(ctx, "main", name); string(out) != "odd\n" || err != nil {
			t.Errorf("%q: %s, %v", name, out, err)
		}
	}
	if exists(filepath.Join(w.dir, "x")) {
		t.Error("a name was taken for a command or an option")
	}
	if out, err := r.Diff(ctx, ""); err != nil || !strings.Contains(string(out), "+two, and longer") || strings.Contains(string(out), "odd") {
		t.Errorf("%s, %v", out, err)
	}
	w.must("checkout", "-q", "--detach")
	if branch, err := r.Branch(ctx); branch != "" || err != nil {
		t.Errorf("%q, %v", branch, err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestCommit(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t), context.Background()
	w.must("commit", "-qam", "second")
	first, r := w.must("rev-parse", "HEAD~1"), w.repo()
	for _, ref := range []string{"HEAD~1", "HEAD~", "main^", "main^1", "HEAD^0~1", first, first + "~0"} {
		if got, err := r.Commit(ctx, ref); got != first || err != nil {
			t.Errorf("%s: %q, %v", ref, got, err)
		}
	}
	if got, err := r.Commit(ctx, "HEAD~2"); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("%q, %v", got, err)
	}
	for _, ref := range []string{"HEAD^{tree}", "--all~1", "HEAD~1..HEAD", "HEAD@{1}~1", ":/second^", "~1", "HEAD^!", "HEAD^-", "HEAD~9999999"} {
		if got, err := r.Commit(ctx, ref); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%s: %q, %v", ref, got, err)
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	w, ctx := newEnv(t), context.Background()
	if err := os.Symlink("/etc/passwd", filepath.Join(w.dir, "link")); err != nil {
		t.Fatal(err)
	}
	w.file("huge", strings.Repeat("x", MaxShow+1))
	w.file(".gitattributes", "* text eol=crlf ident\n")
	w.must("add", ".")
	w.must("commit", "-qm", "more")
	first := w.must("rev-parse", "main~1")
	r := w.repo()
	for _, tt := range []struct {
		ref, name, want string
		err             error
	}{
		{ref: "main", name: "f", want: "two, and longer\n"},
		{ref: first, name: "f", want: "one\n"},
		{ref: "refs/heads/main", name: "sub/g", want: "g\n"},
		{ref: "main", name: "link", err: pawl.ErrInvalid},
		{ref: "main", name: "sub", err: pawl.ErrInvalid},
		{ref: "main", name: "huge", err: pawl.ErrInvalid},
		{ref: "main", name: "none", err: pawl.ErrNotFound},
		{ref: "none", name: "f", err: pawl.ErrNotFound},
		{ref: "main", name: "./f", err: pawl.ErrInvalid},
		{ref: "main", name: "../ws/f", err: pawl.ErrInvalid},
		{ref: "main", name: "/f", err: pawl.ErrInvalid},
		{ref: "main", name: "f\x00", err: pawl.ErrInvalid},
		{ref: "main:f", name: "f", err: pawl.ErrInvalid},
		{ref: "--textconv", name: "f", err: pawl.ErrInvalid},
	} {
		got, err := r.Show(ctx, tt.ref, tt.name)
		if string(got) != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s %q: %.50q, %v", tt.ref, tt.name, got, err)
		}
	}
	// Replacement objects (git replace) have no effect.
	w.must("replace", "main", first)
	if got, err := r.Show(ctx, "main", "f"); string(got) != "two, and longer\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got := w.must("show", "main:f"); got != "one" {
		t.Errorf("plain git does not fall for it: %q", got)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	r := w.repo()
	if _, err := r.Run(t.Context(), Call{Args: []string{"log"}, Limit: 10}); !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), "more than 10 bytes") {
		t.Errorf("too much output: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Run(ctx, Call{Args: []string{"log"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	var text strings.Builder
	for range maxKeys + 1 {
		text.WriteString("[a]\nb = c\n")
	}
	w.file("more", text.String())
	w.must("config", "include.path", "../more")
	if _, err := r.Status(t.Context()); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("too many keys: %v", err)
	}
}
