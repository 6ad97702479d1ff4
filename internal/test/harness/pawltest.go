// Package harness runs the real program in tests: it builds the binary and gives each
// test its own working directory and store.
package harness

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/backend"
)

// Stores creates the stores that whole-program tests run on, by name. Each function
// creates an empty store and returns its PAWL_STORE.
var Stores = map[string]func(testing.TB) string{
	"sqlite":   func(t testing.TB) string { return filepath.Join(t.TempDir(), "pawl.db") },
	"postgres": newDatabase,
}

// Postgres returns the URL of the test server.
func Postgres() string {
	if url := os.Getenv("PAWL_TEST_POSTGRES"); url != "" {
		return url
	}
	return "postgres://pawl@127.0.0.1:54330/pawl_test?sslmode=disable"
}

// newDatabase creates a database, which is dropped when the test ends.
func newDatabase(t testing.TB) string {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, Postgres())
	if err != nil {
		t.Fatalf("no PostgreSQL: start it with `make services`: %v", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	name := "pawl_" + strings.ToLower(rand.Text())
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn, err := pgx.Connect(ctx, Postgres())
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close(ctx) }()
		if err := drop(ctx, conn, name); err != nil {
			t.Error(err)
		}
	})
	return strings.Replace(Postgres(), "/pawl_test", "/"+name, 1)
}

// drop drops a database. It retries while the server itself is cleaning up, which
// makes it fail.
func drop(ctx context.Context, conn *pgx.Conn, name string) (err error) {
	for range 100 {
		if _, err = conn.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond) // the server does not notify us when it is done
	}
	return err
}

// Workdir is a working directory with a store.
type Workdir struct {
	Bin string
	Dir string
	Env []string
}

// NewWorkdir returns a new Workdir on the given store. Its data directory has a short
// name, since it contains sockets.
func NewWorkdir(t testing.TB, bin, store string) *Workdir {
	t.Helper()
	data, err := os.MkdirTemp("", "pawl-data-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(data) })
	return &Workdir{Bin: bin, Dir: t.TempDir(), Env: append(os.Environ(), "PAWL_STORE="+store, "PAWL_DATA="+data)}
}

// Write writes a file in the directory.
func (b *Workdir) Write(t testing.TB, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.Dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Read returns the content of a file in the directory, "" if it does not exist.
func (b *Workdir) Read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(b.Dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}

// Output is the result of a run of pawl.
type Output struct {
	Stdout, Stderr string
	Code           int // -1 if a signal ended it
}

// Command returns a command that runs pawl, not yet started.
func (b *Workdir) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(b.Bin, args...) //nolint:gosec // the program under test
	cmd.Dir, cmd.Env = b.Dir, b.Env
	return cmd
}

// Run runs pawl and waits for it.
func (b *Workdir) Run(t testing.TB, args ...string) Output {
	t.Helper()
	return Wait(t, b.Command(args...))
}

// Wait runs the command and waits for it.
func Wait(t testing.TB, cmd *exec.Cmd) Output {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return Output{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// Must runs pawl and fails the test unless it succeeds.
func (b *Workdir) Must(t testing.TB, args ...string) Output {
	t.Helper()
	out := b.Run(t, args...)
	if out.Code != 0 {
		t.Fatalf("pawl %s: exit %d\n%s%s", strings.Join(args, " "), out.Code, out.Stdout, out.Stderr)
	}
	return out
}

// Sessions returns the sessions of the directory, latest first. It reads the store,
// which is faster than running pawl.
func (b *Workdir) Sessions(t testing.TB) (list []pawl.Session) {
	t.Helper()
	b.read(t, func(ctx context.Context, st store.Store) error {
		page, err := st.Sessions(ctx, pawl.Filter{Dir: b.Dir})
		list = page.Sessions
		return err
	})
	return list
}

// Export returns a session's events.
func (b *Workdir) Export(t testing.TB, id string) (events []pawl.Event) {
	t.Helper()
	b.read(t, func(ctx context.Context, st store.Store) error {
		for e, err := range st.Events(ctx, pawl.SessionID(id), 0) {
			if err != nil {
				return err
			}
			events = append(events, e)
		}
		return nil
	})
	return events
}

// read opens the store, calls f and closes it.
func (b *Workdir) read(t testing.TB, f func(ctx context.Context, st store.Store) error) {
	t.Helper()
	ref := ""
	for _, entry := range b.Env { // the last entry wins
		if value, ok := strings.CutPrefix(entry, "PAWL_STORE="); ok {
			ref = value
		}
	}
	ctx := context.WithoutCancel(t.Context())
	st, err := backend.Open(ctx, ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f(ctx, st), st.Close()); err != nil {
		t.Fatal(err)
	}
}

// Conversation returns the messages of a log and fails the test if the log is
// invalid.
func Conversation(t testing.TB, events []pawl.Event) []pawl.Message {
	t.Helper()
	messages, err := pawl.Conversation(events)
	if err != nil {
		t.Fatal(err)
	}
	return messages
}
