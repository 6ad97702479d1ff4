//go:build crashtest

package crash

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/client"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

const (
	serveTime  = 2 * time.Minute // bounds a test
	serveSteps = 12
	watchers   = 4
)

// host is where servers run: processes on one store, each with a socket.
type host struct {
	*testing.T
	env *harness.Workdir
	run string // the sockets' directory
}

func newHost(t *testing.T, store string) *host {
	t.Helper()
	run, err := os.MkdirTemp("", "pawl-serve-") // a short path: it is a socket's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	return &host{T: t, env: harness.NewWorkdir(t, harness.Binary(t, "crashtest"), store), run: run}
}

// serve starts 'pawl serve' on a socket and returns when it listens.
func (h *host) serve(socket string, flags ...string) *exec.Cmd {
	h.Helper()
	cmd := h.env.Command(append([]string{"serve", "--listen", "unix:" + filepath.Join(h.run, socket), "--log", "none"}, flags...)...)
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewReader(said)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "pawl: listening on") {
		h.Fatalf("pawl serve says %q: %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return cmd
}

// kill ends a server as kill -9 does.
func (h *host) kill(cmd *exec.Cmd) {
	h.Helper()
	if err := cmd.Process.Kill(); err != nil {
		h.Fatal(err)
	}
	_ = cmd.Wait()
}

// client asks the servers on these sockets.
func (h *host) client(sockets ...string) *client.Client {
	h.Helper()
	var urls []string
	for _, s := range sockets {
		urls = append(urls, "unix://"+filepath.Join(h.run, s))
	}
	c, err := client.New(client.Config{URL: urls[0], Others: urls[1:]})
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(c.Close)
	return c
}

// begin makes a session and gives it a script.
func (h *host) begin(c *client.Client, lines ...string) pawl.SessionID {
	h.Helper()
	h.env.Write(h, "serve.jsonl", strings.Join(lines, "\n")+"\n")
	s, err := c.Create(h.Context(), pawl.NewSession{Dir: h.env.Dir})
	if err == nil {
		_, err = c.Send(h.Context(), s.ID, pawl.Prompt{
			Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Mode: "yolo", Model: "script:" + filepath.Join(h.env.Dir, "serve.jsonl")},
		})
	}
	if err != nil {
		h.Fatal(err)
	}
	return s.ID
}

// serveScript appends a line to a file with each step.
func serveScript() (lines []string) {
	for i := 1; i < serveSteps; i++ {
		lines = append(lines, fmt.Sprintf(`{"text":"step %d","deltas":20,"delay_ms":1,"calls":[{"name":"bash","input":{"command":"echo step %d >> out.txt; sleep 0.02"}}]}`, i, i))
	}
	return append(lines, `{"text":"all steps are done"}`)
}

// seen is what one who watches was shown.
type seen struct {
	events []pawl.Event // of the log
	err    error
}

// watch reads the session's events until its turn ends; each is passed to saw.
func (h *host) watch(wg *sync.WaitGroup, c *client.Client, id pawl.SessionID, saw func(pawl.Event)) *seen {
	s := &seen{}
	wg.Go(func() {
		ctx, cancel := context.WithTimeout(h.Context(), serveTime)
		defer cancel()
		for e, err := range c.Events(ctx, id, 0) {
			if err != nil {
				s.err = err
				return
			}
			if e.Seq == 0 {
				continue
			}
			s.events = append(s.events, e)
			saw(e)
			if _, ok := e.Body.(pawl.TurnFinished); ok {
				return
			}
		}
		s.err = errors.New("the turn did not end")
	})
	return s
}

// whole checks that one was shown the log, each event once, to a good end.
func (h *host) whole(s *seen, c *client.Client, id pawl.SessionID) {
	h.Helper()
	if s.err != nil {
		h.Errorf("one who watches: %v", s.err)
		return
	}
	for i, e := range s.events {
		if e.Seq != pawl.Seq(i+1) {
			h.Fatalf("event %d comes as the %d.", e.Seq, i+1)
		}
	}
	harness.Conversation(h, s.events)
	last := s.events[len(s.events)-1]
	if f, ok := last.Body.(pawl.TurnFinished); !ok || f.Reason != pawl.ReasonEndTurn {
		h.Errorf("it ended with %+v", last.Body)
	}
	if row, err := c.Get(h.Context(), id); err != nil || row.Head < last.Seq || row.TurnOpen {
		h.Errorf("the session is %+v: %v", row, err)
	}
}

// lines checks the file that the steps wrote: none twice, in order, and none
// missing but those whose outcome is unknown.
func (h *host) lines(s *seen) {
	h.Helper()
	unknown := map[pawl.CallID]bool{}
	for _, e := range s.events {
		if f, ok := e.Body.(pawl.CallFinished); ok && f.Status == pawl.CallUnknown {
			unknown[f.Call] = true
		}
	}
	var want strings.Builder
	got := h.env.Read(h, "out.txt")
	for i := 1; i < serveSteps; i++ {
		line := fmt.Sprintf("step %d\n", i)
		if !unknown[pawl.CallID(fmt.Sprintf("call_%d_1", i))] || strings.Contains(got, line) {
			want.WriteString(line)
		}
	}
	if got != want.String() {
		h.Errorf("out.txt is %q, want %q; unknown: %v", got, want.String(), unknown)
	}
}

// TestServeIsKilled kills the server three times in one turn and starts it again
// on the same socket. Those who watch see the turn whole, without doing anything.
func TestServeIsKilled(t *testing.T) {
	t.Parallel()
	h := newHost(t, harness.Stores["sqlite"](t))
	up := h.serve("a")
	c := h.client("a")
	id := h.begin(c, serveScript()...)
	calls := make(chan int, 2*serveSteps)
	var wg sync.WaitGroup
	n := 0
	all := []*seen{h.watch(&wg, c, id, func(e pawl.Event) {
		if _, ok := e.Body.(pawl.CallStarted); ok {
			n++
			calls <- n
		}
	})}
	for range watchers - 1 {
		all = append(all, h.watch(&wg, h.client("a"), id, func(pawl.Event) {}))
	}
	for _, at := range []int{2, 5, 9} {
		for <-calls < at {
		}
		h.kill(up)
		up = h.serve("a")
	}
	wg.Wait()
	for _, s := range all {
		h.whole(s, c, id)
	}
	h.lines(all[0])
	t.Logf("3 kills, %d clients that saw %d events each", watchers, len(all[0].events))
}

// TestServeGoesOnElsewhere kills one of two servers on a store. The other goes on
// with its sessions, and those who watch come to it.
func TestServeGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	for name, store := range harness.Stores {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, store(t))
			first := h.serve("a")
			h.serve("b")
			c := h.client("a", "b")
			id := h.begin(c, serveScript()...)
			started := make(chan struct{}, 2*serveSteps)
			var wg sync.WaitGroup
			all := []*seen{h.watch(&wg, c, id, func(e pawl.Event) {
				if _, ok := e.Body.(pawl.CallStarted); ok {
					started <- struct{}{}
				}
			})}
			all = append(all, h.watch(&wg, h.client("b"), id, func(pawl.Event) {})) // at the other from the first
			<-started
			<-started
			h.kill(first)
			began := time.Now()
			<-started
			t.Logf("the other server went on after %.1f s", time.Since(began).Seconds())
			wg.Wait()
			for _, s := range all {
				h.whole(s, c, id)
			}
			h.lines(all[0])
		})
	}
}

// gated is a script whose call waits for a file.
var gated = []string{`{"calls":[{"name":"bash","input":{"command":"until [ -e go ]; do sleep 0.01; done; echo went >> out.txt"}}]}`, `{"text":"done"}`}

// TestServeDrains: a server that is instructed to end takes no new work, and lets the
// turn that runs finish; those who watch see its end.
func TestServeDrains(t *testing.T) {
	t.Parallel()
	h := newHost(t, harness.Stores["sqlite"](t))
	up := h.serve("a", "--drain", "1m")
	c := h.client("a")
	id := h.begin(c, gated...)
	started := make(chan struct{}, 1)
	var wg sync.WaitGroup
	s := h.watch(&wg, c, id, func(e pawl.Event) {
		if _, ok := e.Body.(pawl.CallStarted); ok {
			started <- struct{}{}
		}
	})
	<-started
	if err := up.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "it drains", func() bool { return c.Ready(t.Context()) != nil })
	if _, err := c.Create(t.Context(), pawl.NewSession{Dir: h.env.Dir}); !errors.Is(err, pawl.ErrUnavailable) {
		t.Errorf("new work while it drains: %v", err)
	}
	h.env.Write(t, "go", "")
	wg.Wait()
	if s.err != nil || len(s.events) == 0 {
		t.Fatalf("one who watches: %v", s.err)
	}
	if f, ok := s.events[len(s.events)-1].Body.(pawl.TurnFinished); !ok || f.Reason != pawl.ReasonEndTurn {
		t.Errorf("the turn ended with %+v", f)
	}
	if err := up.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if text := h.env.Read(t, "out.txt"); text != "went\n" {
		t.Errorf("out.txt is %q", text)
	}
}

// TestServeLeavesATurn: a turn that takes longer than the server may is left open,
// and another server goes on with it.
func TestServeLeavesATurn(t *testing.T) {
	t.Parallel()
	for name, store := range harness.Stores {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, store(t))
			first := h.serve("a", "--drain", "50ms")
			c := h.client("a", "b")
			id := h.begin(c, gated...)
			started := make(chan struct{}, 2)
			var wg sync.WaitGroup
			s := h.watch(&wg, c, id, func(e pawl.Event) {
				if _, ok := e.Body.(pawl.CallStarted); ok {
					started <- struct{}{}
				}
			})
			<-started
			if err := first.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := first.Wait(); err != nil {
				t.Errorf("it ended with %v", err)
			}
			h.serve("b")
			row, err := c.Get(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			h.env.Write(t, "go", "")
			wg.Wait()
			h.whole(s, c, id)
			t.Logf("left at event %d, and finished with %d", row.Head, len(s.events))
		})
	}
}
