package tool

import (
	"context"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/sqlite"
	"github.com/pawl-dev/pawl/internal/store/sqlite/sqlitetest"
	"github.com/pawl-dev/pawl/internal/tool/lsp"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/workspace"
)

var update = flag.Bool("update", false, "write the golden files anew")

const session pawl.SessionID = "01JD0000000000000000000000"

// directory makes a workspace. A name that ends in / is a directory; a text that
// begins with -> is a link.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		to, link := strings.CutPrefix(text, "->")
		switch {
		case err != nil:
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		case link:
			err = os.Symlink(to, path)
		default:
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// files is what the workspace holds.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		found[strings.TrimPrefix(path, dir+"/")] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func call(dir, input string) toolapi.Call {
	return toolapi.Call{
		Session: session, Turn: 1, ID: "c", Input: json.RawMessage(input), Dir: dir, Progress: func(string) {}, Caller: &fakeSession{dir: dir},
	}
}

// fakeSession is a session without a log. Unless configured otherwise, the
// model knows every file as it is.
type fakeSession struct {
	toolapi.Session
	dir    string
	seen   map[string]string
	answer pawl.Answer

	asked pawl.Ask
	todos []pawl.Todo
	mode  string
}

func (d *fakeSession) Seen(path string) string {
	if d.seen != nil {
		return d.seen[path]
	}
	data, err := os.ReadFile(filepath.Join(d.dir, path))
	if err != nil {
		return ""
	}
	return workspace.Hash(data)
}

func (d *fakeSession) Todos() []pawl.Todo { return d.todos }

func (d *fakeSession) SetTodos(_ context.Context, _ pawl.CallID, todos []pawl.Todo) error {
	d.todos = todos
	return nil
}

func (d *fakeSession) SetMode(_ context.Context, _ pawl.CallID, mode string) error {
	d.mode = mode
	return nil
}

// Ask answers as it was instructed to; without that, it waits for the end of ctx.
func (d *fakeSession) Ask(ctx context.Context, _ pawl.CallID, a pawl.Ask) (pawl.Answer, error) {
	d.asked = a
	if d.answer.Outcome == "" {
		<-ctx.Done()
		return pawl.Answer{}, ctx.Err()
	}
	return d.answer, nil
}

// Spawn waits for the end of ctx: what happens to children is the service's suite.
func (d *fakeSession) Spawn(ctx context.Context, _ pawl.CallID, _ toolapi.SubagentTask) (toolapi.Subagent, error) {
	<-ctx.Done()
	return toolapi.Subagent{}, ctx.Err()
}

// try does what the agent does: it asks for the access first. An error is what the model would read.
func try(ctx context.Context, tool toolapi.Tool, c toolapi.Call) (pawl.Result, error) {
	if _, err := tool.Access(ctx, c); err != nil {
		return pawl.Result{}, err
	}
	return tool.Run(ctx, c)
}

// input spells a call's input.
func input(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

type fields map[string]any

// checkError fails the test unless err says want; "" means no error.
func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" && err != nil {
		t.Fatal(err)
	}
	if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Fatalf("got the error %v, want %q", err, want)
	}
}

// openStore returns a store that holds the session.
func openStore(t *testing.T) *sqlite.Store {
	t.Helper()
	st := sqlitetest.Open(t)
	if _, err := st.Append(t.Context(), session, 0, pawl.Event{Body: pawl.SessionCreated{Dir: "/project"}}); err != nil {
		t.Fatal(err)
	}
	return st
}

// builtin returns the tools that pawl brings.
func builtin(t *testing.T) *Registry {
	t.Helper()
	r, err := Builtin(Config{Jobs: NewJobs(nil, Unsandboxed{}), Faults: &lsp.Servers{Path: "/nowhere"}}) // blobs are for TestReadBlob
	if err != nil {
		t.Fatal(err)
	}
	return r
}
