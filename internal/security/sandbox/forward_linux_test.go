package sandbox

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestForwarder: with a proxy, and only through it, a command reaches others.
func TestForwarder(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	backend := backends(t)[0]
	w := newTestEnv(t, backend)
	w.profile.ProxySocket = filepath.Join(w.home, ".local/share/pawl/proxy.sock")
	listener, err := net.Listen("unix", w.profile.ProxySocket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		_ = http.Serve(listener, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(rw, "%s %s\n", r.Method, r.URL)
		}))
	}()
	o := w.run(w.profile, `curl -s http://example.test/a; curl -s http://example.test/b & curl -s http://example.test/c; wait; env | grep -i proxy | sort; env | grep PAWL_BOX; exit 7`)
	lines := strings.Split(strings.TrimSpace(o.output), "\n")
	slices.Sort(lines)
	want := []string{
		"GET http://example.test/a", "GET http://example.test/b", "GET http://example.test/c",
		"ALL_PROXY=http://127.0.0.1:19128", "HTTPS_PROXY=http://127.0.0.1:19128", "HTTP_PROXY=http://127.0.0.1:19128",
		"NO_PROXY=localhost,127.0.0.1,::1", "all_proxy=http://127.0.0.1:19128", "http_proxy=http://127.0.0.1:19128",
		"https_proxy=http://127.0.0.1:19128", "no_proxy=localhost,127.0.0.1,::1",
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	if o.code != 7 {
		t.Errorf("exit %d", o.code)
	}
	o = w.run(w.profile, `{probe} dial tcp {tcp}; {probe} dial udp {udp}; {probe} dial unix {abstract}; {probe} dial unix {home}/.docker/docker.sock; curl -s --noproxy '*' http://{tcp}; cat {home}/.ssh/id_ed25519; kill -9 $PPID; true`)
	if damage := w.damage(o); len(damage) > 0 {
		t.Errorf("%q\n%s", damage, o.output)
	}
	for script, code := range map[string]int{`kill -KILL $$`: 137, `exit 0`: 0, `exit 255`: 255} {
		if o := w.run(w.profile, script); o.code != code {
			t.Errorf("%s: exit %d: %s", script, o.code, o.output)
		}
	}
	if o := w.runArgs(w.profile, []string{"no-such-program"}); o.code != 127 || !strings.Contains(o.output, "no-such-program") {
		t.Errorf("exit %d: %s", o.code, o.output)
	}
}

// TestNoCommand: a program that does not exist is reported in the usual way.
func TestNoCommand(t *testing.T) { //nolint:paralleltest // its processes share HOME and what Release removes
	for _, backend := range backends(t) {
		w := newTestEnv(t, backend)
		o := w.runArgs(w.profile, []string{"no-such-program"})
		if !strings.Contains(o.output, "no-such-program") || o.code == 0 {
			t.Errorf("%s: exit %d: %s", backend.Name(), o.code, o.output)
		}
	}
}

// TestPass: the marks of package proc reach the command, and nothing else that
// a careless caller left in the environment.
func TestPass(t *testing.T) {
	t.Setenv("PAWL_TEST_KEY", "secret-key")
	for _, backend := range backends(t) {
		w := newTestEnv(t, backend)
		w.profile.Pass = []string{"PAWL_RUN", "PAWL_JOB"}
		wrapped, err := backend.Wrap([]string{"bash", "-c", "echo $PAWL_RUN $PAWL_JOB $PAWL_TEST_KEY $PAWL_BOX"}, w.profile)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range wrapped.Env {
			if strings.Contains(entry, "secret") {
				t.Errorf("%s: %s is in the environment", backend.Name(), entry)
			}
		}
		wrapped.Env = append(slices.Concat(os.Environ(), wrapped.Env), "PAWL_RUN=mark", "PAWL_JOB=job")
		if out := start(t, wrapped); out != "mark job\n" {
			t.Errorf("%s: %q", backend.Name(), out)
		}
		wrapped.Close()
	}
}
