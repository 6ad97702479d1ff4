package policy

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// runOn runs a script on a view and returns its output and what was denied. Before its changes are applied, it calls
// during unless that is nil.
func runOn(t *testing.T, s *Safety, dir, script string, during func()) (output string, denied []string) {
	t.Helper()
	w, err := s.Wrap(t.Context(), sandbox.Request{
		Session: session, Workspace: dir, Mode: "auto", Sandboxed: true, Dir: dir, Args: []string{"bash", "-c", script},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if w.Finish == nil {
		t.Fatal("the command has no view")
	}
	out := &strings.Builder{}
	process, err := proc.Start(proc.Command{Args: w.Args, Env: w.Env, Bare: true, Files: w.Files, Attr: w.Attr, Dir: dir, Output: out})
	if err != nil {
		t.Fatal(err)
	}
	<-process.Done()
	if during != nil {
		during()
	}
	done, err := w.Finish(t.Context(), nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, r := range done.Refused {
		denied = append(denied, r.Path)
	}
	slices.Sort(denied)
	return out.String(), denied
}

// files returns the files and links of a directory with their contents, and its empty directories.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	list := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if entries, err := os.ReadDir(path); err != nil || len(entries) == 0 {
				list[name] = "directory"
			}
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			list[name] = "-> " + to
			return err
		default:
			text, err := os.ReadFile(path)
			list[name] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

type viewCase struct {
	script string
	during func(t *testing.T, dir string)
	want   map[string]string // changes of start; "" is deleted
	denied []string
	output string
}

// start is what the project contains before a command.
var start = map[string]string{
	"a": "1", "d/b": "2", "d/e/c": "3", ".env": "KEY=secret", "d/.env": "KEY=other", "f/g": "4", "link": "5",
}

var viewCases = map[string]viewCase{
	"changes": {script: "printf 1+ > a; printf new > n; mkdir -p x/y z; printf deep > x/y/z; ln -s d/b l",
		want: map[string]string{"a": "1+", "n": "new", "x/y/z": "deep", "z": "directory", "l": "-> d/b"}},
	"same size and time": {script: "touch -r a /tmp/t; printf 9 > a; touch -r /tmp/t a", want: map[string]string{"a": "9"}},
	"deletions":          {script: "rm a; rm -r f; rm -rf d", want: map[string]string{"a": "", "f/g": "", "d/b": "", "d/e/c": ""}},
	"directory replaced": {script: "rm -r f; mkdir f; printf h > f/h", want: map[string]string{"f/g": "", "f/h": "h"}},
	"directory to file":  {script: "rm -r f; printf file > f", want: map[string]string{"f/g": "", "f": "file"}},
	"file to directory":  {script: "rm a; mkdir a; printf in > a/b", want: map[string]string{"a": "", "a/b": "in"}},
	"directory renamed":  {script: "mv f moved && mv d/e e", want: map[string]string{"f/g": "", "moved/g": "4", "d/e/c": "", "e/c": "3"}},
	"directories swapped": {script: "mv f t; mkdir f; mv t/g f/k; rmdir t; mv d/e/c d/e/k", want: map[string]string{
		"f/g": "", "f/k": "4", "d/e/c": "", "d/e/k": "3"}},
	"secrets": {script: "cat .env d/.env; ls -A | grep env; printf mine > d/.env.local; exit 0",
		want: map[string]string{"d/.env.local": "mine"}, output: "cat: .env: No such file or directory\ncat: d/.env: No such file or directory\n"},
	"protected names": {script: "mkdir .vscode d/.git; printf '{}' > .vscode/tasks.json; printf x > d/.git/config; printf ok > ok",
		want: map[string]string{"ok": "ok"}, denied: []string{".vscode/tasks.json", "d/.git/config"}},
	"special files": {script: "mkfifo p; chmod 4755 a", denied: []string{"a", "p"}},
	"conflict": {script: "printf command > a; printf command > d/b",
		during: func(t *testing.T, dir string) { put(t, dir, "a", "user") },
		want:   map[string]string{"a": "user", "d/b": "command"}, denied: []string{"a"}},
	"deleted by the user": {script: "printf command > a; printf command > f/g; printf command > f/new",
		during: func(t *testing.T, dir string) {
			if err := os.RemoveAll(filepath.Join(dir, "f")); err != nil {
				t.Fatal(err)
			}
		},
		want: map[string]string{"a": "command", "f/g": ""}, denied: []string{"f/g", "f/new"}},
	"created by the user": {script: "rm -r f; printf command > n",
		during: func(t *testing.T, dir string) { put(t, dir, "n", "user"); put(t, dir, "f/h", "user") },
		want:   map[string]string{"n": "user", "f/h": "user"}, denied: []string{"f", "f/g", "f/h", "n"}},
	"links are not followed": {script: "rm -r f; ln -s d f; printf x > f/b; rm a; ln -s /etc/passwd a",
		want: map[string]string{"f/g": "", "f": "-> d", "d/b": "x", "a": "-> /etc/passwd"}},
	"unreadable": {script: "mkdir m; printf x > m/x; chmod 0 m/x; chmod 0500 m; chmod 0 d/b; printf y > a", want: map[string]string{"a": "y"}},
}

// TestViews: commands have the same effects on an overlay and on a copy.
func TestViews(t *testing.T) { //nolint:paralleltest // it sets environment variables
	if asUser(t) {
		return
	}
	for _, kind := range []string{ViewOverlay, ViewCopy} {
		for name, tt := range viewCases {
			t.Run(kind+"/"+name, func(t *testing.T) {
				s, dir, _ := open(t)
				s.views.first = kind
				checkView(t, s, dir, kind, tt)
			})
		}
	}
}

func checkView(t *testing.T, s *Safety, dir, kind string, tt viewCase) {
	t.Helper()
	want := map[string]string{}
	for name, text := range start {
		put(t, dir, name, text)
		want[name] = text
	}
	if v, err := s.View(t.Context(), dir); err != nil || v.Name != kind {
		t.Fatal(v, err)
	}
	var during func()
	if tt.during != nil {
		during = func() { tt.during(t, dir) }
	}
	output, denied := runOn(t, s, dir, tt.script, during)
	if diff := cmp.Diff(tt.denied, denied); diff != "" {
		t.Errorf("denied: %s", diff)
	}
	if output != tt.output {
		t.Errorf("it printed %q", output)
	}
	if tt.script == viewCases["unreadable"].script {
		checkModes(t, dir, map[string]fs.FileMode{"m": 0o500, "m/x": 0, "d/b": 0, "a": 0o600})
		return
	}
	for name, text := range tt.want {
		if want[name] = text; text == "" {
			delete(want, name)
		}
	}
	if diff := cmp.Diff(want, files(t, dir)); diff != "" {
		t.Error(diff)
	}
	if entries, err := filepath.Glob(filepath.Join(os.Getenv("PAWL_DATA"), "transactions", "*", "merged")); err != nil || len(entries) > 0 {
		t.Errorf("left %v, %v", entries, err)
	}
}

func checkModes(t *testing.T, dir string, want map[string]fs.FileMode) {
	t.Helper()
	for name, mode := range want {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	_ = os.Chmod(filepath.Join(dir, "m"), 0o700) // so that it can be removed
}

// TestCopyHardLinks: a copy keeps the names of a file together.
func TestCopyHardLinks(t *testing.T) { //nolint:paralleltest // it sets environment variables
	if asUser(t) {
		return
	}
	s, dir, _ := open(t)
	s.views.first = ViewCopy
	put(t, dir, "a", "1")
	put(t, dir, "other", "1")
	if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	runOn(t, s, dir, "printf 2 > a; printf 3 > n; ln n m", nil)
	if diff := cmp.Diff(map[string]string{"a": "2", "b": "2", "n": "3", "m": "3", "other": "1"}, files(t, dir)); diff != "" {
		t.Error(diff)
	}
	for _, names := range [][2]string{{"a", "b"}, {"n", "m"}} {
		one, _ := os.Stat(filepath.Join(dir, names[0]))
		two, _ := os.Stat(filepath.Join(dir, names[1]))
		if !os.SameFile(one, two) {
			t.Errorf("%v are two files", names)
		}
	}
}

// TestTooLarge: commands in a project that is too large for a copy need permission, a notice says why, and one that has
// become too large fails.
func TestTooLarge(t *testing.T) { //nolint:paralleltest // it sets environment variables
	if asUser(t) {
		return
	}
	s, dir, _ := open(t)
	s.views.first = ViewCopy
	if p := policy(t, s, dir, pawl.Settings{Mode: "auto"}); p.Direct {
		t.Error("a small project has no view")
	}
	put(t, dir, "large", "")
	if err := os.Truncate(filepath.Join(dir, "large"), 1<<30); err != nil {
		t.Fatal(err)
	}
	r := sandbox.Request{Session: session, Workspace: dir, Dir: dir, Mode: "auto", Args: []string{"true"}, Sandboxed: true}
	if _, err := s.Wrap(t.Context(), r); err == nil || !strings.Contains(err.Error(), "too large to copy") {
		t.Fatalf("the command was not denied: %v", err)
	}
	for mode, want := range map[string]permission.Decision{"auto": permission.Deny, "guard": permission.Ask, "ask": permission.Ask, "plan": permission.Allow} {
		if got := decide(policy(t, s, dir, pawl.Settings{Mode: mode}), "bash", pawl.Access{Kind: pawl.AccessExec, Target: "make"}); got != want {
			t.Errorf("%s: %s, want %s", mode, got, want)
		}
	}
	w, err := s.Wrap(t.Context(), r)
	if err != nil || w.Finish != nil {
		t.Fatal("it has a view", err)
	}
	w.Close()
	if !strings.Contains(w.Notice, "transactions: none: ") || !strings.Contains(w.Notice, "more than 536870912 bytes") {
		t.Errorf("the notice is %q", w.Notice)
	}
	r.Review = true
	if _, err := s.Wrap(t.Context(), r); err == nil {
		t.Error("a command whose changes need a review has no view")
	}
}

// TestMountInside: an overlay would hide what is mounted in the project. A copy shows it, without its secrets, and commands
// cannot write there.
func TestMountInside(t *testing.T) { //nolint:paralleltest // it sets environment variables
	const mounts = `cd "$TMPDIR"; mkdir -p project/data project/src; echo own > project/src/own; : > project/file
		mount -t tmpfs none project/data; mkdir project/data/sub; echo mounted > project/data/in; echo KEY > project/data/sub/.env
		echo other > file; mount --bind file project/file; chmod -R a+rwX project; chown -R --reference=. project; cd /`
	if asUserWith(t, mounts) {
		return
	}
	s, _, _ := open(t)
	dir := filepath.Join(os.TempDir(), "project")
	if _, err := os.Stat(dir); err != nil {
		t.Fatal("run this test as root, which can mount file systems")
	}
	v, err := s.View(t.Context(), dir)
	if err != nil || v.Name != ViewCopy || !strings.Contains(v.String(), "is mounted at "+dir) {
		t.Fatal(v, err)
	}
	output, denied := runOn(t, s, dir, `cat data/in file src/own data/sub/.env; echo new > src/new; rm src/own
		{ echo x > data/in || echo x > data/new || echo x > file || rm -r data || mv file src; } 2>/dev/null; exit 0`, nil)
	if output != "mounted\nother\nown\n" || len(denied) > 0 {
		t.Errorf("it printed %q, denied %v", output, denied)
	}
	want := map[string]string{"data/in": "mounted\n", "data/sub/.env": "KEY\n", "file": "other\n", "src/new": "new\n"}
	if diff := cmp.Diff(want, files(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// TestOnOverlay: where all files are on an overlay, as in containers, commands run on copies.
func TestOnOverlay(t *testing.T) { //nolint:paralleltest // it sets environment variables
	const mounts = `cd "$TMPDIR"; mkdir lower upper work lower/old; echo 1 > lower/old/f; chown -R --reference=. lower upper
		mount -t overlay none -o lowerdir=lower,upperdir=upper,workdir=work "$TMPDIR"; cd /`
	if asUserWith(t, mounts) {
		return
	}
	if _, err := os.Stat(filepath.Join(os.TempDir(), "old", "f")); err != nil {
		t.Fatal("run this test as root, which can mount file systems")
	}
	for name, tt := range viewCases {
		t.Run(name, func(t *testing.T) {
			s, dir, _ := open(t)
			checkView(t, s, dir, ViewCopy, tt)
		})
	}
	s, _, _ := open(t) // files of the lower layer
	dir := filepath.Join(os.TempDir(), "old")
	if v, err := s.View(t.Context(), dir); err != nil || !strings.Contains(v.String(), "no overlay: pawl: sandbox: mount the view: invalid argument") {
		t.Error(v, err)
	}
	runOn(t, s, dir, "echo 2 > f; mkdir d; mv d e", nil)
	if diff := cmp.Diff(map[string]string{"f": "2\n", "e": "directory"}, files(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// TestForeign: a command in a project with files of another group changes a copy. What belongs to other users can be
// changed as far as the user can, and does not keep the rest from being applied.
func TestForeign(t *testing.T) { //nolint:paralleltest // it sets environment variables
	const owners = `cd "$TMPDIR"; mkdir -p project/shared project/ro/sub project/private project/open; cd project
		for f in shared/f ro/f private/f open/f; do echo 1 > $f; done; chmod 0700 private; chmod 0555 ro; chmod 0777 open; chmod 0600 open/f
		chown --reference=.. . shared shared/f; chgrp 1 shared shared/f; cd /`
	if asUserWith(t, owners) {
		return
	}
	s, _, _ := open(t)
	dir := filepath.Join(os.TempDir(), "project")
	if _, err := os.Stat(dir); err != nil || os.Geteuid() == 0 {
		if v, err := s.View(t.Context(), dir); os.Geteuid() == 0 && v.Name != ViewOverlay {
			t.Error("root needs no copy", v, err)
		}
		return
	}
	v, err := s.View(t.Context(), dir)
	if err != nil || v.Name != ViewCopy || !strings.Contains(v.String(), "such as "+dir) {
		t.Fatal(v, err)
	}
	output, denied := runOn(t, s, dir, `cat private/f open/f 2>&1 | grep -c denied; { echo 2 > ro/f; echo 2 > ro/new; } 2>/dev/null
		echo 2 > shared/f; echo 2 > shared/new; chmod u+rwx ro ro/f private; echo 2 > ro/f; echo 2 > ro/new; echo 2 > private/new; echo 2 > open/new`, nil)
	if want := []string{"private/new", "ro", "ro/f", "ro/new"}; output != "2\n" || !slices.Equal(denied, want) {
		t.Errorf("it printed %q, denied %v", output, denied)
	}
	for name, want := range map[string]string{"shared/f": "2\n", "shared/new": "2\n", "open/new": "2\n", "ro/f": "1\n", "ro/new": "", "private/new": ""} {
		if got, _ := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if _, denied := runOn(t, s, dir, "rm -rf private; echo 3 > shared/f", nil); len(denied) > 0 { // nothing is left to complete
		t.Errorf("denied %v", denied)
	}
}

// TestJobOnCopy: a background job in a project that commands see as a copy writes to the project, and a notice says so.
func TestJobOnCopy(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, dir, _ := open(t)
	s.views.first = ViewCopy
	w, err := s.Wrap(t.Context(), sandbox.Request{Session: session, Workspace: dir, Dir: dir, Mode: "auto", Args: []string{"true"}, Sandboxed: true, Job: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if w.Finish != nil || !strings.Contains(w.Notice, "background jobs write to the directory directly") {
		t.Errorf("a view: %v, notice %q", w.Finish != nil, w.Notice)
	}
}
