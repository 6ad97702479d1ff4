package lsp

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReads(t *testing.T) {
	t.Parallel()
	spec := Spec{Files: map[string]string{".ts": "typescript", "go.mod": "go.mod"}, Reads: []string{".json", "Makefile"}}
	for name, want := range map[string]bool{
		"a.ts": true, "a.d.ts": true, "go.mod": true, "x.json": true, "Makefile": true,
		"ts": false, "a.mod": false, "xMakefile": false, "json": false, "a.go": false,
	} {
		if got := spec.reads(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestRoot(t *testing.T) {
	t.Parallel()
	outer := folder(t, map[string]string{
		"go.mod": "", "ws/a.go": "", // the workspace is below a project
		"ws/mod/go.mod": "", "ws/mod/a/b/c.go": "", "ws/mod/a/go.mod/x": "", // a directory is no marker
		"ws/work/go.work": "", "ws/work/one/go.mod": "", "ws/work/one/a.go": "",
	})
	if err := os.Symlink("nothing", filepath.Join(outer, "ws/mod/a/b/go.mod")); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(outer, "ws")
	spec := Spec{Roots: []string{"go.work", "go.mod"}}
	for path, want := range map[string]string{
		"a.go": "", "mod/a/b/c.go": "mod", "mod/go.mod": "mod", "mod/gone/gone.go": "mod",
		"work/one/a.go": "work", "work/a.go": "work", "else/a.go": "",
	} {
		got, marked := spec.root(dir, filepath.Join(dir, path))
		if got != filepath.Join(dir, want) || marked != (want != "") {
			t.Errorf("%s: %s, marked %t", path, got, marked)
		}
	}
}

func TestFind(t *testing.T) { //nolint:paralleltest // it changes the working directory
	base := folder(t, map[string]string{"ws/bin/p": "", "out/p": "", "out/data": "", "wsx/p": ""})
	for _, name := range []string{"ws/bin/p", "out/p", "wsx/p"} {
		if err := os.Chmod(filepath.Join(base, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"links/p": "../ws/bin/p", "linked": "ws/bin", "ws/out": "../out", "fine/p": "../out/p", "fine/loop": "loop",
	} {
		path := filepath.Join(base, link)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(to, path)); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(base, "ws")
	t.Chdir(dir)
	tests := []struct {
		name, path, program, want string
		error                     error
	}{
		{"outside", "/out", "p", "/out/p", nil},
		{"outside, by a link", "/fine", "p", "/fine/p", nil},
		{"a neighbor of the workspace", "/wsx", "p", "/wsx/p", nil},
		{"inside", "/ws/bin", "p", "", errInside},
		{"inside comes first", "/ws/bin:/out", "p", "/out/p", nil},
		{"a link to inside", "/links", "p", "", errInside},
		{"a folder that links to inside", "/linked", "p", "", errInside},
		{"a link in the workspace that leads out", "/ws/out", "p", "", errInside},
		{"by a detour", "/out/../ws/bin", "p", "", errInside},
		{"relative", "bin:../out:.:", "p", "", errInside},
		{"not executable", "/out", "data", "", os.ErrNotExist},
		{"a folder", "", "out", "", os.ErrNotExist},
		{"a loop", "/fine", "loop", "", os.ErrNotExist},
		{"nowhere", "/nowhere:/out", "q", "", os.ErrNotExist},
		{"by its path", "/nowhere", base + "/out/p", "/out/p", nil},
		{"by its path, inside", "/out", base + "/ws/bin/p", "", errInside},
		{"by the path of a link to inside", "/out", base + "/links/p", "", errInside},
		{"by a path that is not there", "/out", base + "/out/q", "", os.ErrNotExist},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			folders := strings.Split(test.path, ":")
			for i, f := range folders {
				if strings.HasPrefix(f, "/") {
					folders[i] = base + f
				}
			}
			want := test.want
			if want != "" {
				want = base + want
			}
			got, err := find(test.program, dir, strings.Join(folders, ":"))
			if got != want || !errors.Is(err, test.error) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	path := strings.Join([]string{dir + "/bin", base + "/out", "bin", "", base + "/linked", base + "/missing", base + "/wsx"}, ":")
	if diff := cmp.Diff(base+"/out:"+base+"/wsx", safePath(dir, path)); diff != "" {
		t.Errorf("the server looks for its programs in other places: %s", diff)
	}
}

func TestTSOptions(t *testing.T) {
	t.Parallel()
	base := folder(t, map[string]string{"lib/node_modules/typescript-language-server/lib/cli.mjs": ""})
	program := filepath.Join(base, "tsls")
	if _, err := tsOptions(program); err == nil {
		t.Error("a missing program was taken")
	}
	if err := os.Symlink("lib/node_modules/typescript-language-server/lib/cli.mjs", program); err != nil {
		t.Fatal(err)
	}
	if _, err := tsOptions(program); err == nil || !strings.HasPrefix(err.Error(), "TypeScript 5 not found: ") {
		t.Errorf("got %v", err)
	}
	put(t, base, "lib/node_modules/typescript/lib/tsserver.js", "")
	got, err := tsOptions(program)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"disableAutomaticTypingAcquisition": true,
		"tsserver": map[string]any{
			"path": base + "/lib/node_modules/typescript/lib/tsserver.js", "useClientFileWatcher": true, "useSyntaxServer": "never",
		},
	}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Error(diff)
	}
}

func TestURI(t *testing.T) {
	t.Parallel()
	for path, uri := range map[string]string{
		"/a/b.go": "file:///a/b.go", "/a b/ü#?%.go": "file:///a%20b/%C3%BC%23%3F%25.go",
	} {
		if got := toURI(path); got != uri {
			t.Errorf("%s is %s", path, got)
		}
		if got := fromURI(uri); got != path {
			t.Errorf("%s is %s", uri, got)
		}
	}
	for uri, path := range map[string]string{
		"file:///a%40b/%61.go": "/a@b/a.go", "file:///a/../b": "/b",
		"": "", "/a": "", "http://x/a": "", "file:a": "", "untitled:1": "", "file://%zz": "",
	} {
		if got := fromURI(uri); got != path {
			t.Errorf("%s is %q", uri, got)
		}
	}
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\n\tb  c\r\n": "a b c", "\x1b[31mred\x00": "[31mred", "\xff": "\uFFFD", "": "",
		strings.Repeat("ä", messageChars):    strings.Repeat("ä", messageChars),
		strings.Repeat("ä", messageChars+1):  strings.Repeat("ä", messageChars) + "…",
		strings.Repeat("\n", 1<<20) + "late": "",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("%.20q is %.20q", text, got)
		}
	}
}
