//go:build e2e

package acp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// results are what the calls of a session came to, by the log.
func results(t testing.TB, b *harness.Workdir, id sdk.SessionId) map[pawl.CallID]string {
	t.Helper()
	all := map[pawl.CallID]string{}
	for _, e := range b.Export(t, string(id)) {
		if f, ok := e.Body.(pawl.CallFinished); ok {
			all[f.Call] = f.Result.Content
		}
	}
	return all
}

// has the editor have these files open, and not saved.
func (e *editor) unsaved(files map[string]string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.files = files
}

// TestUnsavedFiles: the model reads what the person has not saved, and cannot
// change it; once it is saved, it can. The editor's other powers are not used.
func TestUnsavedFiles(t *testing.T) {
	t.Parallel()
	edit := `{"calls":[{"name":"edit","input":{"path":"a.txt","old":"from the editor","new":"of both"}}]}`
	b, model := newWorkdir(t,
		`{"calls":[{"name":"read","input":{"path":"a.txt"}},{"name":"read","input":{"path":"b.txt"}}]}`,
		`{"expect":"1\tfrom the editor","calls":[{"name":"edit","input":{"path":"a.txt","old":"disk","new":"x"}},{"name":"write","input":{"path":"a.txt","content":"x"}},{"name":"apply_patch","input":{"patch":"*** Begin Patch\n*** Delete File: a.txt\n*** End Patch"}},{"name":"edit","input":{"path":"b.txt","old":"clean","new":"changed"}},{"name":"edit","input":{"path":"b.txt","old":"changed","new":"twice"}}]}`,
		`{"expect":"ask them to save or to discard","text":"Please save it."}`,
		edit,
		`{"text":"Done."}`)
	b.Write(t, "a.txt", "on the disk\n")
	b.Write(t, "b.txt", "clean\n")
	path := filepath.Join(b.Dir, "a.txt")
	e := start(t, b, "--model", model, "--mode", "yolo")
	e.unsaved(map[string]string{path: "from the editor\n"})
	id := e.session(b.Dir)
	if stop := e.prompt(id, sdk.TextBlock("go")); stop != "end_turn" {
		t.Fatalf("it ended with %q", stop)
	}
	got := results(t, b, id)
	if want := "has not saved. The file on the disk is another: it can be changed once they save or discard this)\n     1\tfrom the editor\n"; !strings.HasSuffix(got["call_1_1"], want) || got["call_1_2"] != "     1\tclean\n" {
		t.Errorf("read %q and %q", got["call_1_1"], got["call_1_2"])
	}
	for _, call := range []pawl.CallID{"call_2_1", "call_2_2", "call_2_3"} {
		if !strings.Contains(got[call], "not saved, of a.txt") || b.Read(t, "a.txt") != "on the disk\n" {
			t.Errorf("%s: %q", call, got[call])
		}
	}
	if b.Read(t, "b.txt") != "twice\n" || strings.Contains(got["call_2_4"]+got["call_2_5"], "editor") {
		t.Errorf("b.txt is %q: %q, %q", b.Read(t, "b.txt"), got["call_2_4"], got["call_2_5"])
	}
	b.Write(t, "a.txt", "from the editor\n")
	e.unsaved(nil)
	e.prompt(id, sdk.TextBlock("it is saved"))
	if got := b.Read(t, "a.txt"); got != "of both\n" {
		t.Errorf("a.txt is %q", got)
	}
	for _, method := range []string{"fs/write_text_file", "terminal/"} {
		if strings.Contains(e.written(), method) {
			t.Errorf("%s was used", method)
		}
	}
}

// TestTaskReadsUnsaved: a task sees what its session has open.
func TestTaskReadsUnsaved(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t,
		`{"calls":[{"name":"task","input":{"agent":"general","prompt":"read it","description":"the reader"}}]}`,
		`{"expect":"I saw it","text":"Done."}`,
		`{"agent":"general","calls":[{"name":"read","input":{"path":"a.txt"}}]}`,
		`{"agent":"general","expect":"from the editor","text":"I saw it"}`)
	b.Write(t, "a.txt", "on the disk\n")
	e := start(t, b, "--model", model, "--mode", "yolo")
	e.unsaved(map[string]string{filepath.Join(b.Dir, "a.txt"): "from the editor\n"})
	id := e.session(b.Dir)
	if stop := e.prompt(id, sdk.TextBlock("go")); stop != "end_turn" || e.text(id) != "Done." {
		t.Errorf("it ended with %q:\n%s", stop, e.transcript(id))
	}
}

// TestEditorIsAskedForLittle: the editor is asked for files of the workspace that
// may be read, and for none before that is known.
func TestEditorIsAskedForLittle(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, model := newWorkdir(t,
		fmt.Sprintf(`{"calls":[{"name":"read","input":{"path":%q}},{"name":"read","input":{"path":"../x"}},{"name":"read","input":{"path":"link.txt"}},{"name":"read","input":{"path":"none.txt"}},{"name":"read","input":{"path":"."}},{"name":"read","input":{"path":"pic.png"}}]}`, outside),
		`{"calls":[{"name":"edit","input":{"path":"a.txt","old":"on","new":"x"}}]}`)
	b.Write(t, "a.txt", "on the disk\n")
	b.Write(t, "pic.png", "\x89PNG\r\n\x1a\n")
	if err := os.Symlink(outside, filepath.Join(b.Dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	e := start(t, b, "--model", model, "--mode", "ask")
	e.decide = choose(t, "Deny and stop")
	e.prompt(e.session(b.Dir), sdk.TextBlock("go"))
	if len(e.requests()) == 0 {
		t.Error("nothing was put to the person")
	}
	if got := e.asked(); got != nil {
		t.Errorf("the editor was asked for %q", got)
	}
}

// TestEditorCannotRead: one that cannot hand over files is not asked for any.
func TestEditorCannotRead(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t, `{"calls":[{"name":"read","input":{"path":"a.txt"}}]}`, `{"text":"Done."}`)
	b.Write(t, "a.txt", "on the disk\n")
	e := startAs(t, b, sdk.FileSystemCapabilities{}, "--model", model)
	id := e.session(b.Dir)
	e.prompt(id, sdk.TextBlock("go"))
	if got := results(t, b, id)["call_1_1"]; got != "     1\ton the disk\n" || e.asked() != nil {
		t.Errorf("read %q, asked for %q", got, e.asked())
	}
}

var readRequest = regexp.MustCompile(`\{[^\n]*"fs/read_text_file"[^\n]*\}`)

// answerRaw answers the last read of a file with a line of its own.
func (e *editor) answerRaw(format string) {
	e.t.Helper()
	var m struct{ ID json.RawMessage }
	found := readRequest.FindAllString(e.written(), -1)
	if len(found) == 0 || json.Unmarshal([]byte(found[len(found)-1]), &m) != nil {
		e.t.Errorf("no read was written: %q", found)
		return
	}
	if _, err := fmt.Fprintf(e.in, strings.ReplaceAll(format, "ID", "%s")+"\n", m.ID); err != nil {
		e.t.Error(err)
	}
}

// TestEditorAnswersBadly: whatever the editor answers, the file on the disk is
// read, and can be changed; the result says so.
func TestEditorAnswersBadly(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ line, want string }{
		"an error":       {`{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"no\nway"}}`, `it says: {"code":-32000,"message":"no\nway"}`},
		"a number":       {`{"jsonrpc":"2.0","id":ID,"result":{"content":7}}`, "it says"},
		"a list":         {`{"jsonrpc":"2.0","id":ID,"result":[]}`, "it says"},
		"nothing":        {`{"jsonrpc":"2.0","id":ID,"result":{}}`, "it handed over nothing"},
		"null":           {`{"jsonrpc":"2.0","id":ID,"result":null}`, "it handed over nothing"},
		"no result":      {`{"jsonrpc":"2.0","id":ID}`, ""},
		"too much of it": {`{"jsonrpc":"2.0","id":ID,"result":{"content":"` + strings.Repeat("x", 9<<20) + `"}}`, "it did not answer within"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, model := newWorkdir(t,
				`{"calls":[{"name":"read","input":{"path":"a.txt"}}]}`,
				`{"calls":[{"name":"edit","input":{"path":"a.txt","old":"on","new":"still on"}}]}`,
				`{"text":"Done."}`)
			b.Write(t, "a.txt", "on the disk\n")
			e := start(t, b, "--model", model, "--mode", "yolo")
			end := make(chan struct{})
			defer close(end)
			e.hand = func(string) (string, error) {
				e.answerRaw(test.line)
				<-end
				return "late", nil
			}
			id := e.session(b.Dir)
			if stop := e.prompt(id, sdk.TextBlock("go")); stop != "end_turn" {
				t.Errorf("it ended with %q", stop)
			}
			read, edited := results(t, b, id)["call_1_1"], results(t, b, id)["call_2_1"]
			if !strings.Contains(read, "not saved is not known: "+test.want) || !strings.HasSuffix(read, "     1\ton the disk\n") {
				t.Errorf("read %q", read)
			}
			if !strings.Contains(edited, "not saved is not known") || b.Read(t, "a.txt") != "still on the disk\n" {
				t.Errorf("edit %q", edited)
			}
		})
	}
}

// TestEditorDoesNotAnswer: it is waited for once; the next prompt shows that it is
// there again.
func TestEditorDoesNotAnswer(t *testing.T) {
	t.Parallel()
	read := `{"calls":[{"name":"read","input":{"path":"a.txt"}}]}`
	b, model := newWorkdir(t, read, read, `{"text":"Done."}`, read, `{"text":"Done."}`)
	b.Write(t, "a.txt", "on the disk\n")
	e := start(t, b, "--model", model)
	end := make(chan struct{})
	defer close(end)
	e.hand = func(string) (string, error) { <-end; return "late", nil }
	id := e.session(b.Dir)
	e.prompt(id, sdk.TextBlock("go"))
	got := results(t, b, id)
	if !strings.Contains(got["call_1_1"], "did not answer within 10s") || !strings.Contains(got["call_2_1"], "did not answer before") {
		t.Errorf("read %q, then %q", got["call_1_1"], got["call_2_1"])
	}
	e.mu.Lock()
	e.hand = nil
	e.mu.Unlock()
	e.prompt(id, sdk.TextBlock("again"))
	path := filepath.Join(b.Dir, "a.txt")
	if diff := cmp.Diff([]string{path, path}, e.asked()); diff != "" {
		t.Errorf("asked for (-want):\n%s", diff)
	}
}
