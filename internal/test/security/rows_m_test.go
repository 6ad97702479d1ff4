//go:build sectest

package security

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/store"
)

// Chapter M: browsers that are signed in. A page of another site has the victim's browser send requests with its
// cookie, or somebody wants to be signed in who should not be.
var rowsM = []row{
	{id: "M1", title: "a form of another site", attack: postsWithTheCookie, defense: "server.origin"},
	{id: "M2", title: "a request that does not say where it comes from", attack: sendsNoOrigin, defense: "web.csrf"},
	{id: "M3", title: "origins that look like the server's own", attack: looksLikeTheServer, defense: "server.origin"},
	{id: "M4", title: "a page of another port reads with the cookie", attack: readsAcrossSites, defense: "server.origin"},
	{id: "M5", title: "a page that --origin lists uses the cookie", attack: listedPageUsesTheCookie, defense: "web.listed"},
	{id: "M6", title: "a token beside the cookie of somebody else", attack: sendsBoth, defense: "web.both"},
	{id: "M7", title: "the sign-in page in a frame", attack: framesThePage, defense: "web.policy,server.headers"},
	{id: "M8", title: "DNS rebinding, with the cookie", attack: rebindsWithTheCookie, defense: "server.host"},
	{id: "M9", title: "a cookie that scripts, other sites and the network see", attack: stealsTheCookie, defense: "web.cookie"},
	{id: "M10", title: "a link that is used twice, also at the same time", attack: usesTheLinkTwice, defense: "web.once"},
	{id: "M11", title: "guessing links", attack: guessesLinks, defense: "web.attempts"},
	{id: "M12", title: "a link that was found later", attack: usesTheLinkLate, defense: "web.expiry"},
	{id: "M13", title: "a program that fetches links for a preview", attack: previewsTheLink, defense: "web.prefetch"},
	{id: "M14", title: "a link with a higher scope", attack: linksToAHigherScope, defense: "web.scope"},
	{id: "M15", title: "a link of a token that was revoked, or ends soon", attack: outlivesItsToken, defense: "web.inherit"},
	{id: "M16", title: "a stolen browser that watches while it is revoked", attack: watchesAfterRevocation, defense: "web.watch"},
	{id: "M17", title: "the secret of a link or browser as a token", attack: usesSecretsAsTokens, defense: "web.kind"},
	{id: "M18", title: "a site signs the victim in as the attacker", attack: signsTheVictimIn, defense: "web.form"},
	{id: "M19", title: "a token that may read makes links and signs others out", attack: readerManagesDevices, defense: "server.scope"},
	{id: "M20", title: "BREACH: the size of a compressed response", attack: guessesBySize, defense: "web.padding"},
	{id: "M21", title: "a user signs out the browsers of another", attack: revokesOthers, defense: "web.owner"},
	{id: "M22", title: "more requests by means of more browsers", attack: multipliesItsRate, defense: "web.family"},
	{id: "M23", title: "paths and links that lead out of the session's directories", attack: readsOutside, defense: "files.confined"},
	{id: "M24", title: "a file that the agent may not read without asking, and its diff", attack: readsSecrets, defense: "project.readable"},
	{id: "M25", title: "a page or drawing with a script as a file of the project", attack: showsActiveContent, defense: "files.type"},
	{id: "M26", title: "files and diffs of another user's session", attack: readsOthersFiles, defense: "access.owner"},
	{id: "M27", title: "a stolen cookie makes its access last with a passkey", attack: addsAPasskeyLate, defense: "passkey.fresh"},
	{id: "M28", title: "the response of a passkey, sent again", attack: replaysThePasskey, defense: "passkey.once"},
	{id: "M29", title: "a page of a subdomain asks for the passkey", attack: phishesForThePasskey, defense: "passkey.origin"},
	{id: "M30", title: "a copy of a security key", attack: copiesTheKey, defense: "passkey.counter"},
	{id: "M31", title: "a security key that was found", attack: usesAnUnlockedKey, defense: "passkey.verified"},
}

// cancels sends the simplest request that changes something, and reports whether it was accepted.
func (s *webServer) cancels(how string, header as) {
	s.a.Helper()
	for _, q := range [][2]string{{"POST", s.path + "/cancel"}, {"POST", s.path + "/resume"}, {"DELETE", "/v1/devices/x"}} {
		if status, _, _ := s.ask(q[0], q[1], "", header); status < 300 || status == http.StatusNotFound {
			s.a.breach("%s: %s %s was accepted: %d", how, q[0], q[1], status)
		}
	}
}

// works checks that the victim's own page can do what the attacker cannot.
func (s *webServer) works(cookie string) {
	s.a.Helper()
	if status, text, _ := s.ask("POST", s.path+"/cancel", "", s.own(cookie)); status != http.StatusNoContent {
		s.a.Errorf("the server's own page cannot do it either: %d %s", status, text)
	}
}

func postsWithTheCookie(a *attackEnv) {
	s := a.web()
	cookie := s.signIn(operator)
	for _, kind := range []string{"", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", "application/json"} {
		for _, site := range []string{"", "cross-site", "same-site"} {
			header := as{"Cookie": cookie, "Origin": "https://evil.test"}
			if kind != "" {
				header["Content-Type"] = kind
			}
			if site != "" {
				header["Sec-Fetch-Site"] = site
			}
			s.cancels(fmt.Sprintf("a form of type %q, %s", kind, site), header)
			if status, _, _ := s.ask("PATCH", s.path, `{"title":"owned"}`, header); status < 300 {
				a.breach("a form of type %q changed the title", kind)
			}
		}
	}
	s.works(cookie)
}

func sendsNoOrigin(a *attackEnv) {
	s := a.web()
	cookie := s.signIn(operator)
	s.cancels("no headers", as{"Cookie": cookie})
	s.cancels("typed by the user", as{"Cookie": cookie, "Sec-Fetch-Site": "none"})
	if status, _, _ := s.ask("PATCH", s.path, `{"title":"owned"}`, as{"Cookie": cookie}); status < 300 {
		a.breach("the title was changed")
	}
	if link := s.link("{}", as{"Cookie": cookie}); link != "" {
		a.breach("a link was made")
	}
	s.works(cookie)
}

func looksLikeTheServer(a *attackEnv) {
	s := a.web(func(c *httpapi.Config) {
		c.URL = "https://pawl.example.com"
		c.Hosts = append(c.Hosts, "pawl.example.com")
	})
	cookie := s.signInAt("https://pawl.example.com")
	_, port, _ := strings.Cut(s.addr, ":")
	for _, origin := range []string{
		"null", "https://" + s.addr, "http://127.0.0.1", "http://127.0.0.1:1", "http://localhost:" + port, "http://" + s.addr + ".evil.test",
		"http://" + s.addr + "@evil.test", "http://evil.test/" + s.addr, "http://127.0.0.1." + port, "HTTP://" + s.addr, "http://" + s.addr + "/",
		"http://pawl.example.com", "https://pawl.example.com:444", "https://pawl.example.com.", "https://pawl.example.com.evil.test",
		"https://evilpawl.example.com", "https://x.pawl.example.com", "https://PAWL.example.com", "https://pawl.example.com, https://evil.test", "*", "",
	} {
		if origin == "" {
			continue // row M2
		}
		for _, site := range []string{"", "same-origin"} {
			header := as{"Cookie": cookie, "Origin": origin}
			if site != "" {
				header["Sec-Fetch-Site"] = site
			}
			s.cancels("from "+origin, header)
		}
	}
	if status, text, _ := s.ask("POST", s.path+"/cancel", "", as{"Cookie": cookie, "Origin": "https://pawl.example.com"}); status != http.StatusNoContent {
		a.Errorf("the server's own page cannot do it either: %d %s", status, text)
	}
}

// signInAt signs a browser in through a proxy with this address.
func (s *webServer) signInAt(base string) string {
	s.a.Helper()
	cookie, set := s.redeem(s.link("{}", operator), as{"Origin": base})
	if cookie == "" {
		s.a.Fatalf("nobody can sign in: %q", set)
	}
	return cookie
}

func readsAcrossSites(a *attackEnv) {
	s := a.web()
	cookie := s.signIn(operator)
	for _, header := range []as{
		{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"},
		{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
		{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
		{"Origin": "http://127.0.0.1:1"}, {"Origin": "null"}, {"Origin": "https://evil.test"},
	} {
		header["Cookie"] = cookie
		for _, q := range []string{"/v1/sessions", s.path + "/log", s.path + "/events", "/v1/devices"} {
			status, _, h := s.ask("GET", q, "", header)
			if status < 400 || h.Get("Access-Control-Allow-Origin") != "" {
				a.breach("%v: %s answers %d", header, q, status)
			}
		}
	}
	if status, _, _ := s.ask("GET", "/v1/sessions", "", as{"Cookie": cookie, "Sec-Fetch-Site": "same-origin"}); status != http.StatusOK {
		a.Errorf("the server's own page cannot read either: %d", status)
	}
}

func listedPageUsesTheCookie(a *attackEnv) {
	const listed = "http://127.0.0.1:3000"
	s := a.web(func(c *httpapi.Config) { c.Origins = []string{listed} })
	cookie := s.signIn(operator)
	for _, site := range []string{"same-site", "cross-site"} {
		header := as{"Cookie": cookie, "Origin": listed, "Sec-Fetch-Site": site}
		s.cancels("a listed page", header)
		if status, _, _ := s.ask("GET", "/v1/sessions", "", header); status < 400 {
			a.breach("a listed page reads the sessions with the cookie")
		}
		header["Access-Control-Request-Method"] = "POST"
		for _, method := range []string{"OPTIONS", "GET", "POST"} {
			if _, _, h := s.ask(method, s.path, "", header); h.Get("Access-Control-Allow-Credentials") != "" {
				a.breach("%s: credentials are allowed for a listed page", method)
			}
		}
	}
	if status, text, _ := s.ask("POST", s.path+"/cancel", "", as{"Authorization": "Bearer operator", "Origin": listed}); status != http.StatusNoContent {
		a.Errorf("a listed page cannot use a token: %d %s", status, text)
	}
}

func sendsBoth(a *attackEnv) {
	s := a.web()
	cookie := s.signIn(operator)
	evil := s.token(store.Token{User: "eve", Scope: "read"})
	for _, value := range []string{evil["Authorization"], "Bearer operator", "Bearer ", "Basic eDp5", ""} {
		header := s.own(cookie)
		header["Authorization"] = value
		s.cancels(fmt.Sprintf("with the token %.20q", value), header)
	}
	double := s.own(cookie + "; " + cookie[:strings.Index(cookie, "=")] + "=x")
	if status, _, _ := s.ask("GET", "/v1/sessions", "", double); status < 400 {
		a.breach("one of two cookies was chosen")
	}
	s.works(cookie)
}

func framesThePage(a *attackEnv) {
	s := a.web()
	cookie := s.signIn(operator)
	link := s.link("{}", operator)
	for _, q := range []string{"/signin", "/signin?link=" + link, "/signin?link=%22%3E%3Cscript%3Ealert(1)%3C/script%3E"} {
		_, text, h := s.ask("GET", q, "", as{"Cookie": cookie})
		policy := h.Get("Content-Security-Policy")
		if h.Get("X-Frame-Options") != "DENY" || !strings.Contains(policy, "frame-ancestors 'none'") {
			a.breach("%.20s may be framed", q)
		}
		if !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "script-src") {
			a.breach("%.20s may run scripts: %s", q, policy)
		}
		if strings.Contains(text, "<script") || strings.Contains(text, "http://") || strings.Contains(text, "https://") {
			a.breach("%.20s has a script, or loads something: %s", q, text)
		}
		if h.Get("Cross-Origin-Opener-Policy") != "same-origin" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" {
			a.breach("%.20s has the headers %v", q, h)
		}
	}
	for _, dest := range []string{"iframe", "frame", "object", "embed"} {
		if status, _, _ := s.ask("GET", "/signin?link="+link, "", as{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": dest}); status < 400 {
			a.breach("another site gets it in an %s", dest)
		}
	}
}

// rebindsWithTheCookie attacks the program itself.
func rebindsWithTheCookie(a *attackEnv) {
	s := a.serve()
	id := s.create()
	cookie := s.signIn(s.owner())
	_, port, _ := strings.Cut(s.addr, ":")
	for _, host := range []string{"evil.test", "evil.test:" + port, "127.0.0.1.evil.test:" + port, "0.0.0.0:" + port} {
		header := as{"Host": host, "Cookie": cookie, "Origin": "http://" + host}
		s.command("as "+host, id, header)
		for _, q := range []string{"/v1/sessions", "/v1/devices", "/signin"} {
			if status, _, _ := s.ask("GET", q, "", header); status < 400 {
				a.breach("as %s: %s answers", host, q)
			}
		}
		if s.link("{}", header) != "" {
			a.breach("as %s: a link was made", host)
		}
	}
	if status, text, _ := s.ask("GET", "/v1/sessions", "", s.own(cookie)); status != http.StatusOK {
		a.Errorf("the browser is not signed in: %d %s", status, text)
	}
}

func stealsTheCookie(a *attackEnv) {
	for base, prefix := range map[string]string{"": "pawl-", "https://pawl.example.com": "__Host-pawl="} {
		s := a.web(func(c *httpapi.Config) { c.URL = base; c.Hosts = append(c.Hosts, "pawl.example.com") })
		from := base
		if from == "" {
			from = "http://" + s.addr
		}
		_, set := s.redeem(s.link("{}", operator), as{"Origin": from})
		wanted := []string{"; HttpOnly", "; SameSite=Strict", "; Path=/"}
		if base != "" {
			wanted = append(wanted, "; Secure")
		}
		for _, attribute := range wanted {
			if !strings.Contains(set, attribute) {
				a.breach("at %q the cookie has no%s", base, attribute)
			}
		}
		if !strings.HasPrefix(set, prefix) || strings.Contains(set, "Domain") {
			a.breach("at %q the cookie is %.20s", base, set)
		}
	}
}
