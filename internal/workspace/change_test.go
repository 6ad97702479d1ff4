package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/workspace"
)

var errFault = errors.New("the disk is on fire")

func hash(text string) string { return workspace.Hash([]byte(text)) }

func TestHash(t *testing.T) {
	t.Parallel()
	if got := hash("abc"); got != "ba7816bf8f01cfea414140de5dae2223" {
		t.Errorf("got %s", got)
	}
}

// changes has one change of every kind: replaced, new, new below new directories,
// removed, moved, moved and changed.
func changes() []workspace.Change {
	return []workspace.Change{
		{Path: "file", Data: []byte("FILE\n"), Was: hash("file\n")},
		{Path: "new", Data: []byte("new\n")},
		{Path: "a/b/c", Data: []byte("c\n")},
		{Path: "gone", Remove: true, Was: hash("gone\n")},
		{Path: "tool.sh", To: "bin/tool.sh", Data: []byte("tool\n"), Was: hash("tool\n")},
		{Path: "sub/file", To: "a/d", Data: []byte("SUB\n"), Was: hash("sub\n")},
		{Path: "sub/other", Data: []byte("OTHER\n"), Was: hash("other\n")},
	}
}

// openAll returns a workspace for these changes.
func openAll(t *testing.T) (*workspace.Workspace, string) {
	t.Helper()
	w, base := open(t)
	write(t, filepath.Join(base, "ws/gone"), "gone\n", 0o600)
	write(t, filepath.Join(base, "ws/tool.sh"), "tool\n", 0o750)
	write(t, filepath.Join(base, "ws/sub/other"), "other\n", 0o664)
	return w, base
}

// changed returns the expected snapshot after all changes.
func changed(before map[string]string) map[string]string {
	after := maps.Clone(before)
	for _, path := range []string{"/ws/gone", "/ws/tool.sh", "/ws/sub/file"} {
		delete(after, path)
	}
	for _, dir := range []string{"/ws/a", "/ws/a/b", "/ws/bin"} {
		after[dir] = "drwxr-xr-x"
	}
	after["/ws/file"] = "-rw-r--r-- FILE\n"
	after["/ws/new"] = "-rw-r--r-- new\n"
	after["/ws/a/b/c"] = "-rw-r--r-- c\n"
	after["/ws/bin/tool.sh"] = "-rwxr-x--- tool\n"
	after["/ws/a/d"] = "-rw-r--r-- SUB\n"
	after["/ws/sub/other"] = "-rw-rw-r-- OTHER\n"
	return after
}

func TestWriteAll(t *testing.T) {
	t.Parallel()
	w, base := openAll(t)
	want := changed(snapshot(t, base))
	if err := w.WriteAll(t.Context(), changes()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, snapshot(t, base)); diff != "" {
		t.Error(diff)
	}
}

// dropTemps removes temporary files from a snapshot and returns their number.
func dropTemps(files map[string]string) int {
	n := len(files)
	maps.DeleteFunc(files, func(path, _ string) bool { return strings.Contains(path, "/.pawl-") })
	return n - len(files)
}

// Whichever operation fails, WriteAll makes all changes or none.
func TestWriteAllFails(t *testing.T) {
	t.Parallel()
	rolledBack, cleaned := 0, 0
	for fail := 0; ; fail++ {
		w, base := openAll(t)
		before := snapshot(t, base)
		n, failed := 0, ""
		w.SetFault(func(operation, _ string) error {
			n++
			if n-1 == fail {
				failed = operation
				return errFault
			}
			return nil
		})
		err := w.WriteAll(t.Context(), changes())
		if failed == "" {
			break
		}
		var left *workspace.LeftoverError
		switch {
		case failed == "link" && err == nil: // the file was renamed instead
			if diff := cmp.Diff(changed(before), snapshot(t, base)); diff != "" {
				t.Errorf("operation %d, %s, failed: %s", fail, failed, diff)
			}
		case errors.As(err, &left):
			cleaned++
			after := snapshot(t, base)
			if n := dropTemps(after); n != 1 || len(left.Paths) != 1 {
				t.Errorf("operation %d, %s: %d were left, %q are named", fail, failed, n, left.Paths)
			}
			if diff := cmp.Diff(changed(before), after); diff != "" {
				t.Errorf("operation %d, %s, failed: %s", fail, failed, diff)
			}
		case errors.Is(err, errFault):
			rolledBack++
			if diff := cmp.Diff(before, snapshot(t, base)); diff != "" {
				t.Errorf("operation %d, %s, failed and left: %s", fail, failed, diff)
			}
		default:
			t.Errorf("operation %d, %s, failed: got %v", fail, failed, err)
		}
	}
	if rolledBack < 15 || cleaned != 5 {
		t.Errorf("%d failures were rolled back, %d were of the cleaning", rolledBack, cleaned)
	}
}

// Without hard links, WriteAll renames files to back them up.
func TestWriteAllWithoutLinks(t *testing.T) {
	t.Parallel()
	for fail := 0; ; fail++ {
		w, base := openAll(t)
		before := snapshot(t, base)
		n, failed := 0, false
		w.SetFault(func(operation, _ string) error {
			if operation == "link" {
				return errors.ErrUnsupported
			}
			n++
			failed = failed || n-1 == fail
			if n-1 == fail {
				return errFault
			}
			return nil
		})
		err := w.WriteAll(t.Context(), changes())
		var left *workspace.LeftoverError
		want := changed(before)
		if err != nil && !errors.As(err, &left) {
			want = before
		}
		after := snapshot(t, base)
		if left != nil {
			dropTemps(after)
		}
		if diff := cmp.Diff(want, after); diff != "" {
			t.Errorf("operation %d failed (%v): %s", fail, err, diff)
		}
		if !failed {
			if err != nil {
				t.Error(err)
			}
			break
		}
	}
}

// If the rollback fails too, nothing is lost and the error says where the old content
// is.
func TestWriteAllCannotPutBack(t *testing.T) {
	t.Parallel()
	for fail := 0; ; fail++ {
		w, base := openAll(t)
		n := 0
		w.SetFault(func(string, string) error {
			n++
			if n > fail {
				return errFault
			}
			return nil
		})
		err := w.WriteAll(t.Context(), changes())
		var left *workspace.LeftoverError
		if errors.As(err, &left) {
			break // all operations have been covered
		}
		after := snapshot(t, base)
		if !errors.Is(err, workspace.ErrHalfway) {
			t.Errorf("all failed from operation %d on: got %v", fail, err)
		}
		for _, old := range []string{"file", "gone", "tool", "sub", "other"} {
			found := ""
			for path, text := range after {
				if strings.HasSuffix(text, " "+old+"\n") {
					found = path
				}
			}
			if found == "" {
				t.Errorf("all failed from operation %d on: the content %q is lost", fail, old)
			}
			if strings.Contains(found, "/.pawl-") && (err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(found, "/ws/"))) {
				t.Errorf("all failed from operation %d on: the error does not say that %q is in %s: %v", fail, old, found, err)
			}
		}
	}
}

func TestWriteAllRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		one   workspace.Change
		error string
	}{
		{"not what it was", workspace.Change{Path: "file", Data: []byte("x"), Was: hash("other")}, "write file: it has changed on disk meanwhile"},
		{"removed, not what it was", workspace.Change{Path: "file", Remove: true, Was: hash("other")}, "remove file: it has changed on disk meanwhile"},
		{"moved, not what it was", workspace.Change{Path: "file", To: "x", Was: hash("other")}, "move file to x: it has changed on disk meanwhile"},
		{"new, but there", workspace.Change{Path: "file", Data: []byte("x")}, "write file: file already exists"},
		{"missing", workspace.Change{Path: "missing", Data: []byte("x"), Was: hash("x")}, "write missing: "},
		{"moved onto a file", workspace.Change{Path: "file", To: "sub/file", Was: hash("file\n")}, "move file to sub/file: sub/file already exists"},
		{"moved onto a folder", workspace.Change{Path: "file", To: "sub", Was: hash("file\n")}, "sub already exists"},
		{"moved onto a link", workspace.Change{Path: "file", To: "dangling", Was: hash("file\n")}, "dangling is a symbolic link"},
		{"moved onto itself", workspace.Change{Path: "file", To: "./file", Was: hash("file\n")}, "another change affects file"},
		{"moved below itself", workspace.Change{Path: "file", To: "file/x", Was: hash("file\n")}, "another change turns file into a file"},
		{"moved out", workspace.Change{Path: "file", To: "../x", Was: hash("file\n")}, "move file to ../x: "},
		{"moved out through a link", workspace.Change{Path: "file", To: "to-out/x", Was: hash("file\n")}, "move file to to-out/x: "},
		{"a link", workspace.Change{Path: "to-file", Data: []byte("x"), Was: hash("file\n")}, "write to-file: it is a symbolic link"},
		{"a link, removed", workspace.Change{Path: "to-file", Remove: true, Was: hash("file\n")}, "remove to-file: it is a symbolic link"},
		{"a link that leads out", workspace.Change{Path: "to-secret", Data: []byte("x"), Was: hash("secret\n")}, "it is a symbolic link"},
		{"a link to nothing", workspace.Change{Path: "dangling", Data: []byte("x")}, "dangling is a symbolic link"},
		{"through a link that leads out", workspace.Change{Path: "to-out/secret", Data: []byte("x"), Was: hash("secret\n")}, "write to-out/secret: "},
		{"outside", workspace.Change{Path: "../out/secret", Remove: true, Was: hash("secret\n")}, "remove ../out/secret: "},
		{"new, outside", workspace.Change{Path: "/etc/pawl-test", Data: []byte("x")}, "write /etc/pawl-test: "},
		{"a folder", workspace.Change{Path: "sub", Data: []byte("x"), Was: hash("x")}, "it is not a regular file"},
		{"the workspace", workspace.Change{Path: ".", Data: []byte("x")}, "write .: . already exists"},
		{"below a file", workspace.Change{Path: "sub/other/x", Data: []byte("x")}, "write sub/other/x: "},
		{"below a link to nothing", workspace.Change{Path: "dangling/x", Data: []byte("x")}, "write dangling/x: "},
		{"removed without a content", workspace.Change{Path: "file", Remove: true}, "there is no content to go by"},
		{"twice", workspace.Change{Path: "./first", Data: []byte("x")}, "another change affects first"},
		{"below a new file", workspace.Change{Path: "first/x", Data: []byte("x")}, "another change turns first into a file"},
		{"a name that is too long", workspace.Change{Path: strings.Repeat("n", 300), Data: []byte("x")}, "file name too long"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w, base := openAll(t)
			want := snapshot(t, base)
			first := workspace.Change{Path: "first", Data: []byte("x")}
			err := w.WriteAll(t.Context(), []workspace.Change{first, test.one})
			if err == nil || !strings.Contains(err.Error(), test.error) {
				t.Errorf("got %v, want %q", err, test.error)
			}
			if diff := cmp.Diff(want, snapshot(t, base)); diff != "" {
				t.Errorf("it was refused but changed something: %s", diff)
			}
		})
	}
}

// WriteAll does not overwrite a file that another program changes at the last moment.
func TestWriteAllConcurrent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, path, operation string
		change                workspace.Change
	}{
		{"written", "ws/file", "link", workspace.Change{Path: "file", Data: []byte("x"), Was: hash("file\n")}},
		{"removed", "ws/file", "fill", workspace.Change{Path: "file", Remove: true, Was: hash("file\n")}},
		{"moved", "ws/file", "fill", workspace.Change{Path: "file", To: "x", Data: []byte("x"), Was: hash("file\n")}},
		{"made", "ws/x", "fill", workspace.Change{Path: "x", Data: []byte("x")}},
		{"a move's target", "ws/x", "fill", workspace.Change{Path: "file", To: "x", Data: []byte("x"), Was: hash("file\n")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, base := openAll(t)
			var want map[string]string
			w.SetFault(func(operation, _ string) error {
				if operation == test.operation && want == nil {
					write(t, filepath.Join(base, test.path), "by another\n", 0o644)
					want = snapshot(t, base)
					dropTemps(want)
				}
				return nil
			})
			first := workspace.Change{Path: "sub/file", Data: []byte("x"), Was: hash("sub\n")}
			list := []workspace.Change{first, test.change}
			if test.operation == "link" {
				list = list[1:]
			}
			if err := w.WriteAll(t.Context(), list); err == nil || want == nil {
				t.Errorf("got %v", err)
			}
			if diff := cmp.Diff(want, snapshot(t, base)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// If a file has two paths, the one through a symbolic link is refused.
func TestWriteAllTwoNames(t *testing.T) {
	t.Parallel()
	w, base := openAll(t)
	want := snapshot(t, base)
	err := w.WriteAll(t.Context(), []workspace.Change{
		{Path: "sub/file", Data: []byte("x"), Was: hash("sub\n")},
		{Path: "to-sub/file", Data: []byte("y"), Was: hash("sub\n")},
	})
	if err == nil || !strings.Contains(err.Error(), "write to-sub/file: to-sub is a symbolic link") {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(want, snapshot(t, base)); diff != "" {
		t.Error(diff)
	}
}

func TestWriteAllCanceled(t *testing.T) {
	t.Parallel()
	for stop := range 9 {
		w, base := openAll(t)
		before := snapshot(t, base)
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		w.SetFault(func(string, string) error {
			if n++; n > stop {
				cancel()
			}
			return nil
		})
		if stop == 0 {
			cancel()
		}
		err := w.WriteAll(ctx, changes())
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("canceled at operation %d: got %v", stop, err)
		}
		if diff := cmp.Diff(before, snapshot(t, base)); diff != "" {
			t.Errorf("canceled at operation %d: %s", stop, diff)
		}
	}
}

// Any changes to any files, with any operation failing: all or nothing.
func TestWriteAllRapid(t *testing.T) {
	t.Parallel()
	text := rapid.StringMatching(`[ab\n]{0,6}`)
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "ws")
		if err != nil {
			rt.Fatal(err)
		}
		w, err := workspace.Open(dir)
		if err != nil {
			rt.Fatal(err)
		}
		defer w.Close()
		var list []workspace.Change
		after := map[string]string{}
		for i := range rapid.IntRange(1, 6).Draw(rt, "files") {
			name := fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"", "d/", "d/e/", "f/"}).Draw(rt, "dir"), i)
			old, data := text.Draw(rt, "old"), text.Draw(rt, "new")
			c := workspace.Change{Path: name, Was: hash(old), Data: []byte(data)}
			kind := rapid.SampledFrom([]string{"new", "write", "remove", "move", "stay"}).Draw(rt, "kind")
			if kind != "new" {
				write(t, filepath.Join(dir, name), old, 0o640)
			}
			switch kind {
			case "new":
				c.Was = ""
			case "remove":
				c.Remove = true
			case "move":
				c.To = fmt.Sprintf("%sm%d", rapid.SampledFrom([]string{"", "d/", "g/", "g/h/"}).Draw(rt, "to"), i)
			}
			switch kind {
			case "stay":
				after["/"+name] = "-rw-r----- " + old
				continue
			case "new":
				after["/"+name] = "-rw-r--r-- " + data
			case "write":
				after["/"+name] = "-rw-r----- " + data
			case "move":
				after["/"+c.To] = "-rw-r----- " + data
			}
			list = append(list, c)
		}
		before := snapshot(t, dir)
		n, fail := 0, rapid.IntRange(0, 40).Draw(rt, "fail")
		w.SetFault(func(string, string) error {
			if n++; n == fail {
				return errFault
			}
			return nil
		})
		err = w.WriteAll(t.Context(), list)
		got := snapshot(t, dir)
		var left *workspace.LeftoverError
		if err != nil && !errors.As(err, &left) {
			if diff := cmp.Diff(before, got); diff != "" {
				rt.Fatalf("%v: %s", err, diff)
			}
			return
		}
		if n := dropTemps(got); left == nil && n > 0 {
			rt.Fatalf("%d temporary files are left", n)
		}
		maps.DeleteFunc(got, func(_, text string) bool { return strings.HasPrefix(text, "d") })
		if diff := cmp.Diff(after, got); diff != "" {
			rt.Fatal(diff)
		}
	})
}
