package tool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// numbered is lines a to b as read shows them: the n-th reads "line n".
func numbered(a, b int) string {
	var s strings.Builder
	for n := a; n <= b; n++ {
		fmt.Fprintf(&s, "%6d\tline %d\n", n, n)
	}
	return s.String()
}

func lines(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "line %d\n", i+1)
	}
	return s.String()
}

func TestRead(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"ten":        lines(10),
		"no-newline": "one\ntwo",
		"crlf":       "one\r\ntwo\r\n",
		"blank":      "\n\nx\n",
		"empty":      "",
		"binary":     "ELF\x00\x01",
		"latin1":     "caf\xe9\n",
		"utf8":       "日本\n",
		"bom":        "\uFEFFx\n",
		"sub/file":   "sub\n",
		"link":       "->ten",
		"out":        "->/etc/passwd",
		"dangling":   "->nothing",
	})
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		in    fields
		want  string
		error string
	}{
		{"whole", fields{"path": "ten"}, numbered(1, 10), ""},
		{"absolute", fields{"path": filepath.Join(dir, "ten")}, numbered(1, 10), ""},
		{"through a link", fields{"path": "link"}, numbered(1, 10), ""},
		{"offset", fields{"path": "ten", "offset": 8}, numbered(8, 10), ""},
		{"offset at the last line", fields{"path": "ten", "offset": 10}, numbered(10, 10), ""},
		{"offset 0 is the beginning", fields{"path": "ten", "offset": 0}, numbered(1, 10), ""},
		{"limit", fields{"path": "ten", "limit": 3}, numbered(1, 3) + "(more lines follow: continue with offset 4)\n", ""},
		{"limit to the end", fields{"path": "ten", "limit": 10}, numbered(1, 10), ""},
		{"limit 0 is none", fields{"path": "ten", "limit": 0}, numbered(1, 10), ""},
		{"offset and limit", fields{"path": "ten", "offset": 4, "limit": 2}, numbered(4, 5) + "(more lines follow: continue with offset 6)\n", ""},
		{"offset beyond the end", fields{"path": "ten", "offset": 11}, "", "read ten: it has only 10 lines"},
		{"no newline at the end", fields{"path": "no-newline"}, "     1\tone\n     2\ttwo\n", ""},
		{"CRLF", fields{"path": "crlf"}, "     1\tone\n     2\ttwo\n", ""},
		{"blank lines", fields{"path": "blank"}, "     1\t\n     2\t\n     3\tx\n", ""},
		{"empty", fields{"path": "empty"}, "(the file is empty)", ""},
		{"not UTF-8", fields{"path": "latin1"}, "     1\tcaf\uFFFD\n", ""},
		{"UTF-8", fields{"path": "utf8"}, "     1\t日本\n", ""},
		{"binary", fields{"path": "binary"}, "", "read binary: it is a binary file"},
		{"folder", fields{"path": "sub"}, "file\n", ""},
		{"a column", fields{"path": "ten", "column": 6, "offset": 9}, "     9\t9\n    10\t10\n", ""},
		{"a column beyond the end", fields{"path": "ten", "column": 7, "offset": 9}, "     9\t\n    10\t0\n", ""},
		{"a column of wide characters", fields{"path": "utf8", "column": 2}, "     1\t本\n", ""},
		{"a pipe that nobody writes to", fields{"path": "pipe"}, "", "read pipe: it is not a regular file"},
		{"missing", fields{"path": "nope"}, "", "read nope:"},
		{"below a file", fields{"path": "ten/x"}, "", "read ten/x:"},
		{"a link that leads nowhere", fields{"path": "dangling"}, "", "read dangling:"},
		{"a link that leads out", fields{"path": "out"}, "", "read out:"},
		{"outside", fields{"path": "../x"}, "", "../x is outside the workspace"},
		{"absolute outside", fields{"path": "/etc/passwd"}, "", "/etc/passwd is outside the workspace"},
		{"no path", fields{"path": ""}, "", "path is empty"},
		{"negative offset", fields{"path": "ten", "offset": -1}, "", "offset, limit and column must not be negative"},
		{"negative limit", fields{"path": "ten", "limit": -1}, "", "offset, limit and column must not be negative"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := try(t.Context(), Read(nil), call(dir, input(t, test.in)))
			checkError(t, err, test.error)
			got.Seen = nil // see TestReadIsRemembered
			if diff := cmp.Diff(pawl.Result{Content: test.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What the model knows of a file is all of it, however little was shown.
func TestReadIsRemembered(t *testing.T) {
	t.Parallel()
	text := lines(5000)
	dir := folder(t, map[string]string{"f": text, "empty": "", "large": text})
	if err := os.Truncate(filepath.Join(dir, "large"), EditBytes+1); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		in   string
		want map[string]string
	}{
		{`{"path":"f"}`, map[string]string{"f": workspace.Hash([]byte(text))}},
		{`{"path":"./f","offset":4990,"limit":2}`, map[string]string{"f": workspace.Hash([]byte(text))}},
		{`{"path":"empty"}`, map[string]string{"empty": workspace.Hash(nil)}},
		{`{"path":"large"}`, nil},
		{`{"path":"."}`, nil},
	} {
		got, err := try(t.Context(), Read(nil), call(dir, test.in))
		checkError(t, err, "")
		if diff := cmp.Diff(test.want, got.Seen); diff != "" {
			t.Errorf("%s: %s", test.in, diff)
		}
	}
}

func TestReadImage(t *testing.T) {
	t.Parallel()
	images := map[string]string{
		"png": "\x89PNG\r\n\x1a\n\x00rest", "jpeg": "\xff\xd8\xff\x00rest", "gif": "GIF89a\x00rest", "webp": "RIFF\x00\x00\x00\x00WEBPVP8 rest",
	}
	for kind, data := range images {
		dir := folder(t, map[string]string{"sub/x": data})
		got, err := try(t.Context(), Read(nil), call(dir, `{"path":"sub/x"}`))
		checkError(t, err, "")
		want := pawl.Result{
			Content: fmt.Sprintf("image/%s, %d bytes", kind, len(data)),
			Files:   []pawl.File{{Name: "x", MediaType: "image/" + kind, Data: []byte(data)}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// A PDF is shown as text; one of scanned pages is handed over.
func TestReadPDF(t *testing.T) {
	t.Parallel()
	pdf := func(content string) string {
		return fmt.Sprintf(`%%PDF-1.4
1 0 obj
<</Type/Catalog/Pages 2 0 R>>
endobj
2 0 obj
<</Type/Pages/Count 1/Kids[3 0 R]/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>>>>>>>
endobj
3 0 obj
<</Type/Page/Parent 2 0 R/Contents 4 0 R>>
endobj
4 0 obj
<</Length %d>>
stream
%s
endstream
endobj
trailer
<</Root 1 0 R>>
%%%%EOF
`, len(content), content)
	}
	scanned := pdf("")
	dir := folder(t, map[string]string{"text.pdf": pdf("BT /F1 12 Tf 72 700 Td (Hello) Tj 0 -14 Td (World) Tj ET"), "scan.pdf": scanned, "broken.pdf": "%PDF-1.4\nnothing"})
	for path, want := range map[string]pawl.Result{
		"text.pdf": {Content: "     1\tHello\n     2\tWorld\n"},
		"scan.pdf": {
			Content: fmt.Sprintf("application/pdf, %d bytes", len(scanned)),
			Files:   []pawl.File{{Name: "scan.pdf", MediaType: "application/pdf", Data: []byte(scanned)}},
		},
	} {
		got, err := try(t.Context(), Read(nil), call(dir, input(t, fields{"path": path})))
		checkError(t, err, "")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	_, err := try(t.Context(), Read(nil), call(dir, `{"path":"broken.pdf"}`))
	checkError(t, err, "read broken.pdf: read PDF: ")
}

func TestReadSuggestsNames(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"README.md": "", "sub/config.go": "", "sub/confog.go": "", "sub/other.txt": ""})
	for path, want := range map[string]string{
		"readme.md":      ": did you mean README.md?",
		"README.txt":     ": did you mean README.md?",
		"sub/confi.go":   ": did you mean sub/config.go or sub/confog.go?",
		"sub/zzzzzzzzz":  "",
		"gone/config.go": "",
	} {
		_, err := try(t.Context(), Read(nil), call(dir, input(t, fields{"path": path})))
		if got := fmt.Sprint(err); got != "read "+path+": file does not exist"+want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestReadBlob(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	blob, err := st.PutBlob(t.Context(), session, strings.NewReader(lines(30)))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		in    fields
		want  string
		error string
	}{
		{"whole", fields{"path": "blob:" + blob.ID}, blobNote + numbered(1, 30), ""},
		{"a part", fields{"path": "blob:" + blob.ID, "offset": 29}, blobNote + numbered(29, 30), ""},
		{"missing", fields{"path": "blob:" + strings.Repeat("0", 64)}, "", "not found"},
		{"not an id", fields{"path": "blob:../../pawl.db"}, "", "not found"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := try(t.Context(), Read(st), call(t.TempDir(), input(t, test.in)))
			checkError(t, err, test.error)
			if diff := cmp.Diff(pawl.Result{Content: test.want}, got); diff != "" && err == nil {
				t.Error(diff)
			}
		})
	}
	other := call(t.TempDir(), input(t, fields{"path": "blob:" + blob.ID}))
	other.Session = "01JD0000000000000000000001"
	if _, err := try(t.Context(), Read(st), other); err == nil {
		t.Error("a session could read the output of another")
	}
}

// The wanted line is a terabyte away.
func TestContract_R14_ReadIsCanceled(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"long": lines(2000)})
	if err := os.Truncate(filepath.Join(dir, "long"), 1<<40); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	began := time.Now()
	_, err := try(ctx, Read(nil), call(dir, `{"path":"long","offset":5000}`))
	checkError(t, err, "context canceled")
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}
