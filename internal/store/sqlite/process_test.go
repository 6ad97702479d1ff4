package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/sqlite"
	"github.com/pawl-dev/pawl/internal/store/storetest"
)

// writerEnv is an environment variable. If it is set, the test program writes to the
// file that it names instead of running tests: a second process that can be killed.
const writerEnv = "PAWL_TEST_SQLITE_WRITER"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerEnv); path != "" {
		if err := writeEvents(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// writerEvents is the number of events that the process writes unless it is killed.
const writerEvents = 240

// writeEvents is the main function of the second process. It appends to a session of its own
// and prints each Seq once it is appended. It reopens the store now and then, as
// short commands do.
func writeEvents(path string) error {
	id, head := storetest.NewID(), pawl.Seq(0)
	fmt.Println(id)
	for head < writerEvents {
		s, err := sqlite.Open(context.Background(), path)
		if err != nil {
			return err
		}
		for range writerEvents / 8 {
			if err := appendNext(s, id, &head); err != nil {
				return err
			}
			fmt.Println(head)
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

// appendNext appends an event of a few hundred bytes at *head, and increments it.
func appendNext(s *sqlite.Store, id pawl.SessionID, head *pawl.Seq) error {
	e := pawl.Event{At: time.Now(), Body: pawl.CallFinished{Result: pawl.Result{Content: strings.Repeat("x", 300)}}}
	if *head == 0 {
		e.Body = pawl.SessionCreated{Dir: "/w"}
	}
	if _, err := s.Append(context.Background(), id, *head, e); err != nil {
		return err
	}
	*head++
	return nil
}

// process is a running second process.
type process struct {
	*exec.Cmd
	out    *bufio.Scanner
	errors bytes.Buffer
}

func start(t *testing.T, path string) *process {
	t.Helper()
	p := &process{Cmd: exec.CommandContext(t.Context(), os.Args[0])}
	p.Env = append(os.Environ(), writerEnv+"="+path)
	p.Stderr = &p.errors
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// wait reads the output of the process until it ends, or kills it after n lines, and
// returns its session and the last Seq that it has printed.
func (p *process) wait(t *testing.T, n int) (id pawl.SessionID, head pawl.Seq) {
	t.Helper()
	for i := 0; p.out.Scan(); i++ {
		if i == 0 {
			id = pawl.SessionID(p.out.Text())
			continue
		}
		if _, err := fmt.Sscan(p.out.Text(), &head); err != nil {
			t.Fatal(err)
		}
		if i == n {
			if err := p.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := p.Wait(); err != nil && n == 0 {
		t.Fatalf("writer: %v: %s", err, p.errors.Bytes())
	}
	return id, head
}

// whole checks that the file is intact and that its logs have no gaps, and returns
// their lengths.
func whole(t *testing.T, path string) map[pawl.SessionID]pawl.Seq {
	t.Helper()
	s := open(t, path)
	var verdict string
	if err := s.Conn().QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Fatalf("integrity check: %s, %v", verdict, err)
	}
	rows, err := s.Sessions(t.Context(), pawl.Filter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	heads := map[pawl.SessionID]pawl.Seq{}
	for _, row := range rows.Sessions {
		for e, err := range s.Events(t.Context(), row.ID, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if heads[row.ID]++; e.Seq != heads[row.ID] {
				t.Fatalf("event %d stands at %d", e.Seq, heads[row.ID])
			}
		}
		if heads[row.ID] != row.Head {
			t.Fatalf("the row says %d events, the log has %d", row.Head, heads[row.ID])
		}
	}
	return heads
}

func TestProcessesShareAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pawl.db") // does not exist yet
	var writers []*process
	for range 3 {
		writers = append(writers, start(t, path))
	}
	for _, p := range writers {
		if _, head := p.wait(t, 0); head != writerEvents {
			t.Errorf("a writer wrote %d events, want %d", head, writerEvents)
		}
	}
	if heads := whole(t, path); len(heads) != len(writers) {
		t.Errorf("%d sessions, want %d", len(heads), len(writers))
	}
}

// TestKill kills a process repeatedly while it writes, and checks that everything it
// has reported as appended exists, and that the append in progress exists completely
// or not at all.
func TestKill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pawl.db")
	for _, lines := range []int{1, 2, 7, 29, 31, 120} {
		id, seen := start(t, path).wait(t, lines)
		if head := whole(t, path)[id]; head < seen {
			t.Fatalf("%d events were appended, %d are there", seen, head)
		}
	}
}

// TestCopy copies the file and its write-ahead log with a plain cp while others
// write. Such a copy is intact unless the log was restarted in between, which its
// header shows; only then must the copy be repeated.
func TestCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "pawl.db")
	ctx, cancel := context.WithCancel(t.Context())
	written, done := make(chan pawl.Seq, 1), make(chan error, 1)
	s := open(t, path)
	go func() {
		id, head := storetest.NewID(), pawl.Seq(0)
		for ctx.Err() == nil {
			if err := appendNext(s, id, &head); err != nil {
				done <- err
				return
			}
			select {
			case written <- head:
			default:
			}
		}
		done <- nil
	}()
	copies := 0
	for try := 0; copies < 5 && try < 200; try++ {
		<-written
		<-written // the write-ahead log is not empty
		before := walHeader(t, path)
		to := filepath.Join(dir, fmt.Sprint("copy", try))
		if out, err := exec.Command("sh", "-c", `mkdir "$2" && cp "$1" "$2" && cp "$1-wal" "$2"`, "sh", path, to).CombinedOutput(); err != nil {
			t.Fatalf("cp: %v: %s", err, out)
		}
		copied := filepath.Join(to, "pawl.db")
		if walHeader(t, copied) == before {
			whole(t, copied)
			copies++
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if copies < 5 {
		t.Fatalf("only %d copies were not crossed by a new log", copies)
	}
	whole(t, path)
}

// walHeader returns the header of the write-ahead log, which gets new salts whenever
// the log restarts.
func walHeader(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path + "-wal") // no locks are on this file that closing it could drop
	if err != nil {
		t.Fatal(err)
	}
	return string(data[:min(len(data), 32)])
}
