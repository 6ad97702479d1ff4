package access_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/service/access/passkey"
	"github.com/pawl-dev/pawl/internal/service/access/passkey/passkeytest"
	"github.com/pawl-dev/pawl/internal/store"
)

var site = passkey.Site{Host: "pawl.test", Origin: "https://pawl.test"}

// register adds a passkey as a device, and returns it with its authenticator.
func (k *keys) register(p api.Principal) (*passkeytest.Authenticator, api.Device) {
	k.Helper()
	options, err := k.gate.PasskeyOptions(k.Context(), p, site)
	if err != nil {
		k.Fatal(err)
	}
	a := passkeytest.New(site.Host, site.Origin)
	d, err := k.gate.AddPasskey(k.Context(), p, site, api.NewPasskey{Credential: a.Create(options)})
	if err != nil {
		k.Fatal(err)
	}
	return a, d
}

// options returns the options of a sign-in.
func (k *keys) options(s passkey.Site) json.RawMessage {
	k.Helper()
	options, err := k.gate.SignInOptions(s)
	if err != nil {
		k.Fatal(err)
	}
	return options
}

// rejects checks that the response to the options signs nobody in.
func (k *keys) rejects(what string, s passkey.Site, response []byte) {
	k.Helper()
	secret, d, err := k.gate.SignIn(k.Context(), s, response, what)
	if !errors.Is(err, api.ErrUnauthorized) || secret != "" || d != (api.Device{}) {
		k.Errorf("%s: signed in as %+v, %v", what, d, err)
	}
}

func TestPasskeys(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	token := store.Token{User: "ada", Scope: "approve", Limits: store.Limits{Rate: 60}, Expires: dawn.Add(200 * 24 * time.Hour)}
	_, token.ID = k.make(token)
	maker := api.Principal{Token: token.ID, User: "ada", Scope: api.ScopeApprove, Limits: token.Limits}
	device, _ := k.redeem(k.link(maker, api.NewLink{Scope: api.ScopeRun}))
	a, registered := k.register(device)
	if registered.User != "ada" || registered.Scope != api.ScopeRun || !registered.Expires.Equal(token.Expires) {
		t.Errorf("registered %+v", registered)
	}

	k.now = dawn.Add(100 * 24 * time.Hour) // the device that registered it has expired
	for range 2 {
		secret, d, err := k.gate.SignIn(t.Context(), site, a.SignIn(k.options(site)), "here")
		if err != nil || d.User != "ada" || d.Scope != api.ScopeRun || !d.Expires.Equal(k.now.Add(90*24*time.Hour)) {
			t.Fatalf("signed in as %+v, %v", d, err)
		}
		p, err := k.gate.AuthDevice(t.Context(), secret)
		if want := (api.Principal{Token: d.ID, User: "ada", Scope: api.ScopeRun, Device: true, Family: token.ID, Limits: token.Limits}); p != want || err != nil {
			t.Errorf("the device is %+v, %v, want %+v", p, err, want)
		}
	}
	all, err := k.gate.Devices(t.Context(), operator)
	if err != nil || len(all.Devices) != 2 || len(all.Passkeys) != 1 || !all.Passkeys[0].Used.Equal(k.now) {
		t.Errorf("there are %+v, %v", all, err)
	}
	if err := k.gate.RevokeDevice(t.Context(), operator, registered.ID); err != nil {
		t.Fatal(err)
	}
	k.rejects("revoked", site, a.SignIn(k.options(site)))
}

// TestPasskeysEnd checks that a passkey ends with the API token behind it, and after a year.
func TestPasskeysEnd(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	_, token := k.make(store.Token{User: "ada", Scope: "run"})
	of, _ := k.redeem(k.link(api.Principal{Token: token, User: "ada", Scope: api.ScopeRun}, api.NewLink{}))
	adas, _ := k.register(of)
	device, _ := k.redeem(k.link(operator, api.NewLink{}))
	own, _ := k.register(device)
	if err := k.RevokeToken(t.Context(), token, k.now); err != nil {
		t.Fatal(err)
	}
	k.rejects("without its token", site, adas.SignIn(k.options(site)))
	k.now = dawn.Add(364 * 24 * time.Hour)
	if _, _, err := k.gate.SignIn(t.Context(), site, own.SignIn(k.options(site)), "here"); err != nil {
		t.Error(err)
	}
	k.now = dawn.Add(365 * 24 * time.Hour)
	k.rejects("after a year", site, own.SignIn(k.options(site)))
}

// TestPasskeyResponses checks that responses that prove nothing are rejected.
func TestPasskeyResponses(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	device, _ := k.redeem(k.link(operator, api.NewLink{}))
	a, _ := k.register(device)
	other := passkey.Site{Host: "other.test", Origin: "https://other.test"}
	respond := func(change func(a *passkeytest.Authenticator), options []byte) []byte {
		b := *a
		change(&b)
		return b.SignIn(options)
	}
	same := func(*passkeytest.Authenticator) {}
	unknown := passkeytest.New(site.Host, site.Origin)
	creation, err := k.gate.PasskeyOptions(t.Context(), device, site)
	if err != nil {
		t.Fatal(err)
	}
	k.rejects("nothing", site, nil)
	k.rejects("no response", site, []byte("{}"))
	k.rejects("an unknown key", site, respond(func(b *passkeytest.Authenticator) { *b = *unknown; b.User = a.User }, k.options(site)))
	k.rejects("another key with its ID", site, respond(func(b *passkeytest.Authenticator) { *b = *unknown; b.User, b.ID = a.User, a.ID }, k.options(site)))
	k.rejects("a page of another origin", site, respond(func(b *passkeytest.Authenticator) { b.Origin = "https://pawl.test.evil.test" }, k.options(site)))
	k.rejects("a page without TLS", site, respond(func(b *passkeytest.Authenticator) { b.Origin = "http://pawl.test" }, k.options(site)))
	k.rejects("a key of another host", site, respond(func(b *passkeytest.Authenticator) { b.Host = "other.test" }, k.options(site)))
	k.rejects("a user that was not verified", site, respond(func(b *passkeytest.Authenticator) { b.Flags = passkeytest.Present }, k.options(site)))
	k.rejects("another account", site, respond(func(b *passkeytest.Authenticator) { b.User = []byte("bob") }, k.options(site)))
	k.rejects("no account", site, respond(func(b *passkeytest.Authenticator) { b.User = nil }, k.options(site)))
	k.rejects("a challenge of another site", site, respond(same, k.options(other)))
	k.rejects("a challenge of a registration", site, respond(same, creation))
	k.rejects("an invented challenge", site, respond(same, []byte(`{"challenge":"AAAA"}`)))
	late := k.options(site)
	k.now = k.now.Add(5*time.Minute + time.Second)
	k.rejects("a late response", site, respond(same, late))

	response := a.SignIn(k.options(site))
	if _, _, err := k.gate.SignIn(t.Context(), site, response, "here"); err != nil {
		t.Fatal(err)
	}
	k.rejects("a response that was used", site, response)
	a.Count = 1
	stolen := *a
	if _, _, err := k.gate.SignIn(t.Context(), site, a.SignIn(k.options(site)), "here"); err != nil {
		t.Fatal(err)
	}
	k.rejects("a copy of the key", site, stolen.SignIn(k.options(site)))
}

// TestPasskeyRegistration checks who can add a passkey, and with which responses.
func TestPasskeyRegistration(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	device, _ := k.redeem(k.link(operator, api.NewLink{Name: "first"}))
	second, _ := k.redeem(k.link(operator, api.NewLink{Name: "second"}))
	options, err := k.gate.PasskeyOptions(t.Context(), device, site)
	if err != nil {
		t.Fatal(err)
	}
	add := func(p api.Principal, s passkey.Site, response []byte) error {
		_, err := k.gate.AddPasskey(t.Context(), p, s, api.NewPasskey{Credential: response})
		return err
	}
	create := func(change func(a *passkeytest.Authenticator), options []byte) []byte {
		a := passkeytest.New(site.Host, site.Origin)
		change(a)
		return a.Create(options)
	}
	same := func(*passkeytest.Authenticator) {}
	for what, err := range map[string]error{
		"of another device":    add(second, site, create(same, options)),
		"for a sign-in":        add(device, site, create(same, k.options(site))),
		"of another origin":    add(device, site, create(func(a *passkeytest.Authenticator) { a.Origin = "https://evil.test" }, options)),
		"of another host":      add(device, site, create(func(a *passkeytest.Authenticator) { a.Host = "evil.test" }, options)),
		"without verification": add(device, site, create(func(a *passkeytest.Authenticator) { a.Flags = passkeytest.Present }, options)),
		"of a token":           add(api.Principal{Scope: api.ScopeAdmin}, site, create(same, options)),
	} {
		if !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	response := create(same, options)
	if err := add(device, site, response); err != nil {
		t.Fatal(err)
	}
	if err := add(device, site, response); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("a response twice: %v", err)
	}
	if options, err = k.gate.PasskeyOptions(t.Context(), device, site); err != nil {
		t.Fatal(err)
	}
	k.now = k.now.Add(11 * time.Minute)
	if _, err := k.gate.PasskeyOptions(t.Context(), device, site); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("options long after the sign-in: %v", err)
	}
	if err := add(device, site, create(same, options)); !errors.Is(err, pawl.ErrDenied) {
		t.Errorf("long after the sign-in: %v", err)
	}
	all, err := k.gate.Devices(t.Context(), operator)
	if err != nil || len(all.Passkeys) != 1 {
		t.Errorf("there are %+v, %v", all.Passkeys, err)
	}
}
