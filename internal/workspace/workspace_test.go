package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/workspace"
)

func TestRel(t *testing.T) {
	t.Parallel()
	tests := []struct{ path, want string }{
		{"a", "a"},
		{"a/b.go", "a/b.go"},
		{"./a//b/", "a/b"},
		{"a/../b", "b"},
		{".", "."},
		{"a/..", "."},
		{"..a", "..a"},
		{"a\\..\\b", "a\\..\\b"},
		{"/ws", "."},
		{"/ws/", "."},
		{"/ws/a/b", "a/b"},
		{"/ws/a/../b", "b"},
		{"/ws/../ws/a", "a"},
		{"", ""},
		{"..", ""},
		{"../ws/a", ""},
		{"a/../../b", ""},
		{"/", ""},
		{"/etc/passwd", ""},
		{"/wsx/a", ""},
		{"/ws/../etc", ""},
		{"/linked/a", ""}, // Rel is lexical, see TestAnotherSpelling
	}
	for _, test := range tests {
		got, err := workspace.Rel("/ws", test.path)
		if got != test.want || (err == nil) == (test.want == "") {
			t.Errorf("Rel(%q) = %q, %v; want %q", test.path, got, err, test.want)
		}
		if err != nil && test.path != "" && !strings.Contains(err.Error(), test.path+" is outside") {
			t.Errorf("Rel(%q): the error does not say what is wrong: %v", test.path, err)
		}
	}
}

// open returns a workspace beside which there is a secret, and the directory that holds both.
//
//	ws/file  ws/sub/file  ws/to-file -> file  ws/to-sub -> sub  ws/to-secret, ws/to-out, ws/up: lead out
//	out/secret
func open(t *testing.T) (w *workspace.Workspace, base string) {
	t.Helper()
	base = t.TempDir()
	for path, text := range map[string]string{"ws/file": "file\n", "ws/sub/file": "sub\n", "out/secret": "secret\n"} {
		write(t, filepath.Join(base, path), text, 0o644)
	}
	for link, to := range map[string]string{
		"to-file": "file", "to-sub": "sub", "dangling": "nothing", "loop": "loop",
		"to-secret": filepath.Join(base, "out/secret"), "to-out": "../out", "up": "..", "via": "to-out",
		"new-outside": "../out/new",
	} {
		if err := os.Symlink(to, filepath.Join(base, "ws", link)); err != nil {
			t.Fatal(err)
		}
	}
	w, err := workspace.Open(filepath.Join(base, "ws"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, base
}

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// snapshot returns every path below dir with its mode and content.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(data)
		}
		found[strings.TrimPrefix(path, dir)] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestReading(t *testing.T) {
	t.Parallel()
	w, _ := open(t)
	tests := []struct {
		path, want string // "" means refused
	}{
		{"file", "file\n"},
		{"sub/file", "sub\n"},
		{"to-file", "file\n"},
		{"to-sub/file", "sub\n"},
		{"to-secret", ""},
		{"to-out/secret", ""},
		{"via/secret", ""},
		{"up/out/secret", ""},
		{"../out/secret", ""},
		{"sub/../../out/secret", ""},
		{"/etc/passwd", ""},
		{"dangling", ""},
		{"loop", ""},
		{"missing", ""},
		{"file/below", ""},
		{"", ""},
	}
	for _, test := range tests {
		data, err := w.ReadFile(test.path)
		if string(data) != test.want || (err == nil) == (test.want == "") {
			t.Errorf("ReadFile(%q) = %q, %v; want %q", test.path, data, err, test.want)
		}
		f, err := w.Open(test.path)
		if (err == nil) == (test.want == "") {
			t.Errorf("Open(%q): %v; want %q", test.path, err, test.want)
		}
		if err == nil {
			_ = f.Close()
		}
		if _, err := w.Stat(test.path); (err == nil) == (test.want == "") {
			t.Errorf("Stat(%q): %v; want %q", test.path, err, test.want)
		}
		if test.path == "missing" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a missing file is %v, want fs.ErrNotExist", err)
		}
	}
}

func TestWalkingStaysInside(t *testing.T) {
	t.Parallel()
	w, _ := open(t)
	var got []string
	err := fs.WalkDir(w.FS(), ".", func(path string, _ fs.DirEntry, err error) error {
		got = append(got, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{".", "dangling", "file", "loop", "new-outside", "sub", "sub/file", "to-file", "to-out", "to-secret", "to-sub", "up", "via"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if entries, err := fs.ReadDir(w.FS(), "to-out"); err == nil {
		t.Errorf("a folder outside was read: %v", entries)
	}
}

func TestOpenFolder(t *testing.T) {
	t.Parallel()
	w, _ := open(t)
	for path, inside := range map[string]bool{
		".": true, "sub": true, "to-sub": true, "to-out": false, "via": false, "up": false, "..": false, "/": false, "file": false, "missing": false, "loop": false,
	} {
		root, err := w.OpenFolder(path)
		if (err == nil) != inside {
			t.Errorf("OpenFolder(%q): %v", path, err)
		}
		if err != nil {
			continue
		}
		if data, err := root.ReadFile("../file"); err == nil {
			t.Errorf("OpenFolder(%q) leads out, to %q", path, data)
		}
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestReal(t *testing.T) {
	t.Parallel()
	_, base := open(t)
	for link, to := range map[string]string{"sub/again": "../to-sub", "chain": "new-outside", "sub/up": "../to-out/../x", "to-new": "to-sub/new"} {
		if err := os.Symlink(to, filepath.Join(base, "ws", link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		".": ".", "file": "file", "missing/below": "missing/below", "to-file": "file", "to-sub/file": "sub/file", "to-sub/new": "sub/new", "sub/again/file": "sub/file",
		"dangling": "nothing", "to-new": "sub/new", "new-outside": base + "/out/new", "chain": base + "/out/new", "chain/below": base + "/out/new/below",
		"to-secret": base + "/out/secret", "via/x": base + "/out/x", "up": base, "up/ws/file": "file", "sub/up": base + "/x",
	} {
		if got, err := workspace.Real(filepath.Join(base, "ws"), path); err != nil || got != want {
			t.Errorf("Real(%q) = %q, %v; want %q", path, got, err, want)
		}
	}
	for _, path := range []string{"loop", "loop/x", "file/below"} {
		if got, err := workspace.Real(filepath.Join(base, "ws"), path); err == nil {
			t.Errorf("Real(%q) = %q", path, got)
		}
	}
}

// Nothing is read through a symbolic link, and a link target only if it may be read.
func TestReadingWithoutLinks(t *testing.T) {
	t.Parallel()
	w, base := open(t)
	for path, want := range map[string]bool{
		"file": true, "sub/file": true, "sub": true, ".": true, "missing": false, "../out/secret": false,
		"to-file": false, "to-sub/file": false, "to-sub": false, "to-secret": false, "to-out/secret": false, "up": false, "dangling": false, "loop": false,
	} {
		f, err := w.OpenReal(path)
		if (err == nil) != want {
			t.Errorf("OpenReal(%q): %v", path, err)
		}
		if err == nil {
			_ = f.Close()
		}
		folder, err := w.RealFolder(path)
		if (err == nil) != (path == "sub" || path == ".") {
			t.Errorf("RealFolder(%q): %v", path, err)
		}
		if err == nil {
			_ = folder.Close()
		}
	}
	reads := func(path string) bool { return path != "sub/file" }
	for path, want := range map[string]string{"file": "file", "sub/file": "sub/file", "to-file": "file", "to-sub": "sub", "missing": "missing", "to-sub/file": "", "to-out": "", "up": "", "loop": ""} {
		if got, err := workspace.Readable(filepath.Join(base, "ws"), path, reads); got != want || (err == nil) != (want != "") {
			t.Errorf("Readable(%q) = %q, %v; want %q", path, got, err, want)
		}
	}
}

// A workspace that was opened through a symbolic link is the directory itself.
func TestAnotherSpelling(t *testing.T) {
	t.Parallel()
	_, base := open(t)
	link := filepath.Join(base, "link")
	if err := os.Symlink("ws", link); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(link)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if data, err := w.ReadFile("file"); err != nil || string(data) != "file\n" {
		t.Errorf("ReadFile = %q, %v", data, err)
	}
	if rel, err := workspace.Rel(link, filepath.Join(link, "file")); err != nil || rel != "file" {
		t.Errorf("Rel = %q, %v", rel, err)
	}
	if rel, err := workspace.Rel(link, filepath.Join(base, "ws", "file")); err == nil {
		t.Errorf("Rel = %q although the spelling is another", rel)
	}
}

func TestWriting(t *testing.T) {
	t.Parallel()
	dir, file := "drwxr-xr-x", "-rw-r--r-- "
	tests := []struct {
		name, path string
		adds       map[string]string // to the snapshot
	}{
		{"new", "new", map[string]string{"/ws/new": file + "text"}},
		{"with parents", "a/b/new", map[string]string{"/ws/a": dir, "/ws/a/b": dir, "/ws/a/b/new": file + "text"}},
		{"replaced", "file", map[string]string{"/ws/file": file + "text"}},
		{"mode kept", "tool.sh", map[string]string{"/ws/tool.sh": "-rwx--x--- text"}},
		{"mode kept, wider than the umask", "open", map[string]string{"/ws/open": "-rw-rw-rw- text"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w, base := open(t)
			write(t, filepath.Join(base, "ws/tool.sh"), "old", 0o710)
			write(t, filepath.Join(base, "ws/open"), "old", 0o666)
			want := snapshot(t, base)
			for path, text := range test.adds {
				want[path] = text
			}
			if err := w.WriteFile(test.path, []byte("text")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, snapshot(t, base)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWritingRefused(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"to-file", "to-sub/file", "to-sub/new", "to-sub/a/new", "to-secret", "to-out/secret", "to-out/new", "to-out/sub/new", "via/new", "up/out/secret", "up/new",
		"new-outside", "dangling", "loop", "../out/secret", "../new", "/etc/pawl-test", "sub", ".", "", "file/below",
		strings.Repeat("n", 300),
	} {
		t.Run(path, func(t *testing.T) {
			w, base := open(t)
			want := snapshot(t, base)
			err := w.WriteFile(path, []byte("text"))
			if err == nil || !strings.HasPrefix(err.Error(), "write "+path+": ") {
				t.Errorf("got %v", err)
			}
			if diff := cmp.Diff(want, snapshot(t, base)); diff != "" {
				t.Errorf("it was refused but changed something: %s", diff)
			}
		})
	}
}

// A reader that opened the file before the write sees all of the old content.
func TestWritingIsAtomic(t *testing.T) {
	t.Parallel()
	w, _ := open(t)
	f, err := w.Open("file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := w.WriteFile("file", []byte("another text that is longer")); err != nil {
		t.Fatal(err)
	}
	old := make([]byte, 100)
	if n, _ := f.Read(old); string(old[:n]) != "file\n" {
		t.Errorf("the reader sees %q", old[:n])
	}
}

// On a full disk the old content stays, and no temporary file.
func TestWritingFails(t *testing.T) { //nolint:paralleltest // it receives signals
	w, base := open(t)
	want := snapshot(t, base)

	signal.Ignore(syscall.SIGXFSZ) // so that the write fails instead of the process
	defer signal.Reset(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	small := limit
	small.Cur = 8 << 20 // larger than the log of opened files that go test writes at the same time
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small); err != nil {
		t.Fatal(err)
	}
	err := w.WriteFile("file", make([]byte, 9<<20))
	newErr := w.WriteFile("new", make([]byte, 9<<20))
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, syscall.EFBIG) || !errors.Is(newErr, syscall.EFBIG) {
		t.Errorf("got %v and %v", err, newErr)
	}
	if diff := cmp.Diff(want, snapshot(t, base)); diff != "" {
		t.Error(diff)
	}
}

// Opening a named pipe without a writer does not block.
func TestOpenDoesNotWait(t *testing.T) {
	t.Parallel()
	w, base := open(t)
	if err := syscall.Mkfifo(filepath.Join(base, "ws/pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := w.Open("pipe")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := w.WriteFile("pipe", []byte("text")); err == nil {
		t.Error("a pipe was replaced")
	}
}

func TestOpenMissingFolder(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	if _, err := workspace.Open(missing); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("got %v", err)
	}
}

// TestFurtherDirectories: absolute paths lead to the further directories of a workspace, and to no others.
func TestFurtherDirectories(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, more, other := filepath.Join(top, "ws"), filepath.Join(top, "more"), filepath.Join(top, "more2")
	for _, d := range []string{dir, more, other} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "f"), []byte(d), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(other+"/f", more+"/out"), os.Symlink(other, more+"/outdir"), os.Symlink("f", more+"/in")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"f": "f", more + "/f": more + "/f", more: more, "../more/f": more + "/f", dir + "/f": "f", more + "/../more/x": more + "/x",
		other + "/f": "", "../more2/f": "", more + "/../more2/f": "", top: "", "/": "",
	} {
		got, err := workspace.Rel(dir, path, more)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("Rel(%s) is %q, %v; want %q", path, got, err, want)
		}
	}
	for path, want := range map[string]string{more + "/f": more + "/f", more + "/in": more + "/f", more + "/out": "", more + "/outdir/f": ""} {
		if got, err := workspace.Readable(dir, path, nil, more); got != want || (err == nil) != (want != "") {
			t.Errorf("Readable(%s) is %q, %v; want %q", path, got, err, want)
		}
	}
	w, err := workspace.Open(dir, more)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, path := range []string{more + "/new", more + "/deep/er/new", "new"} {
		if err := w.WriteFile(path, []byte("x")); err != nil {
			t.Error(err)
		}
	}
	for _, path := range []string{other + "/f", more + "/out", more + "/outdir/new", more + "/../more2/new", "/new", more} {
		if err := w.WriteFile(path, []byte("x")); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	for _, path := range []string{other + "/f", more + "/out", more + "/outdir/f"} {
		if _, err := w.ReadFile(path); err == nil {
			t.Errorf("%s was read", path)
		}
	}
	if data, err := w.ReadFile(more + "/f"); err != nil || string(data) != more {
		t.Error(string(data), err)
	}
}
