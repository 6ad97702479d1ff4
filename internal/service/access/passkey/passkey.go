// Package passkey registers passkeys and checks sign-ins with them (WebAuthn).
//
// It keeps no state between the two requests of a ceremony: a challenge carries its own
// proof that this process issued it, when, and for what.
package passkey

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// Site is the server as browsers know it.
type Site struct {
	Host   string // the host name, to which browsers bind passkeys
	Origin string // e.g. https://pawl.example.com
}

// Account is whom a passkey signs in.
type Account struct {
	ID   []byte // opaque, at most 64 bytes; the same for all passkeys of the account
	Name string // as browsers show it
}

// Passkey is the public part of a passkey.
type Passkey struct {
	ID    []byte          // chosen by the authenticator
	State json.RawMessage // its public key and counter; changes with each sign-in
}

// ErrRejected is the error of a response that proves nothing.
var ErrRejected = errors.New("the passkey was not accepted")

// New returns what checks ceremonies. Challenges are valid only for the returned value.
func New(now func() time.Time) *Checker {
	return &Checker{challenges: newChallenges(now)}
}

// Checker starts and checks ceremonies. It is safe for concurrent use.
type Checker struct{ challenges *challenges }

// CreateOptions returns the options with which a browser creates a passkey for the account.
// Owner is who registers it: the same must send the response.
func (c *Checker) CreateOptions(site Site, owner string, a Account, existing []Passkey) (json.RawMessage, error) {
	w, err := relyingParty(site)
	if err != nil {
		return nil, err
	}
	u, err := userOf(a, existing...)
	if err != nil {
		return nil, err
	}
	options, _, err := w.BeginRegistration(u, webauthn.WithExclusions(webauthn.Credentials(u.credentials).CredentialDescriptors()))
	if err != nil {
		return nil, fmt.Errorf("create passkey options: %w", err)
	}
	options.Response.Challenge = c.challenges.issue(creation, site, owner)
	return json.Marshal(options.Response)
}

// Create checks the response of a browser that created a passkey, and returns it.
func (c *Checker) Create(site Site, owner string, a Account, response []byte) (Passkey, error) {
	parsed, err := protocol.ParseCredentialCreationResponseBytes(response)
	if err != nil {
		return Passkey{}, rejected(err)
	}
	challenge := parsed.Response.CollectedClientData.Challenge
	if err := c.challenges.check(challenge, creation, site, owner); err != nil {
		return Passkey{}, err
	}
	w, err := relyingParty(site)
	if err != nil {
		return Passkey{}, err
	}
	made, err := w.CreateCredential(user{Account: a}, webauthn.SessionData{
		Challenge: challenge, RelyingPartyID: site.Host, UserID: a.ID, UserVerification: protocol.VerificationRequired,
		CredParams: webauthn.CredentialParametersRecommendedL3(),
	}, parsed)
	if err != nil {
		return Passkey{}, rejected(err)
	}
	if err := c.challenges.use(challenge); err != nil {
		return Passkey{}, err
	}
	return passkeyOf(made)
}

// SignInOptions returns the options with which a browser asks for a passkey of the site.
func (c *Checker) SignInOptions(site Site) (json.RawMessage, error) {
	w, err := relyingParty(site)
	if err != nil {
		return nil, err
	}
	options, _, err := w.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return nil, fmt.Errorf("create sign-in options: %w", err)
	}
	options.Response.Challenge = c.challenges.issue(signIn, site, "")
	return json.Marshal(options.Response)
}

// SignIn checks the response of a browser that used a passkey, and returns the passkey with
// its new state. Find returns the passkey with an ID, and its account.
func (c *Checker) SignIn(site Site, response []byte, find func(id []byte) (Account, Passkey, error)) (Passkey, error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes(response)
	if err != nil {
		return Passkey{}, rejected(err)
	}
	challenge := parsed.Response.CollectedClientData.Challenge
	if err := c.challenges.check(challenge, signIn, site, ""); err != nil {
		return Passkey{}, err
	}
	w, err := relyingParty(site)
	if err != nil {
		return Passkey{}, err
	}
	lookup := func(id, _ []byte) (webauthn.User, error) {
		a, p, err := find(id)
		if err != nil {
			return nil, err
		}
		return userOf(a, p)
	}
	_, used, err := w.ValidatePasskeyLogin(lookup, webauthn.SessionData{
		Challenge: challenge, RelyingPartyID: site.Host, UserVerification: protocol.VerificationRequired,
	}, parsed)
	switch {
	case err != nil:
		return Passkey{}, rejected(err)
	case used.Authenticator.CloneWarning: // its counter went back: there is a copy of the key
		return Passkey{}, rejected(errors.New("its counter went back: the key may have been copied"))
	}
	if err := c.challenges.use(challenge); err != nil {
		return Passkey{}, err
	}
	return passkeyOf(used)
}

// rejected returns ErrRejected with the cause, for the server's log.
func rejected(err error) error {
	var detail *protocol.Error
	if errors.As(err, &detail) {
		err = fmt.Errorf("%s %s", detail.Details, detail.DevInfo)
	}
	return fmt.Errorf("%w: %w", ErrRejected, err)
}

// relyingParty returns the library's view of a site. A passkey must be stored by the
// authenticator, which must have checked the user by a PIN or a biometric.
func relyingParty(site Site) (*webauthn.WebAuthn, error) {
	w, err := webauthn.New(&webauthn.Config{
		RPID: site.Host, RPDisplayName: "Pawl", RPOrigins: []string{site.Origin}, AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification: protocol.VerificationRequired,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("passkeys for %s: %w", site.Origin, err)
	}
	return w, nil
}

// user is an account with its passkeys, as the library wants it.
type user struct {
	Account
	credentials []webauthn.Credential
}

func userOf(a Account, passkeys ...Passkey) (user, error) {
	u := user{Account: a}
	for _, p := range passkeys {
		var c webauthn.Credential
		if err := json.Unmarshal(p.State, &c); err != nil {
			return user{}, fmt.Errorf("read passkey: %w", err)
		}
		u.credentials = append(u.credentials, c)
	}
	return u, nil
}

func (u user) WebAuthnID() []byte                         { return u.ID }
func (u user) WebAuthnName() string                       { return u.Name }
func (u user) WebAuthnDisplayName() string                { return u.Name }
func (u user) WebAuthnCredentials() []webauthn.Credential { return slices.Clone(u.credentials) }

// passkeyOf returns a passkey without its attestation, which nobody checks later.
func passkeyOf(c *webauthn.Credential) (Passkey, error) {
	kept := *c
	kept.Attestation = webauthn.CredentialAttestation{}
	state, err := json.Marshal(kept)
	if err != nil {
		return Passkey{}, fmt.Errorf("write passkey: %w", err)
	}
	return Passkey{ID: c.ID, State: state}, nil
}
