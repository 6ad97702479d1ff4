//go:build bench

package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
)

const (
	bareVar   = "PAWL_BENCH_BARE" // the socket that a child process serves on
	bareGets  = 3000
	bareEvent = 500
)

// bareMain is the child: net/http and nothing else. It returns what it was given,
// and streams what is posted.
func bareMain() int {
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 1
	}
	l, err := net.Listen("unix", os.Getenv(bareVar))
	if err != nil {
		return 1
	}
	posted := make(chan string)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /one", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	})
	mux.HandleFunc("POST /events", func(w http.ResponseWriter, _ *http.Request) {
		posted <- fmt.Sprintf("data: {\"at\":%q,\"body\":%q}\n\n", time.Now().Format(time.RFC3339Nano), body)
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		for {
			select {
			case text := <-posted:
				_, _ = io.WriteString(w, text)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	fmt.Println("ready")
	_ = http.Serve(l, mux) //nolint:gosec // it is measured as it is
	return 0
}

// overSocket is a client of a socket.
func overSocket(t *testing.T, socket string) *http.Client {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// startBare starts the child.
func startBare(t *testing.T, body []byte) *http.Client {
	t.Helper()
	dir, err := os.MkdirTemp("", "pawl-bare-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), bareVar+"="+socket)
	cmd.Stdin = bytes.NewReader(body)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the bare server says %q: %v", line, err)
	}
	return overSocket(t, socket)
}

// get asks once and returns what came.
func get(t *testing.T, c *http.Client, path string) []byte {
	t.Helper()
	resp, err := c.Get("http://pawl" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %v", path, resp.Status, err)
	}
	return body
}

// lines reads a stream's lines, with the time of each.
func streamLate(t *testing.T, c *http.Client, path string, count int, trigger func()) []time.Duration {
	t.Helper()
	resp, err := c.Get("http://pawl" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	w := &watcher{last: 2}
	lines := bufio.NewScanner(resp.Body)
	for range count {
		trigger()
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "data: ") {
		}
		w.note(lines.Bytes())
	}
	slices.Sort(w.late)
	return w.late
}

// TestBenchServeOverhead: a request and an event, beside a program that has
// net/http and nothing else.
func TestBenchServeOverhead(t *testing.T) { //nolint:paralleltest // it measures time
	s := startServing(t)
	id := s.create(t)
	path := "/v1/sessions/" + string(id)
	pawls := overSocket(t, s.socket)
	bare := startBare(t, get(t, pawls, path))
	var ours, theirs []time.Duration
	for range bareGets { // in turn, so that both have the same weather
		began := time.Now()
		get(t, pawls, path)
		middle := time.Now()
		get(t, bare, "/one")
		ours, theirs = append(ours, middle.Sub(began)), append(theirs, time.Since(middle))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	t.Logf("GET of a session: p50 %d us, p99 %d us; a bare handler with the same bytes: p50 %d us, p99 %d us",
		percentile(ours, 50).Microseconds(), percentile(ours, 99).Microseconds(), percentile(theirs, 50).Microseconds(), percentile(theirs, 99).Microseconds())

	n := 0
	late := streamLate(t, pawls, path+"/events?after=1", bareEvent, func() {
		n++
		if err := s.Rename(t.Context(), id, fmt.Sprint("title ", n)); err != nil {
			t.Fatal(err)
		}
	})
	alone := streamLate(t, bare, "/events", bareEvent, func() {
		resp, err := bare.Post("http://pawl/events", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	})
	t.Logf("an event from its time, which is before it is on the disk, to a client: p50 %d us, p99 %d us; by a bare handler: p50 %d us, p99 %d us",
		percentile(late, 50).Microseconds(), percentile(late, 99).Microseconds(), percentile(alone, 50).Microseconds(), percentile(alone, 99).Microseconds())
	if row, err := s.Get(t.Context(), id); err != nil || row.Head != pawl.Seq(bareEvent+1) || len(late) != bareEvent || len(alone) != bareEvent {
		t.Errorf("%d and %d of %d events came; the log has %d: %v", len(late), len(alone), bareEvent, row.Head, err)
	}
}
