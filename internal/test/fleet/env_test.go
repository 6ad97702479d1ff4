//go:build fleet

package fleet

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/client"
	"github.com/pawl-dev/pawl/internal/store/postgres"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// servers are PostgreSQL, NATS and Temporal, of this suite alone: tests end them.
type servers struct {
	t   testing.TB
	env []string
}

// series is how the numbers of the suite begin: of its servers' ports, and of
// its hosts' networks. With another one a second suite runs beside the first.
var series = cmp.Or(os.Getenv("PAWL_FLEETTEST_PORTS"), "53")

// The ports of the suite servers.
var ports = map[string]string{"PAWL_PG_PORT": series + "330", "PAWL_NATS_PORT": series + "222", "PAWL_TEMPORAL_PORT": series + "233"}

// gateway is what the models' place is called beside the servers.
const gateway = "gateway"

func startServers(t testing.TB) *servers {
	t.Helper()
	s := &servers{t: t, env: append(os.Environ(), fmt.Sprintf("PAWL_SERVICES_DIR=/var/tmp/pawl-fleettest-%d-%s", os.Getuid(), series))}
	for name, port := range ports {
		s.env = append(s.env, name+"="+port)
	}
	s.do("up")
	return s
}

// do runs dev/services.
func (s *servers) do(args ...string) {
	s.t.Helper()
	cmd := exec.Command("../../../dev/services", args...)
	cmd.Env = s.env
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Errorf("dev/services %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (s *servers) address(port string) string { return "127.0.0.1:" + ports[port] }

// world is a fleet: servers, and programs of its own.
type env struct {
	*servers
	testing.TB
	bin       string
	dir       string // of the test; work and data below it are another directory on each host
	store     string
	log       *postgres.Store
	token     string
	namespace string   // of the engine; "" is the usual one
	gateways  []string // of the coordinators
	balancer  string   // in front of them

	hostTimeout string // "" means soonLost

	mu    sync.Mutex
	procs []*program
	after []func() // is done when all programs have ended
}

// soonLost is how long a host may be silent in most tests: less than in a real
// fleet, so that they wait less.
const soonLost = "4s"

// newEnv makes a fleet without programs.
func newEnv(t testing.TB, s *servers) *env {
	t.Helper()
	w := &env{servers: s, TB: t, bin: harness.Fleet(t), dir: t.TempDir(), token: "pawl_" + ulid.Make().String()}
	t.Setenv("PAWL_TEST_POSTGRES", fmt.Sprintf("postgres://pawl@%s/pawl_test?sslmode=disable", s.address("PAWL_PG_PORT")))
	w.store = harness.Stores["postgres"](t)
	var err error
	if w.log, err = postgres.Open(t.Context(), w.store); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.log.Close() })
	for _, dir := range []string{"work/_", "data", "blobs", "hosts", "logs", "shared"} {
		if err := os.MkdirAll(filepath.Join(w.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(w.end)
	w.balancer = w.relay("127.0.0.1:0", w.coordinators)
	return w
}

// coordinators returns where models can be asked for.
func (w *env) coordinators() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.gateways)
}

// local is the address at which local programs reach a server.
func (w *env) local(what string) string {
	if what == gateway {
		return w.balancer
	}
	return w.address(what)
}

// program is a process of the fleet.
type program struct {
	w    *env
	name string
	cmd  *exec.Cmd
	done chan struct{}
	make func() *exec.Cmd
}

// config writes what a program is configured by; address is where it reaches the servers.
func (w *env) config(name string, address func(what string) string, asks bool) string {
	path := filepath.Join(w.dir, "config-"+name+".json")
	more := ""
	if asks && len(w.coordinators()) > 0 {
		more = fmt.Sprintf(`,"gateway":%q`, "http://"+address(gateway))
	}
	text := fmt.Sprintf(`{"fleet":{"host_timeout":%q,"temporal":%q,"nats":"nats://%s","blobs":"file://%s","workspaces":%q,"namespace":%q%s},"sandbox":{"writable":[%q]}}`,
		cmp.Or(w.hostTimeout, soonLost), address("PAWL_TEMPORAL_PORT"), address("PAWL_NATS_PORT"), filepath.Join(w.dir, "blobs"), filepath.Join(w.dir, "work"), cmp.Or(w.namespace, "pawl"), more, filepath.Join(w.dir, "shared"))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	return path
}

func (w *env) env(config, store string, more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "PAWL_CONFIG=" + config, "PAWL_STORE=" + store, "PAWL_DATA=" + filepath.Join(w.dir, "data"),
		"PAWL_SERVER_TOKEN=" + w.token, "PAWL_GATEWAY_TOKEN=" + w.token, "PAWL_FLEET_LOCAL_SOURCES=1", "GIT_CONFIG_NOSYSTEM=1",
	}, more...)
}

// start runs a program, and has it ended with the test.
func (w *env) start(name string, make func() *exec.Cmd) *program {
	w.Helper()
	p := &program{w: w, name: name, make: make}
	p.launch()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.procs = append(w.procs, p)
	return p
}

func (p *program) launch() {
	cmd := p.make()
	out, err := os.OpenFile(filepath.Join(p.w.dir, "logs", p.name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.w.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		p.w.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait()
	}()
	p.cmd, p.done = cmd, done
}

// kill ends it as a power cut would, with all that it has started.
func (p *program) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
}

// stop tells it to end, and waits for that.
func (p *program) stop() {
	_ = syscall.Kill(p.cmd.Process.Pid, syscall.SIGTERM)
	<-p.done
}

// restart starts it again after it has ended.
func (p *program) restart() { p.launch() }

// end ends all, and shows what they said if the test has failed.
func (w *env) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.procs {
		p.kill()
	}
	for _, do := range w.after {
		do()
	}
	if !w.Failed() {
		return
	}
	logs, _ := filepath.Glob(filepath.Join(w.dir, "logs", "*"))
	for _, path := range logs {
		text, _ := os.ReadFile(path)
		w.Logf("--- %s\n%s", filepath.Base(path), text[max(0, len(text)-3000):])
	}
}

// api starts an API node.
func (w *env) api(name string) (*program, *client.Client) {
	w.Helper()
	p, _, c := w.node(name)
	return p, c
}

// node is api, and says where it is.
func (w *env) node(name string) (p *program, address string, c *client.Client) {
	w.Helper()
	address = freeAddress(w)
	config := w.config(name, w.local, true)
	p = w.start(name, func() *exec.Cmd {
		cmd := exec.Command(w.bin, "serve", "--listen", address, "--dir", filepath.Join(w.dir, "work"))
		cmd.Env = w.env(config, w.store)
		return cmd
	})
	c = w.client(address)
	w.await("the API node "+name, func(ctx context.Context) error { _, err := c.List(ctx, pawl.Filter{Limit: 1}); return err })
	return p, address, c
}

// client is one of a node, or of what stands before several.
func (w *env) client(address string) *client.Client {
	w.Helper()
	c, err := client.New(client.Config{URL: "http://" + address, Token: w.token})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(c.Close)
	return c
}

// coordinator starts a worker that decides and has the models.
func (w *env) coordinator(name string, flags ...string) *program {
	w.Helper()
	address := freeAddress(w)
	config := w.config(name, w.local, false)
	p := w.start(name, func() *exec.Cmd {
		cmd := exec.Command(w.bin, append([]string{"worker", "--role", "coordinator", "--gateway-listen", address}, flags...)...)
		cmd.Env = w.env(config, w.store)
		return cmd
	})
	w.mu.Lock()
	w.gateways = append(w.gateways, address)
	w.mu.Unlock()
	w.await("the coordinator "+name, func(ctx context.Context) error { return reach(ctx, address) })
	return p
}

// host is a simulated host with its own directories and, on request, its own network.
type host struct {
	*program
	name string
	link string // the outer end of its network; "" if it shares the network of the test
}

// disk is where the host's part of a directory is, seen from outside.
func (h *host) disk(dir string) string {
	return filepath.Join(h.w.dir, "hosts", h.name, strings.TrimPrefix(dir, h.w.dir))
}

// executor starts a worker that has workspaces, on a host of its own.
func (w *env) executor(name string, flags ...string) *host {
	w.Helper()
	return w.hostOf(name, w.local, nil, append([]string{"--role", "executor"}, flags...)...)
}

// worker starts one that does all, on a host of its own.
func (w *env) worker(name string, flags ...string) *host {
	w.Helper()
	return w.hostOf(name, w.local, nil, flags...)
}

func (w *env) hostOf(name string, address func(string) string, wrap []string, flags ...string) *host {
	w.Helper()
	own := filepath.Join(w.dir, "hosts", name)
	for _, dir := range []string{"work", "data"} {
		if err := os.MkdirAll(filepath.Join(own, dir), 0o700); err != nil {
			w.Fatal(err)
		}
	}
	config := w.config(name, address, true)
	store := strings.Replace(w.store, w.address("PAWL_PG_PORT"), address("PAWL_PG_PORT"), 1)
	// The directories have the same paths on every host.
	enter := `mount --make-rprivate / && mount --bind "$1/work" "$2/work" && mount --bind "$1/data" "$2/data" && shift 2 && exec "$@"`
	p := w.start(name, func() *exec.Cmd {
		args := append(append([]string{}, wrap...), "unshare", "--mount", "sh", "-c", enter, "sh", own, w.dir, w.bin, "worker", "--host", name, "--reserve", "20MiB", "--drain", "20s")
		args = append(args, flags...)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = w.env(config, store)
		return cmd
	})
	h := &host{program: p, name: name}
	w.await("the host "+name, func(ctx context.Context) error { return w.live(ctx, name) })
	return h
}

// live says why a host is not.
func (w *env) live(ctx context.Context, name string) error {
	hosts, err := w.log.Hosts(ctx)
	if err != nil {
		return err
	}
	for _, h := range hosts {
		if h.Name == name && h.Live {
			return nil
		}
	}
	return fmt.Errorf("%s is not live", name)
}

// await waits until something works.
func (w *env) await(what string, try func(context.Context) error) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	for {
		err := try(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			w.Fatalf("%s does not come up: %v", what, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func reach(ctx context.Context, address string) error {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err == nil {
		_ = c.Close()
	}
	return err
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// script writes a scripted model's file and returns its name.
func (w *env) script(lines ...string) string {
	w.Helper()
	path := filepath.Join(w.dir, ulid.Make().String()+".jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		w.Fatal(err)
	}
	return "script:" + path
}

// directory is that of a new workspace.
func (w *env) folder() string {
	dir := filepath.Join(w.dir, "work", "_", strings.ToLower(ulid.Make().String()))
	if err := os.MkdirAll(dir, 0o700); err != nil { // where API nodes look
		w.Error(err)
	}
	return dir
}

// begin makes a session in a directory of its own and gives it a prompt.
func (w *env) begin(ctx context.Context, c pawl.Service, model string) (pawl.SessionID, error) {
	s, err := c.Create(ctx, pawl.NewSession{Dir: w.folder()})
	if err != nil {
		return "", err
	}
	_, err = c.Send(ctx, s.ID, pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: model, Mode: "yolo"}})
	return s.ID, err
}

// ended waits until sessions have nothing left to do, by the store.
func (w *env) ended(ids []pawl.SessionID, within time.Duration) {
	w.Helper()
	deadline := time.Now().Add(within)
	for _, id := range ids {
		for {
			row, err := w.log.Session(w.Context(), id)
			if err == nil && row.State() == pawl.StateIdle && row.Turns > 0 {
				break
			}
			if time.Now().After(deadline) {
				w.Fatalf("session %s is %s after %s (%v)", id, row.State(), within, err)
			}
			time.Sleep(100 * time.Millisecond) // a poll: the log is in another process
		}
	}
}

// events reads a session's log.
func (w *env) events(id pawl.SessionID) []pawl.Event {
	w.Helper()
	var all []pawl.Event
	for e, err := range w.log.Events(w.Context(), id, 0) {
		if err != nil {
			w.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// kinds counts the events of a log.
func kinds(events []pawl.Event) map[pawl.Kind]int {
	n := map[pawl.Kind]int{}
	for _, e := range events {
		n[pawl.KindOf(e.Body)]++
	}
	return n
}

// steps is a script of n replies with a call each, and a last one without. %d in
// the call is the number of its step.
func stepsOf(n int, delay time.Duration, call string) []string {
	var lines []string
	for i := range n - 1 {
		lines = append(lines, fmt.Sprintf(`{"text":"step %d","delay_ms":%d,"calls":[%s]}`, i+1, delay.Milliseconds(), strings.ReplaceAll(call, "%d", fmt.Sprint(i+1))))
	}
	return append(lines, fmt.Sprintf(`{"text":"done","delay_ms":%d}`, delay.Milliseconds()))
}
