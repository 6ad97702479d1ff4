package redact_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/redact"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/sqlite"
	"github.com/pawl-dev/pawl/internal/store/storetest"
)

const (
	envKey   = "env-key.5b1f9c3e7d"
	fileKey  = `file"key\5b1f9c3e7d`
	gitToken = "ghp_" + "a8Kd93jQz0LmP4vXyW7bR2tU6nHsE1cG5iFo"
)

func held() *redact.Redactor {
	r := &redact.Redactor{}
	r.AddEnv([]string{"ANTHROPIC_API_KEY=" + envKey})
	r.Add("openai key", fileKey)
	return r
}

func openStore(t *testing.T, dir string) store.Store {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(dir, "pawl.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return redact.NewStore(st, held())
}

// TestStore: it is a store like any other.
func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Store { return openStore(t, t.TempDir()) })
}

// bodies hold the secrets in every place where a text can be.
func bodies(secret string) []pawl.Body {
	input, err := json.Marshal(map[string]string{"command": "echo " + secret})
	if err != nil {
		panic(err)
	}
	escaped := json.RawMessage(`{"command":"` + escapeAll(secret) + `"}`)
	text := "before " + secret + " after"
	return []pawl.Body{
		pawl.SessionCreated{Dir: "/w"},
		pawl.SessionTitled{Title: text},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: text}, pawl.File{Name: "a.txt", MediaType: "text/plain", Data: []byte(text)}}},
		pawl.TurnStarted{Prompt: 3},
		pawl.ReplyStarted{Step: 1, Model: "m"},
		pawl.Retried{Step: 1, Retry: pawl.Retry{Attempt: 1, Model: "m", Kind: pawl.ErrorOverloaded, Message: text}},
		pawl.Replied{Step: 1, Model: "m", Finish: pawl.FinishToolUse, Parts: pawl.Parts{
			pawl.Reasoning{Text: text}, pawl.Text{Text: text},
			pawl.ToolCall{ID: "c1", Name: "bash", Input: input}, pawl.ToolCall{ID: "c2", Name: "bash", Input: escaped},
		}},
		pawl.CallStarted{Call: "c1", Tool: "bash", Access: []pawl.Access{{Kind: pawl.AccessExec, Target: text}}},
		pawl.CallFinished{Call: "c1", Status: pawl.CallDone, Result: pawl.Result{
			Content: text, Meta: map[string]string{"a": text}, Files: []pawl.File{{Name: "b", MediaType: "text/plain", Data: []byte(text)}},
			Display: pawl.Parts{pawl.Patch{Path: "a", Diff: "+" + text}, pawl.File{Name: "c", MediaType: "text/plain", Data: []byte(text)}},
		}},
		pawl.TurnFinished{Reason: pawl.ReasonError, Fault: pawl.FaultModel, Message: text},
	}
}

// escapeAll writes each character as JSON may: by its number.
func escapeAll(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteString(`\u00`)
		b.WriteString(strings.ToUpper(string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15])))
	}
	return b.String()
}

// TestNothingKept: no key that pawl holds is in the database, its log, the
// drafts, the blobs, or what the writer goes on with. Row H12.
func TestNothingKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := openStore(t, dir)
	ctx, id := t.Context(), storetest.NewID()
	head := pawl.Seq(0)
	for _, secret := range []string{envKey, fileKey} {
		for _, b := range bodies(secret)[min(int(head), 1):] {
			stored, err := st.Append(ctx, id, head, pawl.Event{At: time.Now(), Body: b})
			if err != nil {
				t.Fatalf("append %s: %v", pawl.KindOf(b), err)
			}
			head = stored[0].Seq
			clean(t, "what Append returns", encoded(t, stored))
		}
		for _, cut := range []int{0, 4} {
			text := "draft " + secret[:len(secret)-cut]
			if err := st.SaveDraft(ctx, id, pawl.Draft{Reply: 5, Text: text, Reasoning: text}); err != nil {
				t.Fatal(err)
			}
			draft, err := st.Draft(ctx, id)
			if err != nil || draft.Text != draft.Reasoning || strings.Contains(draft.Text, secret[:8]) || !strings.HasPrefix(draft.Text, "draft [redacted") {
				t.Errorf("draft %+v, %v", draft, err)
			}
		}
		blob, err := st.PutBlob(ctx, id, io.MultiReader(strings.NewReader(strings.Repeat("x", 40_000)+secret[:5]), strings.NewReader(secret[5:]+"y")))
		if err != nil {
			t.Fatal(err)
		}
		in, err := st.OpenBlob(ctx, id, blob.ID)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err := errorsOf(err, in.Close()); err != nil || !bytes.HasSuffix(data, []byte(" key]y")) && !bytes.HasSuffix(data, []byte("KEY]y")) || int64(len(data)) != blob.Size {
			t.Errorf("blob of %d bytes, %v: …%s", blob.Size, err, data[max(0, len(data)-40):])
		}
	}
	for e, err := range st.Events(ctx, id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		clean(t, "the log", encoded(t, []pawl.Event{e}))
	}
	row, err := st.Session(ctx, id)
	if err != nil || !strings.Contains(row.Title, "[redacted: openai key]") {
		t.Errorf("row %+v, %v", row, err)
	}
	files := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files++
		clean(t, path, string(data))
		return err
	})
	if err != nil || files < 4 { // the database, its log and the two blobs
		t.Errorf("%d files, %v", files, err)
	}
}

func errorsOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// clean fails if a key is in a text, as it is or as JSON has it.
func clean(t *testing.T, where, text string) {
	t.Helper()
	for _, secret := range []string{envKey, fileKey, "5b1f9c3e7d", escapeAll("5b1f9c3e7d"), "NWIxZjljM2U3Z", "ViMWY5YzNlN2", "1YjFmOWMzZTdk"} { // in base64, in its three ways
		if strings.Contains(text, secret) {
			t.Errorf("%s holds %q", where, secret)
		}
	}
}

func encoded(t *testing.T, events []pawl.Event) string {
	t.Helper()
	text, err := json.Marshal(events)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestResult: what a tool gives back has no credential in it, whoever it belongs to.
func TestResult(t *testing.T) {
	t.Parallel()
	text := "token " + gitToken + " key " + envKey
	masked := "token [redacted: github token] key [redacted: ANTHROPIC_API_KEY]"
	blob := &pawl.Blob{ID: "ab", Size: 9}
	in := pawl.Result{
		Content: text, Files: []pawl.File{{Name: "a", MediaType: "text/plain", Data: []byte(text)}, {Name: "b", Data: []byte("\xff" + text)}},
		Meta: map[string]string{"a": text}, IsError: true, Full: blob, Seen: map[string]string{"a": "b"},
		Display: pawl.Parts{
			pawl.Text{Text: text}, pawl.Reasoning{Text: text, Signature: "s"}, pawl.Patch{Path: "a", Diff: text}, pawl.File{Name: "a", Data: []byte(text)},
			pawl.ToolCall{ID: "c", Input: json.RawMessage(`{"a":"` + text + `"}`)}, pawl.ToolResult{Call: "c", Content: text},
		},
	}
	before := encodedResult(t, in)
	want := pawl.Result{
		Content: masked, Files: []pawl.File{{Name: "a", MediaType: "text/plain", Data: []byte(masked)}, {Name: "b", Data: []byte("\xff" + text)}},
		Meta: map[string]string{"a": masked}, IsError: true, Full: blob, Seen: map[string]string{"a": "b"},
		Display: pawl.Parts{
			pawl.Text{Text: masked}, pawl.Reasoning{Text: masked, Signature: "s"}, pawl.Patch{Path: "a", Diff: masked}, pawl.File{Name: "a", Data: []byte(masked)},
			pawl.ToolCall{ID: "c", Input: json.RawMessage(`{"a":"` + masked + `"}`)}, pawl.ToolResult{Call: "c", Content: masked},
		},
	}
	if diff := cmp.Diff(want, held().Result(in)); diff != "" {
		t.Error(diff)
	}
	if encodedResult(t, in) != before {
		t.Error("the tool's own result was changed")
	}
	if diff := cmp.Diff(pawl.Result{Content: "a"}, (*redact.Redactor)(nil).Result(pawl.Result{Content: "a"})); diff != "" {
		t.Error(diff)
	}
}

func encodedResult(t *testing.T, r pawl.Result) string {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestBlobs: what tools put aside is masked by its shape as well.
func TestBlobs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := openStore(t, dir)
	id := storetest.NewID()
	if _, err := st.Append(t.Context(), id, 0, pawl.Event{At: time.Now(), Body: pawl.SessionCreated{Dir: "/w"}}); err != nil {
		t.Fatal(err)
	}
	blobs := held().Blobs(st)
	blob, err := blobs.PutBlob(t.Context(), id, strings.NewReader(gitToken+" "+envKey))
	if err != nil {
		t.Fatal(err)
	}
	in, err := blobs.OpenBlob(t.Context(), id, blob.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if got, err := io.ReadAll(in); string(got) != "[redacted: github token] [redacted: ANTHROPIC_API_KEY]" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestBegin: a session that begins with its blobs holds no key either.
func TestBegin(t *testing.T) {
	t.Parallel()
	st := redact.NewStore(openStore(t, t.TempDir()), held())
	id := storetest.NewID()
	blobs := func(yield func(io.Reader, error) bool) { yield(strings.NewReader("with "+envKey), nil) }
	at := time.Now()
	_, err := st.Begin(t.Context(), id, blobs, pawl.Event{At: at, Body: pawl.SessionCreated{Dir: "/w"}}, pawl.Event{At: at, Body: pawl.SessionTitled{Title: "on " + envKey}})
	if err != nil {
		t.Fatal(err)
	}
	row, err := st.Session(t.Context(), id)
	if err != nil || row.Title != "on [redacted: ANTHROPIC_API_KEY]" {
		t.Errorf("row %+v, %v", row, err)
	}
	sum := sha256.Sum256([]byte("with [redacted: ANTHROPIC_API_KEY]"))
	in, err := st.OpenBlob(t.Context(), id, hex.EncodeToString(sum[:]))
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
}

// TestEvent: who gets an export gets no credential, and can import it.
func TestEvent(t *testing.T) {
	t.Parallel()
	for _, b := range bodies(gitToken + " and " + envKey) {
		e, err := held().Event(pawl.Event{Session: storetest.NewID(), Seq: 1, Body: b})
		if err != nil {
			t.Fatalf("%s: %v", pawl.KindOf(b), err)
		}
		text := encoded(t, []pawl.Event{e})
		clean(t, string(pawl.KindOf(b)), text)
		if strings.Contains(text, gitToken[4:]) {
			t.Errorf("%s: the token is in %s", pawl.KindOf(b), text)
		}
		var back []pawl.Event
		if err := json.Unmarshal([]byte(text), &back); err != nil {
			t.Errorf("%s: %v", pawl.KindOf(b), err)
		}
	}
}
