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

// server is a NATS server of the test. It keeps its port when it is started again.
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

// start returns when the server is ready.
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

// kill ends the server as a crash does.
func (s *server) kill() {
	if s.cmd.ProcessState != nil {
		return
	}
	_ = s.cmd.Process.Kill()
	s.log.Wait()
	_ = s.cmd.Wait() // it was killed
}

func (s *server) url() string { return "nats://127.0.0.1:" + strconv.Itoa(s.port) }

// open returns a link that is closed with the test.
func open(t testing.TB, c Config) *Link {
	t.Helper()
	l, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// await waits until something holds that needs no more of the test.
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

// wire carries a connection to a server, until it is cut.
type wire struct {
	t      *testing.T
	listen net.Listener
	to     string
	done   sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
	hole  bool // what comes from the client is swallowed
	down  bool // there is nobody
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

// set says what happens to what is sent. Whatever it is that comes after a cut, the connections end.
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

// carry copies what the client sends, unless it is swallowed.
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
