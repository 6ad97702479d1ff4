package nats

import (
	"bufio"
	"io"
	"net"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/sqlite/sqlitetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a NATS server for a test. It keeps its port when it is restarted.
type server struct {
	t    testing.TB
	args []string
	port int
	cmd  *exec.Cmd
	log  sync.WaitGroup
}

func startServer(t testing.TB, args ...string) *server {
	s := &server{t: t, args: args, port: -1}
	s.start()
	t.Cleanup(s.kill)
	return s
}

var listening = regexp.MustCompile(`Listening for client connections on 127\.0\.0\.1:(\d+)`)

// start starts the server and waits until it is ready.
func (s *server) start() {
	s.t.Helper()
	s.cmd = exec.Command("nats-server", append([]string{"-a", "127.0.0.1", "-p", strconv.Itoa(s.port)}, s.args...)...)
	out, err := s.cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatalf("%v: install it with apt-get install nats-server", err)
	}
	lines := bufio.NewScanner(out)
	var said string
	for lines.Scan() {
		said += lines.Text() + "\n"
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			s.port, _ = strconv.Atoi(m[1]) // digits
			s.log.Go(func() { _, _ = io.Copy(io.Discard, out) })
			return
		}
	}
	s.t.Fatalf("nats-server did not start: %s", said)
}

// kill kills the server, as a crash would.
func (s *server) kill() {
	if s.cmd.ProcessState != nil {
		return
	}
	_ = s.cmd.Process.Kill()
	s.log.Wait()
	_ = s.cmd.Wait() // it was killed
}

func (s *server) url() string { return "nats://127.0.0.1:" + strconv.Itoa(s.port) }

// open returns a link that is closed when the test ends.
func open(t testing.TB, c Config) *Link {
	t.Helper()
	l, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// await waits until a condition holds.
func await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// wire is a proxy for connections to a server, which can be cut.
type wire struct {
	t      *testing.T
	listen net.Listener
	to     string
	done   sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
	hole  bool // drop what the client sends
	down  bool // reject connections
}

func startWire(t *testing.T, to *server) *wire {
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, listen: listen, to: "127.0.0.1:" + strconv.Itoa(to.port)}
	w.done.Go(w.accept)
	t.Cleanup(func() {
		_ = listen.Close()
		w.set(false, true)
		w.done.Wait()
	})
	return w
}

func (w *wire) url() string { return "nats://" + w.listen.Addr().String() }

// set sets hole and down. If down is set, it closes all connections.
func (w *wire) set(hole, down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hole, w.down = hole, down
	if down {
		for _, c := range w.conns {
			_ = c.Close()
		}
		w.conns = nil
	}
}

func (w *wire) accept() {
	for {
		from, err := w.listen.Accept()
		if err != nil {
			return
		}
		w.mu.Lock()
		to, err := net.Dial("tcp", w.to)
		if err != nil || w.down {
			_ = from.Close()
			if err == nil {
				_ = to.Close()
			}
			w.mu.Unlock()
			continue
		}
		w.conns = append(w.conns, from, to)
		w.mu.Unlock()
		w.done.Go(func() { w.carry(from, to) })
		w.done.Go(func() { _, _ = io.Copy(from, to); _ = from.Close() })
	}
}

// carry copies what the client sends, unless hole is set.
func (w *wire) carry(from, to net.Conn) {
	defer to.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		w.mu.Lock()
		hole := w.hole
		w.mu.Unlock()
		if !hole {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
	}
}

func openStore(t testing.TB) store.Store {
	t.Helper()
	return sqlitetest.Open(t)
}
