package tool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// screen is an editor: the texts that it has open, by their paths in the workspace.
type screen struct {
	dir   string
	texts map[string]string
	err   error
	moved func(path string) // called when it is asked
	asked []string
}

func (s *screen) Unsaved(ctx context.Context, f toolapi.OnDisk) (string, bool, error) {
	rel, err := filepath.Rel(s.dir, f.Path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false, errors.New("asked for " + f.Path)
	}
	s.asked = append(s.asked, rel)
	if s.moved != nil {
		s.moved(rel)
	}
	if s.err != nil {
		return "", false, s.err
	}
	text, ok := s.texts[rel]
	return text, ok && text != f.Text, ctx.Err()
}

// editing makes a call in a directory that an editor has open.
func editing(dir, in string, s *screen) toolapi.Call {
	c := call(dir, in)
	s.dir, c.Buffers = dir, s
	return c
}

// TestReadUnsaved: read shows what the user has in the editor and has not saved,
// and says so. What the model then knows is that.
func TestReadUnsaved(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.txt": "one\ntwo\n", "sub/b.txt": "disk\n", "link": "->sub/b.txt", "img": "\x89PNG\r\n\x1a\n", "bin": "\xff\xfe"})
	for name, test := range map[string]struct {
		in    string
		texts map[string]string
		err   error
		want  string
		seen  map[string]string
		asked []string
	}{
		"the same":      {`{"path":"a.txt"}`, map[string]string{"a.txt": "one\ntwo\n"}, nil, "     1\tone\n     2\ttwo\n", map[string]string{"a.txt": workspace.Hash([]byte("one\ntwo\n"))}, []string{"a.txt"}},
		"not open":      {`{"path":"a.txt"}`, nil, nil, "     1\tone\n     2\ttwo\n", map[string]string{"a.txt": workspace.Hash([]byte("one\ntwo\n"))}, []string{"a.txt"}},
		"not saved":     {`{"path":"a.txt"}`, map[string]string{"a.txt": "ONE\n"}, nil, unsavedNote + "     1\tONE\n", map[string]string{"a.txt": workspace.Hash([]byte("ONE\n"))}, []string{"a.txt", "a.txt"}},
		"a part of it":  {`{"path":"a.txt","offset":2,"limit":1}`, map[string]string{"a.txt": "x\ny\nz\n"}, nil, unsavedNote + "     2\ty\n(more lines follow: continue with offset 3)\n", map[string]string{"a.txt": workspace.Hash([]byte("x\ny\nz\n"))}, []string{"a.txt", "a.txt"}},
		"it fails":      {`{"path":"a.txt"}`, nil, errors.New("it hangs"), "(whether the editor has changes of it that are not saved is not known: it hangs. This is about the file on the disk)\n     1\tone\n     2\ttwo\n", map[string]string{"a.txt": workspace.Hash([]byte("one\ntwo\n"))}, []string{"a.txt"}},
		"by a link":     {`{"path":"link"}`, map[string]string{"sub/b.txt": "editor\n"}, nil, unsavedNote + "     1\teditor\n", map[string]string{"link": workspace.Hash([]byte("editor\n"))}, []string{"sub/b.txt", "sub/b.txt"}},
		"an image":      {`{"path":"img"}`, map[string]string{"img": "x"}, nil, "image/png, 8 bytes", nil, nil},
		"not text":      {`{"path":"bin"}`, map[string]string{"bin": "x"}, nil, "     1\t\uFFFD\n", map[string]string{"bin": workspace.Hash([]byte("\xff\xfe"))}, nil},
		"a folder":      {`{"path":"sub"}`, map[string]string{"sub": "x"}, nil, "b.txt\n", nil, nil},
		"it is too big": {`{"path":"a.txt"}`, map[string]string{"a.txt": strings.Repeat("x", EditBytes+1)}, nil, "(whether the editor has changes of it that are not saved is not known: what it has is longer than 10485760 bytes. This is about the file on the disk)\n     1\tone\n     2\ttwo\n", map[string]string{"a.txt": workspace.Hash([]byte("one\ntwo\n"))}, []string{"a.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &screen{texts: test.texts, err: test.err}
			got, err := try(t.Context(), Read(nil), editing(dir, test.in, s))
			checkError(t, err, "")
			if diff := cmp.Diff([]any{test.want, test.seen, test.asked}, []any{got.Content, got.Seen, s.asked}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEditorIsNotAsked: no file is asked for that pawl does not read itself.
func TestEditorIsNotAsked(t *testing.T) {
	t.Parallel()
	outside := folder(t, map[string]string{"secret": "s"})
	dir := folder(t, map[string]string{"out": "->" + filepath.Join(outside, "secret"), "way": "->" + outside, "hidden": "h", "to": "->hidden"})
	for _, in := range []string{`{"path":"../secret"}`, `{"path":"/etc/hostname"}`, `{"path":"out"}`, `{"path":"way/secret"}`, `{"path":"none"}`, `{"path":"to"}`} {
		s := &screen{texts: map[string]string{"out": "s", "way/secret": "s", "none": "new", "to": "h", "hidden": "H"}}
		c := editing(dir, in, s)
		c.Reads = func(path string) bool { return path != "hidden" }
		if got, err := try(t.Context(), Read(nil), c); err == nil {
			t.Errorf("%s: it was read: %+v", in, got)
		}
		if s.asked != nil {
			t.Errorf("%s: the editor was asked for %q", in, s.asked)
		}
	}
}

// TestEditorReadsElsewhere: a command that has the file's name lead out of the
// workspace for a moment gets nothing by the editor's hand.
func TestEditorReadsElsewhere(t *testing.T) {
	t.Parallel()
	text := readSwapped(t)
	if strings.Contains(text, "s3cret") || !strings.Contains(text, workspace.ErrMoved.Error()) || !strings.HasSuffix(text, "     1\tone\n") {
		t.Errorf("read %q", text)
	}
}

// readSwapped reads a file that is a link, out of the workspace, whenever the
// editor looks.
func readSwapped(t *testing.T) string {
	t.Helper()
	outside := folder(t, map[string]string{"secret": "s3cret\n"})
	dir := folder(t, map[string]string{"sub/a.txt": "one\n"})
	path := filepath.Join(dir, "sub", "a.txt")
	s := &screen{texts: map[string]string{}}
	s.moved = func(rel string) {
		err := errors.Join(os.Rename(path, path+"~"), os.Symlink(filepath.Join(outside, "secret"), path))
		text, err2 := os.ReadFile(path)
		s.texts[rel] = string(text)
		if err := errors.Join(err, err2, os.Remove(path), os.Rename(path+"~", path)); err != nil {
			t.Error(err)
		}
	}
	got, err := try(t.Context(), Read(nil), editing(dir, `{"path":"sub/a.txt"}`, s))
	checkError(t, err, "")
	return got.Content
}

// TestChangesOfUnsaved: a file that the user has changed in the editor and has not
// saved is not changed on the disk.
func TestChangesOfUnsaved(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, tool, input string }{
		{"edit", "edit", `{"path":"a.txt","old":"one","new":"1"}`},
		{"write", "write", `{"path":"a.txt","content":"new\n"}`},
		{"update", "apply_patch", input(t, fields{"patch": patchOf("*** Add File: new\n+x\n*** Update File: a.txt\n@@\n-one\n+1\n")})},
		{"delete", "apply_patch", input(t, fields{"patch": patchOf("*** Delete File: a.txt\n")})},
		{"move", "apply_patch", input(t, fields{"patch": patchOf("*** Update File: a.txt\n*** Move to: b.txt\n@@\n-one\n+1\n")})},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := map[string]string{"a.txt": "one\n"}
			tool, _ := builtin(t).Tool(test.tool)

			dir := folder(t, before)
			_, err := try(t.Context(), tool, editing(dir, test.input, &screen{texts: map[string]string{"a.txt": "two\n"}}))
			checkError(t, err, "not saved, of a.txt: ask them to save or to discard")
			if diff := cmp.Diff(before, files(t, dir)); diff != "" {
				t.Error(diff)
			}

			got, err := try(t.Context(), tool, editing(dir, test.input, &screen{err: errors.New("it is gone")}))
			checkError(t, err, "")
			if !strings.Contains(got.Content, "a.txt: (whether the editor has changes of it that are not saved is not known: it is gone") {
				t.Errorf("got %q", got.Content)
			}
			if diff := cmp.Diff(before, files(t, dir)); diff == "" {
				t.Error("nothing was changed")
			}

			dir = folder(t, before)
			got, err = try(t.Context(), tool, editing(dir, test.input, &screen{texts: before}))
			checkError(t, err, "")
			if strings.Contains(got.Content, "editor") {
				t.Errorf("got %q", got.Content)
			}
		})
	}
}

// TestChangesAfterUnsaved: a model that has read what is not saved is informed of that,
// and not to read the file again: it would get that for ever.
func TestChangesAfterUnsaved(t *testing.T) {
	t.Parallel()
	for tool, in := range map[string]string{
		"edit":        `{"path":"a.txt","old":"two","new":"2"}`,
		"write":       `{"path":"a.txt","content":"2\n"}`,
		"apply_patch": input(t, fields{"patch": patchOf("*** Update File: a.txt\n@@\n-two\n+2\n")}),
	} {
		dir := folder(t, map[string]string{"a.txt": "one\n"})
		c := editing(dir, in, &screen{texts: map[string]string{"a.txt": "two\n"}})
		c.Caller = &fakeSession{dir: dir, seen: map[string]string{"a.txt": workspace.Hash([]byte("two\n"))}}
		tool, _ := builtin(t).Tool(tool)
		_, err := try(t.Context(), tool, c)
		checkError(t, err, "not saved, of a.txt")
		_, err = tool.Preview(t.Context(), c)
		checkError(t, err, "save or to discard")
	}
}

// TestPreviewAsksNoEditor: what a person has not permitted yet asks nothing of the
// editor either.
func TestPreviewAsksNoEditor(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.txt": "one\n"})
	for name, in := range map[string]string{
		"edit": `{"path":"a.txt","old":"one","new":"1"}`, "apply_patch": input(t, fields{"patch": patchOf("*** Delete File: a.txt\n")}),
	} {
		s := &screen{}
		tool, _ := builtin(t).Tool(name)
		if _, err := tool.Preview(t.Context(), editing(dir, in, s)); err != nil || s.asked != nil {
			t.Errorf("%s: asked %q, %v", name, s.asked, err)
		}
	}
}

func init() {
	limits["BufferTime"] = func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, began := editing("/w", "", &screen{}), time.Now()
			c.Buffers = hanging{}
			note, err := saved(t.Context(), c, file{path: "a", exists: true}, file{path: "b", exists: true})
			if took := time.Since(began); err != nil || took != BufferTime || !strings.HasPrefix(note, "a, b: (whether") {
				t.Errorf("after %s: %q, %v", took, note, err)
			}
		})
	}
}

// hanging is an editor that never answers.
type hanging struct{}

func (hanging) Unsaved(ctx context.Context, _ toolapi.OnDisk) (string, bool, error) {
	<-ctx.Done()
	return "", false, ctx.Err()
}
