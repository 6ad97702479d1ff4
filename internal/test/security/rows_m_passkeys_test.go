//go:build sectest

package security

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/service/access/passkey/passkeytest"
)

// passkeyOrigin is the address of the servers that offer passkeys.
const passkeyOrigin = "https://pawl.test"

// passkeySite returns a server whose browsers have passkeys, and the headers of a browser that is signed in.
func (a *attackEnv) passkeySite() (*webServer, as) {
	a.Helper()
	s := a.web(func(c *httpapi.Config) { c.URL = passkeyOrigin })
	return s, as{"Cookie": s.signInAt(passkeyOrigin), "Origin": passkeyOrigin}
}

// options returns the options of a ceremony, nil if they are refused.
func (s *webServer) options(path string, header as) []byte {
	s.a.Helper()
	_, text, _ := s.ask("POST", path, "", header)
	var got struct {
		PublicKey json.RawMessage `json:"publicKey"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		s.a.Fatalf("%s: %v", text, err)
	}
	return got.PublicKey
}

// addPasskey adds a passkey as a browser, and reports whether that was accepted.
func (s *webServer) addPasskey(header as) (*passkeytest.Authenticator, bool) {
	s.a.Helper()
	key := passkeytest.New("pawl.test", passkeyOrigin)
	options := s.options("/v1/passkeys/options", header)
	if options == nil {
		return key, false
	}
	all := as{"Content-Type": "application/json"}
	for name, value := range header {
		all[name] = value
	}
	status, _, _ := s.ask("POST", "/v1/passkeys", `{"credential":`+string(key.Create(options))+"}", all)
	return key, status == http.StatusCreated
}

// passkeySignIn sends the response of an authenticator, and returns the cookie.
func (s *webServer) passkeySignIn(response []byte, origin string) string {
	s.a.Helper()
	_, _, h := s.ask("POST", "/signin/passkey", string(response), as{"Content-Type": "application/json", "Origin": origin})
	cookie, _, _ := strings.Cut(h.Get("Set-Cookie"), ";")
	return cookie
}

// challenge returns the options of a sign-in, as anybody gets them.
func (s *webServer) challenge() []byte {
	s.a.Helper()
	return s.options("/signin/passkey/options", as{"Origin": passkeyOrigin})
}

// victimsPasskey returns a server with a passkey that works.
func (a *attackEnv) victimsPasskey() (*webServer, *passkeytest.Authenticator) {
	a.Helper()
	s, browser := a.passkeySite()
	key, ok := s.addPasskey(browser)
	if !ok || s.passkeySignIn(key.SignIn(s.challenge()), passkeyOrigin) == "" {
		a.Fatal("nobody can sign in with a passkey")
	}
	return s, key
}

func addsAPasskeyLate(a *attackEnv) {
	s, stolen := a.passkeySite()
	s.now = s.now.Add(time.Hour)
	if _, ok := s.addPasskey(stolen); ok {
		a.breach("a cookie that was stolen an hour after the sign-in makes a passkey that lasts a year")
	}
}

func replaysThePasskey(a *attackEnv) {
	s, key := a.victimsPasskey()
	seen := key.SignIn(s.challenge())
	if s.passkeySignIn(seen, passkeyOrigin) == "" {
		a.Error("the victim cannot sign in")
	}
	for range 3 {
		if s.passkeySignIn(seen, passkeyOrigin) != "" {
			a.breach("a response that was used signs another browser in")
		}
	}
}

func phishesForThePasskey(a *attackEnv) {
	s, key := a.victimsPasskey()
	key.Origin = "https://evil.pawl.test" // browsers let pages of subdomains use passkeys of the host
	for _, from := range []string{passkeyOrigin, key.Origin} {
		if s.passkeySignIn(key.SignIn(s.challenge()), from) != "" {
			a.breach("what the victim signed for a page of %s signs the attacker in, sent from %s", key.Origin, from)
		}
	}
}

func copiesTheKey(a *attackEnv) {
	s, key := a.victimsPasskey()
	key.Count = 1
	stolen := *key
	if s.passkeySignIn(key.SignIn(s.challenge()), passkeyOrigin) == "" {
		a.Error("the victim cannot sign in")
	}
	if s.passkeySignIn(stolen.SignIn(s.challenge()), passkeyOrigin) != "" {
		a.breach("a copy of the key, whose counter is behind, signs in")
	}
}

func usesAnUnlockedKey(a *attackEnv) {
	s, key := a.victimsPasskey()
	key.Flags = passkeytest.Present
	if s.passkeySignIn(key.SignIn(s.challenge()), passkeyOrigin) != "" {
		a.breach("a key that was found signs in without PIN or biometric")
	}
}
