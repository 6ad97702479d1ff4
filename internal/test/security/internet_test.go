//go:build sectest

package security

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/egress/egresstest"
	"github.com/pawl-dev/pawl/internal/security/egress/proxy"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// internet is all that there is to be reached: names, addresses and servers of the attack
// , which note what they are asked for. Nothing leaves the machine.
type internet struct {
	*egresstest.Net
	a *attackEnv

	mu   sync.Mutex
	hits []string
}

// Addresses of the internet, as the attacks know them.
const (
	frontAddr    = "93.184.216.10" // of all public names, like the front of a big host
	flipAddr     = "93.184.216.11"
	metadataAddr = "169.254.169.254"
	insideAddr   = "10.0.0.5"
)

// internet makes one. The names are at a public address; flip.test changes its
// answer, cloud.test and inside.test are not public.
func (a *attackEnv) internet(names ...string) *internet {
	a.Helper()
	n := &internet{Net: egresstest.New(a), a: a}
	for _, name := range names {
		n.Name(name, frontAddr)
	}
	n.Name("flip.test", flipAddr)
	n.Name("flip.test", "127.0.0.1")
	n.Name("cloud.test", metadataAddr)
	n.Name("inside.test", insideAddr)
	for _, addr := range []string{frontAddr, flipAddr, metadataAddr, insideAddr, "127.0.0.1"} {
		for _, port := range []string{"80", "443"} {
			n.Serve(net.JoinHostPort(addr, port), n.site(addr))
		}
	}
	return n
}

// site notes who was asked for what. /to?u= leads to another address.
func (n *internet) site(addr string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, name := "http", r.Host
		if r.TLS != nil {
			scheme, name = "https", r.TLS.ServerName
		}
		n.mu.Lock()
		n.hits = append(n.hits, fmt.Sprintf("%s at %s: %s://%s%s", name, addr, scheme, r.Host, r.RequestURI))
		n.mu.Unlock()
		if r.URL.Path == "/to" {
			w.Header().Set("Location", r.URL.Query().Get("u"))
			w.WriteHeader(http.StatusFound)
			return
		}
		fmt.Fprintf(w, "hello from %s", name)
	})
}

// asked is what servers were asked for.
func (n *internet) asked() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.hits)
}

// leaks reports each name that was looked up, each address that was connected
// to and each request that was served, if it has one of the words in it.
func (n *internet) leaks(words ...string) {
	n.a.Helper()
	for what, list := range map[string][]string{"looked up": n.Looked(), "connected to": n.Dialed(), "asked": n.asked()} {
		for _, thing := range list {
			for _, word := range words {
				if strings.Contains(thing, word) {
					n.a.breach("%s was %s", thing, what)
				}
			}
		}
	}
}

// safety is that of the attackEnv's user, with this internet and no other.
func (n *internet) safety() *policy.Safety {
	n.a.Helper()
	s := n.a.safety()
	s.Guard = n.Guard()
	return s
}

// safety opens what pawl would for the attackEnv's user, in this process.
func (a *attackEnv) safety() *policy.Safety {
	a.Helper()
	base := filepath.Dir(a.home)
	for name, path := range map[string]string{
		"HOME": a.home, "PAWL_DATA": filepath.Join(base, "data"), "PAWL_CACHE": filepath.Join(base, "cache"),
		"PAWL_CONFIG": filepath.Join(a.config(), "pawl.json"),
	} {
		a.Setenv(name, path)
	}
	s, err := policy.Open()
	if err != nil {
		a.Fatal(err)
	}
	a.Cleanup(s.Close)
	return s
}

// config is the directory of the user's configuration.
func (a *attackEnv) config() string { return filepath.Join(filepath.Dir(a.home), "config", "pawl") }

// run has a command run as the tool bash has it run, with hosts that it may
// reach, and returns what it printed.
func (n *internet) run(s *policy.Safety, hosts []string, script string) string {
	n.a.Helper()
	bundle := filepath.Join(n.a.dir, "ca.pem")
	n.a.write(bundle, string(n.Authority()))
	n.a.Setenv("CURL_CA_BUNDLE", bundle)
	wrapped, err := s.Wrap(n.a.Context(), sandbox.Request{
		Session: "01JD3V5M8Q0000000000000000", Workspace: n.a.dir, Dir: n.a.dir, Mode: "guard", Network: hosts,
		Args: []string{"bash", "-c", script},
	})
	if err != nil {
		n.a.Fatal(err)
	}
	return n.a.wrapped(wrapped)
}

// runOpen is run with a proxy that has been opened for these hosts, be they none.
func (n *internet) runOpen(s *policy.Safety, hosts []string, script string) string {
	n.a.Helper()
	way, err := s.WayOut(hosts, func(proxy.Decision) {})
	if err != nil {
		n.a.Fatal(err)
	}
	defer way.Close()
	bundle := filepath.Join(n.a.dir, "ca.pem")
	n.a.write(bundle, string(n.Authority()))
	profile, err := s.Profile(n.a.Context(), n.a.dir)
	if err != nil {
		n.a.Fatal(err)
	}
	profile.ProxySocket, profile.Env = way.Socket(), append(profile.Env, "CURL_CA_BUNDLE="+bundle)
	backend, _ := sandbox.Detect(n.a.Context())
	wrapped, err := backend.Wrap([]string{"bash", "-c", script}, profile)
	if err != nil {
		n.a.Fatal(err)
	}
	return n.a.wrapped(wrapped)
}

// wrapped runs a command in its sandbox.
func (a *attackEnv) wrapped(w sandbox.Wrapped) string {
	a.Helper()
	defer w.Close()
	ctx, cancel := context.WithTimeout(a.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, w.Args[0], w.Args[1:]...) //nolint:gosec // the attack
	cmd.Dir, cmd.Env, cmd.ExtraFiles, cmd.SysProcAttr = a.dir, w.Env, w.Files, w.Attr
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // what it printed tells
	a.Logf("%s", out.String())
	return out.String()
}

// fetch has webfetch fetch a page if the user's policy lets it, with nobody there
// to be asked, and returns what the model would see.
func (n *internet) fetch(s *policy.Safety, address string) string {
	n.a.Helper()
	p, err := s.Policy(n.a.Context(), "", n.a.dir, pawl.Settings{Mode: "guard", Absent: true})
	if err != nil {
		n.a.Fatal(err)
	}
	fetch, call := tool.WebFetch(n.Guard()), n.call(address)
	access, err := fetch.Access(n.a.Context(), call)
	if err != nil {
		return err.Error()
	}
	if v := permission.Decide(p, permission.Call{Tool: fetch.Name, Risk: fetch.Risk, Access: access, Input: call.Input}); v.Decision != permission.Allow {
		return v.Why
	}
	return n.fetched(address)
}

// fetched is fetch by a user who permits everything.
func (n *internet) fetched(address string) string {
	n.a.Helper()
	result, err := tool.WebFetch(n.Guard()).Run(n.a.Context(), n.call(address))
	if err != nil {
		return err.Error()
	}
	return result.Content
}

func (n *internet) call(address string) toolapi.Call {
	n.a.Helper()
	input, err := json.Marshal(in{"url": address, "timeout": 20})
	if err != nil {
		n.a.Fatal(err)
	}
	return toolapi.Call{Input: input, Dir: n.a.dir, Progress: func(string) {}}
}

// resolver is a name server on loopback that counts the queries.
type resolver struct {
	port string
	seen atomic.Int64
}

// resolver starts one.
func (a *attackEnv) resolver() *resolver {
	a.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(a.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		a.Fatal(err)
	}
	a.Cleanup(func() { _ = conn.Close() })
	_, port, err := net.SplitHostPort(conn.LocalAddr().String())
	if err != nil {
		a.Fatal(err)
	}
	r := &resolver{port: port}
	go func() {
		packet := make([]byte, 4096)
		for {
			size, from, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			r.seen.Add(1)
			if size > 3 { // there is no such name
				packet[2], packet[3] = 0x81, 0x83
			}
			_, _ = conn.WriteTo(packet[:size], from)
		}
	}()
	return r
}

// leaked waits until what was sent before has been counted, and reports it.
func (r *resolver) leaked(a *attackEnv, by string) {
	a.Helper()
	conn, err := new(net.Dialer).DialContext(a.Context(), "udp", "127.0.0.1:"+r.port)
	if err != nil {
		a.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	answer := make([]byte, 64)
	if _, err := conn.Write([]byte("our own question")); err != nil {
		a.Fatal(err)
	}
	if _, err := conn.Read(answer); err != nil {
		a.Fatalf("the name server does not answer, so nothing is shown: %v", err)
	}
	if n := r.seen.Swap(0); n > 1 {
		a.breach("%s put %d questions to a name server", by, n-1)
	}
}
