//go:build sectest

package security

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/store"
)

func usesTheLinkTwice(a *attackEnv) {
	s := a.web()
	link := s.link("{}", operator)
	var won atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if secret, _, err := s.access.Redeem(a.Context(), link, "attacker"); err == nil && secret != "" {
				won.Add(1)
			}
		})
	}
	all.Wait()
	if cookie, _ := s.redeem(link, nil); won.Load() != 1 || cookie != "" || s.devices() != 1 {
		a.breach("it signed %d browsers in", s.devices())
	}
}

func guessesLinks(a *attackEnv) {
	s := a.web()
	link := s.link("{}", operator)
	if len(link) < len("pawl_link_")+43 || link == s.link("{}", operator) {
		a.breach("the link %q can be guessed", link)
	}
	limited := 0
	for i := range 30 {
		status, _, _ := s.ask("POST", "/signin", fmt.Sprintf("link=%s%d", link[:len(link)-2], i), as{"Content-Type": "application/x-www-form-urlencoded", "Origin": "http://" + s.addr})
		if status == http.StatusTooManyRequests {
			limited++
		}
	}
	if limited < 15 || s.devices() > 0 {
		a.breach("%d of 30 guesses were slowed down, %d browsers are signed in", limited, s.devices())
	}
}

func usesTheLinkLate(a *attackEnv) {
	s := a.web()
	soon, late := s.link("{}", operator), s.link("{}", operator)
	s.now = s.now.Add(4 * time.Minute)
	if cookie, _ := s.redeem(soon, nil); cookie == "" {
		a.Error("the link does not work in time either")
	}
	s.now = s.now.Add(time.Minute)
	if cookie, _ := s.redeem(late, nil); cookie != "" {
		a.breach("it works after 5 minutes")
	}
}

func previewsTheLink(a *attackEnv) {
	s := a.web()
	link := s.link("{}", operator)
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "GET"} {
		for _, header := range []as{{"Purpose": "prefetch"}, {"User-Agent": "Slackbot-LinkExpanding 1.0"}, {"Sec-Purpose": "prefetch", "Sec-Fetch-Site": "none"}} {
			if _, _, h := s.ask(method, "/signin?link="+link, "", header); h.Get("Set-Cookie") != "" {
				a.breach("%s signs in", method)
			}
		}
	}
	if s.devices() > 0 {
		a.breach("a preview has signed a browser in")
	}
	if cookie, _ := s.redeem(link, nil); cookie == "" {
		a.breach("a preview has used it up")
	}
}

func linksToAHigherScope(a *attackEnv) {
	s := a.web()
	mine := s.token(store.Token{User: "eve", Scope: "run"})
	browser := s.own(s.signIn(mine))
	for _, header := range []as{mine, browser} {
		for _, scope := range []string{"approve", "admin", "root"} {
			if s.link(fmt.Sprintf(`{"scope":%q}`, scope), header) != "" {
				a.breach("a token with the scope run has made a link with the scope %s", scope)
			}
		}
		for _, body := range []string{`{"user":"ada"}`, `{"tenant":"acme"}`, `{"scope":"run","Scope":"admin"}`} {
			if s.link(body, header) != "" {
				a.breach("%s was accepted", body)
			}
		}
	}
	if status, _, _ := s.ask("GET", s.path, "", browser); status < 400 {
		a.breach("the browser of eve shows a session of the operator")
	}
}

func outlivesItsToken(a *attackEnv) {
	s := a.web()
	sign := func(header as) string { cookie, _ := s.redeem(s.link("{}", header), nil); return cookie }
	short := s.token(store.Token{User: "eve", Scope: "run", Expires: s.now.Add(time.Hour)})
	first := sign(short)
	second := sign(s.own(first))
	if first == "" || second == "" {
		a.Fatal("it cannot sign in at all")
	}
	revoked := s.token(store.Token{User: "eve", Scope: "run"})
	link := s.link("{}", revoked)
	all, err := s.access.Tokens.Tokens(a.Context())
	if err != nil {
		a.Fatal(err)
	}
	for _, t := range all {
		if t.Kind == store.TokenAPI && t.Expires.IsZero() { // the link is left, as if made at this moment
			a.ok(s.access.Tokens.RevokeToken(a.Context(), t.ID, s.now))
		}
	}
	if cookie, _ := s.redeem(link, nil); cookie != "" {
		a.breach("a link of a revoked token signs in")
	}
	s.now = s.now.Add(2 * time.Hour)
	for _, cookie := range []string{first, second} {
		if status, _, _ := s.ask("GET", "/v1/sessions", "", s.own(cookie)); status < 400 {
			a.breach("the browser is signed in after its token has expired")
		}
	}
}

func watchesAfterRevocation(a *attackEnv) {
	s := a.web()
	s.access.Clock = nil
	cookie := s.signIn(operator)
	next := s.stream(s.own(cookie))
	for line, more := next(); !strings.HasPrefix(line, "data:"); line, more = next() {
		if !more {
			a.Fatal("the stream does not begin")
		}
	}
	devices, err := s.access.Devices(a.Context(), api.Principal{Scope: api.ScopeAdmin})
	if err != nil || len(devices.Devices) != 1 {
		a.Fatalf("%v, %v", devices, err)
	}
	if status, text, _ := s.ask("DELETE", "/v1/devices/"+devices.Devices[0].ID, "", operator); status != http.StatusNoContent {
		a.Fatalf("%d %s", status, text)
	}
	a.ok(s.svc.Rename(a.Context(), s.id, "secret"))
	for line, more := next(); more; line, more = next() {
		if strings.Contains(line, "secret") {
			a.breach("a revoked browser still watches: %.80s", line)
			return
		}
	}
	if status, _, _ := s.ask("GET", s.path, "", s.own(cookie)); status < 400 {
		a.breach("a revoked browser still reads")
	}
}

func usesSecretsAsTokens(a *attackEnv) {
	s := a.web()
	cookie := s.signIn(operator)
	name, secret, _ := strings.Cut(cookie, "=")
	link := s.link("{}", operator)
	for what, header := range map[string]as{
		"the secret of a browser as a token": {"Authorization": "Bearer " + secret},
		"a link as a token":                  {"Authorization": "Bearer " + link},
		"a link as a cookie":                 s.own(name + "=" + link),
		"a token as a cookie":                s.own(name + "=" + strings.TrimPrefix(s.token(store.Token{User: "eve", Scope: "run"})["Authorization"], "Bearer ")),
	} {
		if status, _, _ := s.ask("GET", "/v1/sessions", "", header); status < 400 {
			a.breach("%s is accepted", what)
		}
	}
	for _, stored := range []string{access.Hash(secret), access.Hash(link)} {
		if status, _, _ := s.ask("GET", "/v1/sessions", "", s.own(name+"="+stored)); status < 400 {
			a.breach("what the store has is accepted")
		}
	}
}

func signsTheVictimIn(a *attackEnv) {
	s := a.web()
	attacker := s.token(store.Token{User: "eve", Scope: "run"})
	for _, header := range []as{
		{"Origin": "https://evil.test"}, {"Origin": "null"}, {"Origin": ""}, {"Origin": "", "Sec-Fetch-Site": "cross-site"},
		{"Origin": "", "Sec-Fetch-Site": "none"}, {"Origin": "https://evil.test", "Sec-Fetch-Site": "same-origin"},
	} {
		if cookie, _ := s.redeem(s.link("{}", attacker), header); cookie != "" {
			a.breach("from %v the victim is signed in as eve", header)
		}
	}
	victim := s.signIn(operator)
	for _, header := range []as{{"Cookie": victim}, {"Cookie": victim, "Origin": "https://evil.test"}} {
		s.ask("POST", "/signout", "", header)
		if status, _, _ := s.ask("GET", "/v1/sessions", "", s.own(victim)); status != http.StatusOK {
			a.breach("another site has signed the victim out")
		}
	}
}

func readerManagesDevices(a *attackEnv) {
	s := a.web()
	reader := s.token(store.Token{User: "eve", Scope: "read"})
	victim, set := s.redeem(s.link("{}", s.token(store.Token{User: "eve", Scope: "run"})), nil)
	if victim == "" {
		a.Fatalf("nobody can sign in: %q", set)
	}
	if s.link(`{}`, reader) != "" || s.link(`{"scope":"read"}`, reader) != "" {
		a.breach("it has made a link")
	}
	devices, err := s.access.Devices(a.Context(), api.Principal{User: "eve"})
	if err != nil || len(devices.Devices) == 0 {
		a.Fatalf("%v, %v", devices, err)
	}
	for _, d := range devices.Devices {
		if status, _, _ := s.ask("DELETE", "/v1/devices/"+d.ID, "", reader); status < 300 {
			a.breach("it has signed a browser out")
		}
	}
	for _, q := range [][2]string{{"GET", "/v1/devices"}, {"POST", "/v1/devices/links"}, {"DELETE", "/v1/devices/" + devices.Devices[0].ID}} {
		if status, _, _ := s.ask(q[0], q[1], "", as{}); status != http.StatusUnauthorized {
			a.breach("%s %s without a token: %d", q[0], q[1], status)
		}
	}
}

// guessesBySize: the attacker sees how long responses are, chooses a part of them, and guesses the next letters of a
// secret in the same response: the right ones compress better.
func guessesBySize(a *attackEnv) {
	const secret = "key=qwzjxvkbpmtgfydh" //nolint:gosec // made up for the attack
	const step = 3
	var mu sync.Mutex
	guess := ""
	s := a.web(func(c *httpapi.Config) {
		c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			w.Header().Set("Content-Type", "text/plain")
			for i := range 60 {
				fmt.Fprintf(w, "line %d of a response that is long enough\n", i*i)
			}
			fmt.Fprintf(w, "%s\n%s\n", secret, guess)
		})
	})
	size := func(text string) int64 {
		mu.Lock()
		guess = text
		mu.Unlock()
		return s.compressedSize("/metrics")
	}
	right, rounds := 0, 0
	for at := len("key="); at+step <= len(secret); at += step {
		rounds++
		best, unique := size(secret[:at+step]), true
		for _, wrong := range []string{"#%!", "!#%", "%!#", "#!%", "!%#", "%#!", "##!", "!!%", "%%#", "#%%", "!##", "%!!"} {
			unique = unique && size(secret[:at]+wrong) > best
		}
		if unique {
			right++
		}
	}
	if right == rounds {
		a.breach("the sizes tell all of the secret")
	}
}

// compressedSize returns how many bytes the body of a compressed response has.
func (s *webServer) compressedSize(path string) int64 {
	s.a.Helper()
	_, text, h := s.ask("GET", path, "", as{"Authorization": "Bearer operator", "Accept-Encoding": "gzip"})
	if h.Get("Content-Encoding") != "gzip" {
		s.a.Fatal("the response is not compressed")
	}
	return int64(len(text))
}

func revokesOthers(a *attackEnv) {
	s := a.web()
	victim, _ := s.redeem(s.link(`{"name":"victim"}`, s.token(store.Token{User: "ada", Scope: "admin"})), nil)
	eve := s.token(store.Token{User: "eve", Scope: "run"})
	if _, text, _ := s.ask("GET", "/v1/devices", "", eve); strings.Contains(text, "victim") {
		a.breach("eve sees %s", text)
	}
	devices, err := s.access.Devices(a.Context(), api.Principal{User: "ada"})
	if err != nil || len(devices.Devices) == 0 {
		a.Fatalf("%v, %v", devices, err)
	}
	s.ask("DELETE", "/v1/devices/"+devices.Devices[0].ID, "", eve)
	if status, _, _ := s.ask("GET", "/v1/sessions", "", s.own(victim)); status != http.StatusOK {
		a.breach("eve has signed ada out")
	}
}

func multipliesItsRate(a *attackEnv) {
	s := a.web()
	mine := s.token(store.Token{User: "eve", Scope: "run", Limits: store.Limits{Rate: 10, Streams: 1, Budget: pawl.MoneyOf(1)}})
	var browsers []as
	for range 3 {
		cookie, _ := s.redeem(s.link("{}", mine), nil)
		if cookie == "" {
			a.Fatal("it cannot sign in")
		}
		browsers = append(browsers, s.own(cookie))
	}
	accepted := 3
	for i := range 40 {
		if status, _, _ := s.ask("GET", "/v1/sessions", "", append(browsers, mine)[i%4]); status == http.StatusOK {
			accepted++
		}
	}
	if accepted > 10 {
		a.breach("%d requests were accepted in no time, the rate is 10 per minute", accepted)
	}
}
