package servicetest

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl"
)

func testReadFiles(b *testEnv) {
	id := b.create()
	image := "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 600)
	for name, text := range map[string]string{
		".gitignore": "*.log\nout/\n", "a": "1\n2\n3\n", "x.log": "", "out/deep/b": "b", "sub/.gitignore": "c\n", "sub/c": "<script>", "picture": image, "zero": "a\x00b",
	} {
		b.place(name, text)
	}
	b.ok(os.Symlink("sub", filepath.Join(b.dir, "link")))
	list := func(path string) []pawl.FileInfo {
		b.Helper()
		entries, more, err := b.ListDir(b.Context(), id, path)
		b.ok(err)
		check(b, false, more)
		return entries
	}
	top := []pawl.FileInfo{
		{Name: ".gitignore", Type: "file", Size: 11}, {Name: "a", Type: "file", Size: 6}, {Name: "link", Type: "link"}, {Name: "out", Type: "directory", Ignored: true},
		{Name: "picture", Type: "file", Size: 608}, {Name: "sub", Type: "directory"}, {Name: "x.log", Type: "file", Ignored: true}, {Name: "zero", Type: "file", Size: 3},
	}
	check(b, top, list(""))
	check(b, top, list(b.dir))
	sub := []pawl.FileInfo{{Name: ".gitignore", Type: "file", Size: 2}, {Name: "c", Type: "file", Size: 8, Ignored: true}}
	check(b, sub, list("sub"))
	check(b, sub, list("link"))
	check(b, []pawl.FileInfo{{Name: "b", Type: "file", Size: 1, Ignored: true}}, list("out/deep"))

	for _, c := range []struct {
		path           string
		offset, length int64
		kind, text     string
		size           int64
	}{
		{"a", 0, 0, "text/plain; charset=utf-8", "1\n2\n3\n", 6},
		{"a", 2, 2, "text/plain; charset=utf-8", "2\n", 6},
		{"a", 99, 2, "text/plain; charset=utf-8", "", 6},
		{filepath.Join(b.dir, "link/c"), 0, 0, "text/plain; charset=utf-8", "<script>", 8},
		{"picture", 1, 3, "image/png", "PNG", 608},
		{"zero", 0, 0, "application/octet-stream", "a\x00b", 3},
	} {
		part, size, err := b.ReadFile(b.Context(), id, c.path, c.offset, c.length)
		b.ok(err)
		check(b, pawl.File{Name: filepath.Base(c.path), MediaType: c.kind, Data: []byte(c.text)}, part)
		check(b, c.size, size)
	}
}

func testReadFilesRefuses(b *testEnv) {
	id := b.create()
	outside := b.TempDir()
	b.ok(os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600))
	b.ok(os.Symlink(outside, filepath.Join(b.dir, "out")))
	b.place("sub/.env", "KEY=1")
	b.ok(os.Symlink("sub/.env", filepath.Join(b.dir, "innocent")))
	for path, code := range map[string]pawl.Code{
		"none": pawl.CodeNotFound, "": pawl.CodeInvalid, "..": pawl.CodeInvalid, "sub/../../x": pawl.CodeInvalid, filepath.Join(outside, "secret"): pawl.CodeInvalid,
		"out/secret": pawl.CodeDenied, "sub/.env": pawl.CodeDenied, "innocent": pawl.CodeDenied, "sub": pawl.CodeInvalid,
	} {
		_, _, err := b.ReadFile(b.Context(), id, path, 0, 0)
		b.code(code, err)
	}
	_, _, err := b.ReadFile(b.Context(), id, "sub/.env", -1, 0)
	b.code(pawl.CodeInvalid, err)
	for path, code := range map[string]pawl.Code{"none": pawl.CodeNotFound, "..": pawl.CodeInvalid, "out": pawl.CodeDenied, outside: pawl.CodeInvalid, "sub/.env": pawl.CodeDenied} {
		_, _, err := b.ListDir(b.Context(), id, path)
		b.code(code, err)
	}
	const missing = "01JD0000000000000000000000"
	_, _, err = b.ListDir(b.Context(), missing, "")
	b.code(pawl.CodeNotFound, err)
	_, _, err = b.ReadFile(b.Context(), missing, "a", 0, 0)
	b.code(pawl.CodeNotFound, err)
}
