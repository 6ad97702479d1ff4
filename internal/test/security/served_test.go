//go:build sectest

package security

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/strictjson"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

// served is a pawl that serves, and one who attacks it.
type served struct {
	a     *attackEnv
	addr  string
	token string
}

// serve starts 'pawl serve' on an address of this machine. It ends with the test.
func (a *attackEnv) serve(flags ...string) *served {
	a.Helper()
	cmd := a.command(append([]string{"serve", "--listen", "127.0.0.1:0", "--log", "none"}, flags...)...)
	addr := a.begin(cmd)
	if addr == "" {
		a.Fatal("pawl does not serve")
	}
	token := strings.TrimSpace(a.read(filepath.Join(a.data(), "server-token")))
	return &served{a: a, addr: addr, token: token}
}

// data is pawl's own directory.
func (a *attackEnv) data() string { return filepath.Join(filepath.Dir(a.dir), "data") }

// begin starts a pawl that serves and returns its address, "" if it ends instead.
func (a *attackEnv) begin(cmd *exec.Cmd) string {
	a.Helper()
	out, err := cmd.StderrPipe()
	if err != nil {
		a.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		a.Fatal(err)
	}
	a.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if addr, ok := strings.CutPrefix(lines.Text(), "pawl: listening on http://"); ok {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return addr
		}
	}
	return ""
}

// as are the headers of a request; Host is one of them.
type as map[string]string

// owner has the token.
func (s *served) owner() as { return as{"Authorization": "Bearer " + s.token} }

// ask sends a request as it is, and returns what came.
func (s *served) ask(method, path, body string, header as) (status int, text string, h http.Header) {
	s.a.Helper()
	r, err := http.NewRequestWithContext(s.a.Context(), method, "http://"+s.addr+path, strings.NewReader(body))
	if err != nil {
		s.a.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range header {
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	plain := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       time.Minute,
	}
	resp, err := plain.Do(r)
	if err != nil {
		s.a.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK && resp.Header.Get("Content-Type") == string(api.FormStream) {
		return resp.StatusCode, "", resp.Header // it does not end
	}
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		s.a.Fatal(err)
	}
	return resp.StatusCode, string(all), resp.Header
}

// create makes a session as its owner does.
func (s *served) create() pawl.SessionID {
	s.a.Helper()
	status, text, _ := s.ask("POST", "/v1/sessions", fmt.Sprintf(`{"dir":%q}`, s.a.dir), s.owner())
	var made pawl.Session
	if err := strictjson.Decode([]byte(text), &made); status != http.StatusCreated || err != nil {
		s.a.Fatalf("create: %d %s", status, text)
	}
	return made.ID
}

// command sends the order to run a command, as an attacker would, and tells the
// attackEnv if it was accepted.
func (s *served) command(how string, id pawl.SessionID, header as) {
	s.a.Helper()
	body := fmt.Sprintf(`{"parts":[{"type":"text","text":"go"}],"mode":"yolo","delivery":"queue","model":%q}`, s.a.script(replies(bash("touch owned"))...))
	if status, _, _ := s.ask("POST", "/v1/sessions/"+string(id)+"/prompts", body, header); status < 300 {
		s.a.breach("%s: a command was accepted", how)
	}
}

// sessions reports each that came up and is not one of these.
func (s *served) sessions(how string, known ...pawl.SessionID) {
	s.a.Helper()
	_, text, _ := s.ask("GET", "/v1/sessions", "", s.owner())
	var list pawl.SessionPage
	if err := strictjson.Decode([]byte(text), &list); err != nil {
		s.a.Fatalf("list: %v: %s", err, text)
	}
	for _, row := range list.Sessions {
		ours := false
		for _, id := range known {
			ours = ours || id == row.ID
		}
		if !ours {
			s.a.breach("%s: session %s in %s came up", how, row.ID, row.Dir)
		}
	}
}

// inside serves a service in this process, to one whose token has the scope run.
func (a *attackEnv) inside(svc pawl.Service) *served {
	a.Helper()
	return a.insideAs(svc, new(access.Access), func(*http.Request) (api.Principal, error) { return api.Principal{Scope: api.ScopeRun}, nil })
}

func (a *attackEnv) insideAs(svc pawl.Service, acc *access.Access, auth func(*http.Request) (api.Principal, error)) *served {
	a.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		a.Fatal(err)
	}
	srv := httpapi.New(httpapi.Config{Service: func(p api.Principal) pawl.Service { return acc.For(svc, p) }, Auth: auth})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	a.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return &served{a: a, addr: l.Addr().String()}
}

// scoped serves a service in this process to tokens of one user. A token is called as its
// scope.
func (a *attackEnv) scoped(svc pawl.Service, acc *access.Access) *served {
	a.Helper()
	return a.insideAs(svc, acc, func(r *http.Request) (api.Principal, error) {
		scope, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		return api.Principal{User: "ada", Token: "of ada", Scope: api.Scope(scope)}, nil
	})
}

// settled waits for a condition.
func (a *attackEnv) settled(what string, is func() bool) {
	a.Helper()
	wait.Until(a, what, is)
}
