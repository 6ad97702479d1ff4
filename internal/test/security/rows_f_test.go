//go:build sectest

package security

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
)

var rowsF = []row{
	{id: "F1", title: "opencode: no auth + CORS * on local HTTP", attack: asksWithoutAToken, defense: "server.token"},
	{id: "F2", title: "opencode: XSS in web UI → commands", attack: answersAsAPage, defense: "server.headers"},
	{id: "F3", title: "Claude IDE ext: websocket without Origin/auth", attack: opensASocketFromAPage(false), defense: "server.origin,server.token"},
	{id: "F4", title: "Codex: exec-server WS accepted Origin", attack: opensASocketFromAPage(true), defense: "server.origin"},
	{id: "F5", title: "MCP TS/Py/Go/Java SDK: DNS rebinding", attack: rebindsItsName, defense: "server.host"},
	{id: "F6", title: "MCP go-sdk: cross-site POST tool execution (content-type)", attack: postsAsAFormDoes, defense: "server.content"},
	{id: "F7", title: "MCP go-sdk: Go encoding/json case-insensitive / NUL keys → validator bypass", attack: writesKeysTwice, defense: "server.json"},
	{id: "F8", title: "OpenHands SDK: binds 0.0.0.0, empty key list = no auth", attack: servesAllWithoutASecret, defense: "server.bind"},
	{id: "F9", title: "goose: default secret; non-constant-time compare", attack: guessesTheSecret, defense: "server.token"},
	{id: "F10", title: "Gemini: task could set workspace/trust", attack: setsWorkspaceAndTrust, defense: "server.roots,server.settings"},
	{id: "F11", title: "MCP TS SDK: transport reused across clients leaks responses", attack: asksBesideOthers, defense: "server.shared"},
	{id: "F12", title: "goose, Cursor: URL handler installs extension", attack: linksThatInstall, unbreakable: "pawl registers itself for no links and takes none as an argument: there is nothing to leave out"},
	{id: "F13", title: "Codex: long-lived grants", attack: allowsAlways, defense: "server.always"},
}

// asksWithoutAToken: a program of another user's, or a page, that has no token.
func asksWithoutAToken(a *attackEnv) {
	s := a.serve()
	id := s.create()
	path := "/v1/sessions/" + string(id)
	for how, header := range map[string]as{
		"no token":        {},
		"an empty token":  {"Authorization": "Bearer "},
		"another scheme":  {"Authorization": "Basic " + s.token},
		"a cookie":        {"Cookie": "token=" + s.token},
		"another header":  {"X-Api-Key": s.token, "Token": s.token},
		"a page":          {"Origin": "https://evil.test"},
		"a simple page":   {"Content-Type": "text/plain", "Origin": "null"},
		"half of a token": {"Authorization": "Bearer " + s.token[:len(s.token)/2]},
	} {
		for _, q := range []string{"/v1/sessions", path, path + "/log", path + "/events", path + "/events?token=" + s.token, "/v1/usage", "/v1/openapi.json"} {
			status, text, h := s.ask("GET", q, "", header)
			if status < 400 {
				a.breach("%s: %s shows %.80s", how, q, text)
			}
			if h.Get("Access-Control-Allow-Origin") != "" {
				a.breach("%s: %s lets pages of %s read it", how, q, h.Get("Access-Control-Allow-Origin"))
			}
		}
		s.command(how, id, header)
		if status, _, h := s.ask("OPTIONS", path+"/prompts", "", header); status < 400 || h.Get("Access-Control-Allow-Methods") != "" {
			a.breach("%s: a page may ask: %d", how, status)
		}
	}
	if status, _, _ := s.ask("GET", path, "", s.owner()); status != http.StatusOK {
		a.Errorf("not even the owner gets in: %d", status)
	}
}

// answersAsAPage: what the attacker wrote into a session comes back in an answer
// that a browser is led to.
func answersAsAPage(a *attackEnv) {
	s := a.serve()
	const evil = "<html><script>fetch('/v1/sessions')</script>"
	id := s.create()
	path := "/v1/sessions/" + string(id)
	if status, text, _ := s.ask("PATCH", path, fmt.Sprintf(`{"title":%q}`, evil), s.owner()); status != http.StatusNoContent {
		a.Fatalf("%d %s", status, text)
	}
	header := s.owner()
	header["Accept"] = "text/html"
	for _, q := range []string{"/", "/index.html", "/v1/sessions", path, path + "/log", path + "/events", "/v1/<script>", "/v1//sessions", path + "/?<script>", "/v1/sessions?" + "limit=%3Cscript%3E", "/healthz"} {
		status, _, h := s.ask("GET", q, "", header)
		if kind := h.Get("Content-Type"); strings.Contains(kind, "html") || strings.Contains(kind, "xml") || kind == "" {
			a.breach("%s: %d comes as %q", q, status, kind)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'; frame-ancestors 'none'") {
			a.breach("%s: %d may be shown as a page", q, status)
		}
	}
}

// opensASocketFromAPage: a page opens a websocket, which no browser keeps it from.
func opensASocketFromAPage(knows bool) func(*attackEnv) {
	return func(a *attackEnv) {
		s := a.serve()
		id := s.create()
		for _, origin := range []string{"https://evil.test", "http://127.0.0.1:1", "https://" + s.addr, "null", "file://", "vscode-webview://x"} {
			header := as{"Origin": origin}
			if knows {
				header = s.owner()
				header["Origin"] = origin
			}
			s.command("from "+origin, id, header)
			for name, value := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-Websocket-Version": "13", "Sec-Websocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="} {
				header[name] = value
			}
			for _, q := range []string{"/", "/v1/sessions", "/v1/sessions/" + string(id) + "/events"} {
				if status, _, _ := s.ask("GET", q, "", header); status < 400 {
					a.breach("from %s: %s answers %d", origin, q, status)
				}
			}
		}
	}
}

// rebindsItsName: the attacker's name points to this machine, so that its page is
// of the same origin as the server. The token is known, as one that leaked.
func rebindsItsName(a *attackEnv) {
	s := a.serve()
	id := s.create()
	_, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		a.Fatal(err)
	}
	for _, host := range []string{"evil.test", "evil.test:" + port, "127.0.0.1.evil.test:" + port, "localhost.evil.test", "0.0.0.0:" + port, "[::ffff:127.0.0.1]:" + port, "127.0.0.1@evil.test", "2130706433:" + port} {
		header := s.owner()
		header["Host"] = host
		s.command("as "+host, id, header)
		if status, _, _ := s.ask("GET", "/v1/sessions", "", header); status < 400 {
			a.breach("as %s: the sessions are shown", host)
		}
	}
	for _, host := range []string{"localhost:" + port, "127.0.0.1:" + port, "[::1]:" + port} {
		header := s.owner()
		header["Host"] = host
		if status, text, _ := s.ask("GET", "/v1/sessions", "", header); status != http.StatusOK {
			a.Errorf("as %s: %d %s", host, status, text)
		}
	}
}

// postsAsAFormDoes: bodies that a page can send anywhere without being asked.
func postsAsAFormDoes(a *attackEnv) {
	s := a.serve()
	id := s.create()
	for _, kind := range []string{"text/plain", "text/plain; charset=utf-8", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain; x=application/json", "application/jsonp", "application/json, text/plain"} {
		header := s.owner()
		header["Content-Type"] = kind
		s.command("as "+kind, id, header)
		s.ask("POST", "/v1/sessions", fmt.Sprintf(`{"dir":%q}`, a.dir), header)
	}
	s.sessions("as a form", id)
}

// writesKeysTwice: one who looks at the body sees another value than the one who
// acts by it.
func writesKeysTwice(a *attackEnv) {
	s := a.serve()
	id := s.create()
	for _, body := range []string{
		`{"dir":"/nowhere","dir":"DIR"}`, `{"dir":"/nowhere","Dir":"DIR"}`, `{"DIR":"DIR"}`, `{"dir":"DIR","dir\u0000":"/"}`,
		`{"dir":"DIR","\u0000dir":"/"}`, `{"dir":"DIR","parent":"","trusted":true}`, `{"dir":"/nowhere","\u0064ir":"DIR"}`,
	} {
		body = strings.ReplaceAll(body, `"DIR"`, fmt.Sprintf("%q", a.dir))
		if status, _, _ := s.ask("POST", "/v1/sessions", body, s.owner()); status < 300 {
			a.breach("%s was accepted", body)
		}
	}
	for _, body := range []string{`{"parts":[{"type":"text","text":"x"}],"mode":"plan","Mode":"yolo"}`, `{"parts":[{"type":"text","text":"x","Text":"y"}]}`, `{"parts":[{"type":"text","text":"x"}],"mode":"plan","mode":"yolo"}`} {
		body = strings.TrimSuffix(body, "}") + fmt.Sprintf(`,"model":%q}`, a.script(replies()...))
		if status, _, _ := s.ask("POST", "/v1/sessions/"+string(id)+"/prompts", body, s.owner()); status < 300 {
			a.breach("%s was accepted", body)
		}
	}
	s.sessions("by keys that are there twice", id)
}

// servesAllWithoutASecret: a server is started where others can reach it, and
// nobody has thought of a secret.
func servesAllWithoutASecret(a *attackEnv) {
	for _, secret := range []string{"", " ", "\n", "secret", "short-secret-15"} {
		for _, listen := range []string{"0.0.0.0:0", "[::]:0", "[::ffff:0.0.0.0]:0"} {
			cmd := a.command("serve", "--listen", listen, "--log", "none")
			cmd.Env = append(slices.Clone(a.env), "PAWL_SERVER_TOKEN="+secret)
			if addr := a.begin(cmd); addr != "" {
				a.breach("with the secret %q it serves on %s", secret, addr)
			}
		}
	}
	cmd := a.command("serve", "--listen", "0.0.0.0:0", "--log", "none")
	cmd.Env = append(slices.Clone(a.env), "PAWL_SERVER_TOKEN="+strings.Repeat("s", 32))
	if a.begin(cmd) == "" {
		a.Error("with a secret it does not serve either")
	}
}

// guessesTheSecret: by what others have for a default, and from what is nearly right.
func guessesTheSecret(a *attackEnv) {
	s := a.serve()
	id := s.create()
	if len(s.token) < 26 || s.token == secondToken(a) {
		a.breach("the secret %q is no secret", s.token)
	}
	for _, guess := range []string{"", "test", "secret", "pawl", "admin", "password", "changeme", "undefined", "null", s.token[1:], s.token[:len(s.token)-1], s.token + "x", strings.ToLower(s.token), s.token + " " + s.token} {
		s.command(fmt.Sprintf("with the token %q", guess), id, as{"Authorization": "Bearer " + guess})
	}
	if info, err := os.Stat(filepath.Join(a.data(), "server-token")); err != nil || info.Mode().Perm() != 0o600 {
		a.breach("others can read the secret: %v", err)
	}
}

// secondToken is the secret of another server of the same version.
func secondToken(a *attackEnv) string {
	other := newAttackEnv(a.T, "")
	return other.serve().token
}

// setsWorkspaceAndTrust: one who may give work has it done elsewhere, or without
// bounds.
func setsWorkspaceAndTrust(a *attackEnv) {
	s := a.serve("--dir", a.dir)
	a.write("in/x", "x")
	link := filepath.Join(a.dir, "link")
	a.ok(os.Symlink(a.outside, link))
	for _, dir := range []string{a.outside, a.home, "/", link, a.dir + "/../outside", a.dir + "x", "/proc/self/root"} {
		if status, _, _ := s.ask("POST", "/v1/sessions", fmt.Sprintf(`{"dir":%q}`, dir), s.owner()); status < 300 {
			a.breach("a session works in %s", dir)
		}
	}
	if status, _, _ := s.ask("POST", "/v1/missions", fmt.Sprintf(`{"dir":%q,"order":{"goal":"x"},"settings":{"model":%q}}`, a.outside, a.script(replies()...)), s.owner()); status < 300 {
		a.breach("a mission works in %s", a.outside)
	}
	if _, text, _ := s.ask("POST", "/v1/sessions", `{"dir":"/proc/self/cwd"}`, s.owner()); strings.Contains(text, "/proc/self/cwd") {
		a.breach("a session works where each process means another folder: %s", text)
	}
	header := s.owner()
	header["Content-Type"] = "application/x-ndjson"
	if status, _, _ := s.ask("POST", "/v1/sessions/import?dir="+a.outside, created(a.dir), header); status < 300 {
		a.breach("a session that is brought works in %s", a.outside)
	}
	if status, text, _ := s.ask("POST", "/v1/sessions", fmt.Sprintf(`{"dir":%q}`, filepath.Join(a.dir, "in")), s.owner()); status != http.StatusCreated {
		a.Errorf("nor may it work where it should: %d %s", status, text)
	}
	liftsItsBounds(a)
}

// created is the log of a session that has just begun.
func created(dir string) string {
	return fmt.Sprintf(`{"v":1,"session":"01JD0000000000000000000000","seq":1,"at":"2026-11-15T09:00:00Z","type":"session.created","body":{"dir":%q}}`, dir) + "\n"
}

// liftsItsBounds: one whose token is for work, and not for the server's owner.
func liftsItsBounds(a *attackEnv) {
	svc := servicetest.Local(a.T).Service
	s := a.inside(svc)
	row, err := svc.Create(a.Context(), pawl.NewSession{Dir: a.dir})
	if err != nil {
		a.Fatal(err)
	}
	for _, more := range []string{`"trusted":true`, `"mode":"yolo"`} {
		body := fmt.Sprintf(`{"parts":[{"type":"text","text":"x"}],"delivery":"queue","model":%q,%s}`, a.script(replies()...), more)
		if status, _, _ := s.ask("POST", "/v1/sessions/"+string(row.ID)+"/prompts", body, nil); status < 300 {
			a.breach("a prompt with %s was accepted", more)
		}
		if status, _, _ := s.ask("POST", "/v1/missions", fmt.Sprintf(`{"dir":%q,"order":{"goal":"x"},"settings":{"model":%q,%s}}`, a.dir, a.script(replies()...), more), nil); status < 300 {
			a.breach("a mission with %s was begun", more)
		}
	}
	checks := `"checks":[{"id":"x","kind":"other","args":["curl"],"network":["evil.example"]}]`
	if status, _, _ := s.ask("POST", "/v1/missions", fmt.Sprintf(`{"dir":%q,"order":{"goal":"x",%s},"settings":{"model":%q}}`, a.dir, checks, a.script(replies()...)), nil); status < 300 {
		a.breach("a mission was begun whose check reaches the network unasked")
	}
}

// asksBesideOthers: two clients at once, on connections that are used again; each
// gets what it has asked for, and nothing of the other.
func asksBesideOthers(a *attackEnv) {
	s := a.serve()
	const clients, rounds = 8, 20
	var wg sync.WaitGroup
	var mu sync.Mutex
	for n := range clients {
		id := s.create()
		title := fmt.Sprintf("secret of client %d", n)
		if status, text, _ := s.ask("PATCH", "/v1/sessions/"+string(id), fmt.Sprintf(`{"title":%q}`, title), s.owner()); status != http.StatusNoContent {
			a.Fatalf("%d %s", status, text)
		}
		client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
		wg.Go(func() {
			for range rounds {
				for _, q := range []string{"", "/log", "/draft", "/events"} {
					wrong := s.mixedUp(client, "/v1/sessions/"+string(id)+q, title, clients)
					mu.Lock()
					if wrong != "" {
						a.breach("%s", wrong)
					}
					mu.Unlock()
				}
			}
			client.CloseIdleConnections()
		})
	}
	wg.Wait()
}

// mixedUp asks for what only one client has, and says what is not its own.
func (s *served) mixedUp(client *http.Client, path, title string, clients int) string {
	r, err := http.NewRequestWithContext(s.a.Context(), http.MethodGet, "http://"+s.addr+path, nil)
	if err != nil {
		return err.Error()
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := client.Do(r)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	var all []byte
	if strings.HasSuffix(path, "/events") {
		lines := bufio.NewScanner(resp.Body) // it does not end by itself
		for !strings.Contains(string(all), `"session.titled"`) && lines.Scan() {
			all = append(all, lines.Bytes()...)
		}
	} else if all, err = io.ReadAll(resp.Body); err != nil {
		return err.Error()
	}
	if resp.StatusCode == http.StatusOK && !strings.Contains(string(all), title) {
		return path + " shows not what it should"
	}
	for n := range clients {
		if other := fmt.Sprintf("secret of client %d", n); other != title && strings.Contains(string(all), other) {
			return path + " shows the " + other
		}
	}
	return ""
}

// allowsAlways: one who may answer questions permits permanently, and nobody notices.
func allowsAlways(a *attackEnv) {
	h := servicetest.Local(a.T)
	s := a.inside(h.Service)
	row, err := h.Service.Create(a.Context(), pawl.NewSession{Dir: a.dir})
	if err != nil {
		a.Fatal(err)
	}
	path := "/v1/sessions/" + string(row.ID)
	ask := s.asked(path, "touch by-one-who-answers", nil)
	always := `{"outcome":"answered","always":[{"tool":"bash","pattern":"touch by-one-who-answers","decision":"allow"}]}`
	s.ask("POST", fmt.Sprintf("%s/asks/%d/answer", path, ask), always, nil)
	s.ask("POST", fmt.Sprintf("%s/asks/%d/answer", path, ask), `{"outcome":"denied"}`, nil)
	s.finished(path, nil)
	if saved, err := h.Authority.Grants.List(); err != nil || len(saved) > 0 {
		a.breach("it is always allowed: %v, %v", saved, err)
	}
	ownerAllowsAlways(a, always)
}

// ownerAllowsAlways: what the owner permits permanently is for the directory that was asked
// for and for no more than that, is listed, and can be revoked.
func ownerAllowsAlways(a *attackEnv, always string) {
	s := a.serve()
	path := "/v1/sessions/" + string(s.create())
	ask := fmt.Sprintf("%s/asks/%d/answer", path, s.asked(path, "touch by-one-who-answers", s.owner()))
	for _, wide := range []string{`{"tool":"bash","pattern":"*","decision":"allow"}`, `{"kind":"write","pattern":"**","decision":"allow"}`, `{"tool":"bash","pattern":"bash *","decision":"allow"}`} {
		if status, _, _ := s.ask("POST", ask, `{"outcome":"answered","always":[`+wide+`]}`, s.owner()); status < 300 {
			a.breach("%s is always allowed", wide)
		}
	}
	if status, text, _ := s.ask("POST", ask, always, s.owner()); status != http.StatusNoContent {
		a.Fatalf("%d %s", status, text)
	}
	s.finished(path, s.owner())
	var list struct {
		Saved []struct {
			ID  string `json:"id"`
			Dir string `json:"dir"`
		} `json:"grants"`
	}
	if err := json.Unmarshal([]byte(a.pawl("permissions", "list", "--json").Stdout), &list); err != nil || len(list.Saved) != 1 {
		a.breach("what was always allowed is not listed: %v", err)
		return
	}
	if list.Saved[0].Dir != a.dir {
		a.breach("it is permitted in %q", list.Saved[0].Dir)
	}
	a.pawl("permissions", "revoke", list.Saved[0].ID)
	again := "/v1/sessions/" + string(s.create())
	s.asked(again, "touch by-one-who-answers", s.owner()) // it waits until it is asked
}

// asked gives a session a command in the mode ask, and returns the number of the
// question.
func (s *served) asked(path, command string, header as) int {
	s.a.Helper()
	model := s.a.script(replies(bash(command))...)
	if header == nil { // the scope run, which has no scripted models
		model = servicetest.TestModel + strings.TrimPrefix(model, "script:")
	}
	body := fmt.Sprintf(`{"parts":[{"type":"text","text":"go"}],"mode":"ask","model":%q}`, model)
	if status, text, _ := s.ask("POST", path+"/prompts", body, header); status != http.StatusAccepted {
		s.a.Fatalf("%d %s", status, text)
	}
	seq := 0
	s.a.settled("the question", func() bool {
		_, text, _ := s.ask("GET", path+"/log", "", header)
		for line := range strings.Lines(text) {
			var e pawl.Event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				s.a.Fatal(err)
			}
			if _, ok := e.Body.(pawl.Asked); ok {
				seq = int(e.Seq)
			}
			if _, ok := e.Body.(pawl.TurnFinished); ok && seq == 0 {
				s.a.Fatalf("%q was not asked for", command)
			}
		}
		return seq > 0
	})
	return seq
}

// finished waits for the session's turn to end.
func (s *served) finished(path string, header as) {
	s.a.Helper()
	s.a.settled("the turn's end", func() bool {
		_, text, _ := s.ask("GET", path+"/log", "", header)
		return strings.Contains(text, `"turn.finished"`)
	})
}
