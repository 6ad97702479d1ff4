//go:build bench

package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/client"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// serving is a 'pawl serve' of its own process, on a socket.
type serving struct {
	*client.Client
	cmd    *exec.Cmd
	socket string
	dir    string
}

func startServing(t *testing.T) *serving {
	t.Helper()
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	run, err := os.MkdirTemp("", "pawl-serve-") // a short path: it is a socket's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	s := &serving{socket: filepath.Join(run, "s"), dir: b.Dir, cmd: b.Command("serve", "--listen", "unix:"+filepath.Join(run, "s"), "--log", "none")}
	said, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		_ = s.cmd.Wait()
	})
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil || !strings.Contains(line, "pawl: listening on") {
		t.Fatalf("pawl serve says %q: %v", line, err)
	}
	if s.Client, err = client.New(client.Config{URL: "unix://" + s.socket}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// memory reads a line of the process's status, in bytes.
func (s *serving) memory(t *testing.T, name string) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Fatalf("no %s", name)
	return 0
}

// cpu is what the process has used so far.
func (s *serving) cpu(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	var ticks int64
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100
}

// create makes a session.
func (s *serving) create(t *testing.T) pawl.SessionID {
	t.Helper()
	row, err := s.Create(t.Context(), pawl.NewSession{Dir: s.dir})
	if err != nil {
		t.Fatal(err)
	}
	return row.ID
}

// begin gives a session work.
func (s *serving) begin(t *testing.T, id pawl.SessionID, model string) {
	t.Helper()
	p := pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: model, Mode: "yolo"}}
	if _, err := s.Send(t.Context(), id, p); err != nil {
		t.Fatal(err)
	}
}

// watcher is a client that reads a stream and counts, and does little else.
type watcher struct {
	last   pawl.Seq
	events int // all of them
	late   []time.Duration
	cuts   int // how often it had to come again
	joined func()
	stall  func()
}

var errDone = errors.New("the turn has ended")

// watch reads the session's events until its turn ends.
func (w *watcher) watch(ctx context.Context, socket string, id pawl.SessionID) error {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	defer transport.CloseIdleConnections()
	for ctx.Err() == nil {
		err := w.connect(ctx, transport, id)
		if errors.Is(err, errDone) {
			return nil
		}
		if err != nil {
			return err
		}
		w.cuts++
	}
	return ctx.Err()
}

func (w *watcher) connect(ctx context.Context, transport http.RoundTripper, id pawl.SessionID) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://pawl/v1/sessions/%s/events", id), nil)
	if err != nil {
		return err
	}
	r.Header.Set("Last-Event-Id", strconv.FormatInt(int64(w.last), 10))
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return w.read(resp.Body)
}

// read reads one stream to its end. Each event of the log is to be the next one.
func (w *watcher) read(body io.Reader) error {
	lines := bufio.NewReaderSize(body, 64<<10)
	durable := false
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return nil //nolint:nilerr // it was cut off, and comes again
		}
		if id, ok := bytes.CutPrefix(line, []byte("id: ")); ok {
			seq, err := strconv.ParseInt(string(bytes.TrimSpace(id)), 10, 64)
			if err != nil || pawl.Seq(seq) != w.last+1 {
				return fmt.Errorf("event %s after %d: %w", id, w.last, err)
			}
			w.last, durable = pawl.Seq(seq), true
			continue
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		w.events++
		if durable {
			w.note(data)
		}
		durable = false
		if w.joined != nil {
			w.joined()
			w.joined = nil
		}
		if bytes.Contains(data[:min(len(data), 300)], []byte(`"type":"turn.finished"`)) {
			return errDone
		}
		if w.stall != nil {
			w.stall()
			w.stall = nil
		}
	}
}

// note takes the time from the event's own to now.
func (w *watcher) note(data []byte) {
	_, rest, ok := bytes.Cut(data[:min(len(data), 300)], []byte(`"at":"`))
	text, _, closed := bytes.Cut(rest, []byte(`"`))
	at, err := time.Parse(time.RFC3339Nano, string(text))
	if ok && closed && err == nil && w.cuts == 0 && w.last > 1 {
		w.late = append(w.late, time.Since(at))
	}
}

// percentile of all that the watchers noted.
func percentile(late []time.Duration, p int) time.Duration {
	if len(late) == 0 {
		return 0
	}
	return late[min(len(late)-1, len(late)*p/100)]
}

// summary is what many watchers saw.
type summary struct {
	events, durable, cuts int
	late                  []time.Duration
}

func sum(watchers []*watcher) (s summary) {
	for _, w := range watchers {
		s.events += w.events
		s.durable += int(w.last)
		s.cuts += w.cuts
		s.late = append(s.late, w.late...)
	}
	slices.Sort(s.late)
	return s
}

// busyScript writes a script whose replies come in many pieces, with results of
// some size.
func busyScript(t *testing.T, dir string, steps, deltas int) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "page.txt"), []byte(strings.Repeat("a line of forty characters, more or less\n", 200)), 0o600); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for i := 1; i < steps; i++ {
		fmt.Fprintf(&text, `{"text":%q,"deltas":%d,"delay_ms":1,"calls":[{"name":"read","input":{"path":"page.txt","limit":%d}}]}`+"\n", strings.Repeat("word ", deltas), deltas, 199-i)
	}
	text.WriteString(`{"text":"done"}` + "\n")
	path := filepath.Join(dir, fmt.Sprintf("busy%d.jsonl", steps))
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return "script:" + path
}
