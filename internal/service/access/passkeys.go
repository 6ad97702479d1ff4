package access

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/service/access/passkey"
	"github.com/pawl-dev/pawl/internal/store"
)

// A passkey is a token of the kind passkey: it signs browsers in as the user, with the scope and limits, of
// the device that registered it, and ends with the API token behind that device.

const (
	// passkeyLife is how long a passkey can be used.
	passkeyLife = 365 * 24 * time.Hour
	// freshSignIn is how old the sign-in of a device that registers a passkey may be, so that someone who
	// gets hold of a browser, or of its cookie, cannot make the access last.
	freshSignIn = 10 * time.Minute
)

var (
	errStale = fault.New(pawl.ErrDenied, "passkeys can be added only within 10 minutes after the sign-in: sign in again with a new link")
	errKey   = fault.New(api.ErrUnauthorized, "the passkey is not valid here: it may be revoked, or belong to another server")
)

// passkeys returns what checks ceremonies.
func (a *Access) passkeys() *passkey.Checker {
	a.once.Do(func() { a.checker = passkey.New(a.now) })
	return a.checker
}

// accountOf returns the account of a token, as authenticators know it: by a hash of its tenant and user.
func accountOf(t store.Token) passkey.Account {
	id := sha256.Sum256([]byte("pawl\x00" + string(t.Tenant) + "\x00" + string(t.User)))
	return passkey.Account{ID: id[:], Name: cmp.Or(string(t.User), "owner")}
}

// PasskeyOptions returns the options with which a browser creates a passkey.
func (a *Access) PasskeyOptions(ctx context.Context, p api.Principal, site passkey.Site) (json.RawMessage, error) {
	device, all, err := a.freshDevice(ctx, p)
	if err != nil {
		return nil, err
	}
	var existing []passkey.Passkey
	for _, t := range all {
		if t.Kind == store.TokenPasskey && t.User == device.User && t.Live(a.now()) {
			existing = append(existing, passkey.Passkey{State: json.RawMessage(t.Passkey)})
		}
	}
	return a.passkeys().CreateOptions(site, device.ID, accountOf(device), existing)
}

// AddPasskey stores a passkey that a browser has created.
func (a *Access) AddPasskey(ctx context.Context, p api.Principal, site passkey.Site, n api.NewPasskey) (api.Device, error) {
	device, _, err := a.freshDevice(ctx, p)
	if err != nil {
		return api.Device{}, err
	}
	made, err := a.passkeys().Create(site, device.ID, accountOf(device), n.Credential)
	if errors.Is(err, passkey.ErrRejected) {
		return api.Device{}, fault.New(pawl.ErrInvalid, "%w", err)
	}
	if err != nil {
		return api.Device{}, err
	}
	id, now := ulid.Make().String(), a.now()
	t := store.Token{
		ID: id, Name: cmp.Or(n.Name, "passkey-"+suffix(id)), Kind: store.TokenPasskey, Tenant: device.Tenant, User: device.User, Parent: device.Parent,
		Scope: device.Scope, Hash: Hash(string(made.ID)), Created: now, Expires: now.Add(passkeyLife), Limits: device.Limits, Passkey: string(made.State),
	}
	ctx = store.WithTenant(ctx, p.Tenant)
	if err := a.inherit(ctx, &t, now); err != nil {
		return api.Device{}, err
	}
	if err := a.checkNewDevice(ctx, t); err != nil {
		return api.Device{}, err
	}
	return deviceOf(t, p), a.Tokens.AddToken(ctx, t)
}

// suffix returns the end of an ID, for generated names.
func suffix(id string) string { return strings.ToLower(id[len(id)-6:]) }

// freshDevice returns the device that a request comes from, if it was signed in a short time ago, and all
// tokens of its tenant.
func (a *Access) freshDevice(ctx context.Context, p api.Principal) (store.Token, []store.Token, error) {
	if !p.Device || a.Tokens == nil {
		return store.Token{}, nil, fault.New(pawl.ErrInvalid, "only a browser that is signed in can add a passkey")
	}
	all, err := a.Tokens.Tokens(store.WithTenant(ctx, p.Tenant))
	if err != nil {
		return store.Token{}, nil, err
	}
	i := slices.IndexFunc(all, func(t store.Token) bool { return t.ID == p.Token })
	if i < 0 || a.now().Sub(all[i].Created) > freshSignIn {
		return store.Token{}, nil, errStale
	}
	return all[i], all, nil
}

// SignInOptions returns the options with which a browser asks for a passkey.
func (a *Access) SignInOptions(site passkey.Site) (json.RawMessage, error) {
	return a.passkeys().SignInOptions(site)
}

// SignIn signs a browser in with a passkey, and returns the secret of the new device. From is the address of
// the browser, for the limit of failed attempts.
func (a *Access) SignIn(ctx context.Context, site passkey.Site, response []byte, from string) (string, api.Device, error) {
	if err := a.links.check(from, a.now()); err != nil {
		return "", api.Device{}, err
	}
	made, t, err := a.signIn(ctx, site, response)
	if errors.Is(err, api.ErrUnauthorized) {
		a.links.fail(from, a.now())
	}
	return made, deviceOf(t, api.Principal{}), err
}

func (a *Access) signIn(ctx context.Context, site passkey.Site, response []byte) (string, store.Token, error) {
	var none, key store.Token
	if a.Tokens == nil {
		return "", none, errKey
	}
	now := a.now()
	used, err := a.passkeys().SignIn(site, response, func(id []byte) (passkey.Account, passkey.Passkey, error) {
		var err error
		if key, err = a.Tokens.TokenByHash(ctx, Hash(string(id))); err == nil && (key.Kind != store.TokenPasskey || !key.Live(now)) {
			err = pawl.ErrNotFound
		}
		return accountOf(key), passkey.Passkey{ID: id, State: json.RawMessage(key.Passkey)}, err
	})
	switch {
	case errors.Is(err, passkey.ErrRejected):
		return "", none, errors.Join(errKey, err)
	case err != nil:
		return "", none, err
	}
	ctx = store.WithTenant(ctx, key.Tenant)
	device, made := key, devicePrefix+random()
	device.ID = ulid.Make().String()
	device.Kind, device.Passkey, device.Name, device.Hash = store.TokenDevice, "", "browser-"+suffix(device.ID), Hash(made)
	device.Created, device.Expires, device.Used = now, now.Add(deviceLife), time.Time{}
	if err := a.inherit(ctx, &device, now); err != nil {
		return "", none, err
	}
	if err := a.checkNewDevice(ctx, device); err != nil {
		return "", none, err
	}
	if err := a.Tokens.UpdatePasskey(ctx, key.ID, key.Passkey, string(used.State)); err != nil {
		return "", none, err
	}
	if err := a.Tokens.UseToken(ctx, key.ID, now); err != nil {
		return "", none, err
	}
	return made, device, a.Tokens.AddToken(ctx, device)
}
