package access

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// A device is a browser that is signed in: a token of the kind device, whose secret is in a cookie. A
// link signs one in. Whoever makes a link gives away at most what they may do themselves: the device has
// their tenant, user and limits, at most their scope, and does not outlive them.

// The limits of links and devices.
const (
	linkLife    = 5 * time.Minute
	deviceLife  = 90 * 24 * time.Hour
	maxDevices  = 50 // of a user, with links that are not used yet
	maxAttempts = 10 // failed sign-ins from an address, per minute
)

// The prefixes of secrets.
const (
	linkPrefix   = prefix + "link_"
	devicePrefix = prefix + "device_"
)

// random returns 256 random bits as text.
func random() string {
	b := make([]byte, 32)
	rand.Read(b) // it never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// NewLink makes a link with which a browser can sign in, once and soon. It returns the secret of the link,
// and the device that it signs in, with the expiry of the link.
func (a *Access) NewLink(ctx context.Context, p api.Principal, n api.NewLink) (string, api.Device, error) {
	n.Scope = cmp.Or(n.Scope, p.Scope)
	if !p.Scope.Covers(n.Scope) || !n.Scope.Covers(api.ScopeRead) {
		return "", api.Device{}, fault.New(pawl.ErrDenied, "a link cannot have the scope %.20q: it exceeds the scope of the token", n.Scope)
	}
	if a.Tokens == nil {
		return "", api.Device{}, fault.New(pawl.ErrInvalid, "this server has no tokens")
	}
	ctx, now := store.WithTenant(ctx, p.Tenant), a.now()
	id, secret := ulid.Make().String(), linkPrefix+random()
	t := store.Token{
		ID: id, Name: cmp.Or(n.Name, "device-"+suffix(id)), Kind: store.TokenLink, Tenant: p.Tenant, User: p.User,
		Scope: string(n.Scope), Hash: Hash(secret), Created: now, Expires: now.Add(linkLife), Limits: p.Limits,
	}
	if pawl.SessionID(p.Token).Valid() { // not the operator
		t.Parent = p.Token
	}
	if err := a.checkNewDevice(ctx, t); err != nil {
		return "", api.Device{}, err
	}
	return secret, deviceOf(t, p), a.Tokens.AddToken(ctx, t)
}

// checkNewDevice returns an error if another token has the name of a device, or its user has too many.
func (a *Access) checkNewDevice(ctx context.Context, t store.Token) error {
	all, err := a.Tokens.Tokens(ctx)
	if err != nil {
		return err
	}
	count := 0
	for _, other := range all {
		switch {
		case !other.Live(t.Created):
		case other.Name == t.Name:
			return fault.New(pawl.ErrConflict, "token %s already exists", t.Name)
		case other.Kind != store.TokenAPI && other.User == t.User:
			count++
		}
	}
	if count >= maxDevices {
		return fault.New(pawl.ErrConflict, "%d devices are signed in: revoke one first", count)
	}
	return nil
}

// deviceOf returns a token as a principal sees it.
func deviceOf(t store.Token, p api.Principal) api.Device {
	return api.Device{
		ID: t.ID, Name: t.Name, User: t.User, Scope: api.Scope(t.Scope), Created: t.Created, Expires: t.Expires, Used: t.Used,
		Current: p.Token != "" && t.ID == p.Token,
	}
}

// errLink is the error of a link that cannot be used, whatever the reason.
var errLink = fault.New(api.ErrUnauthorized, "the link is not valid: it may have been used or have expired")

// Redeem signs a browser in with the secret of a link, and returns the secret of the new device. From is the
// address of the browser, for the limit of failed attempts.
func (a *Access) Redeem(ctx context.Context, secret, from string) (string, api.Device, error) {
	if err := a.links.check(from, a.now()); err != nil {
		return "", api.Device{}, err
	}
	made, t, err := a.redeem(ctx, secret)
	if errors.Is(err, api.ErrUnauthorized) {
		a.links.fail(from, a.now())
	}
	return made, deviceOf(t, api.Principal{}), err
}

func (a *Access) redeem(ctx context.Context, secret string) (string, store.Token, error) {
	var none store.Token
	if a.Tokens == nil || !strings.HasPrefix(secret, linkPrefix) {
		return "", none, errLink
	}
	now, hash := a.now(), Hash(secret)
	link, err := a.Tokens.TokenByHash(ctx, hash)
	if errors.Is(err, pawl.ErrNotFound) || err == nil && (link.Kind != store.TokenLink || !link.Live(now)) {
		err = errLink
	}
	if err != nil {
		return "", none, err
	}
	ctx = store.WithTenant(ctx, link.Tenant)
	device := link
	device.Kind, device.Created, device.Expires = store.TokenDevice, now, now.Add(deviceLife)
	if err := a.inherit(ctx, &device, now); err != nil {
		return "", none, err
	}
	made := devicePrefix + random()
	device.Hash = Hash(made)
	if err = a.Tokens.Redeem(ctx, hash, device); errors.Is(err, pawl.ErrNotFound) {
		err = errLink
	}
	return made, device, err
}

// inherit limits a device to what the token that made its link still allows. A device that was signed in by
// another device belongs to the same API token.
func (a *Access) inherit(ctx context.Context, device *store.Token, now time.Time) error {
	account, err := a.account(ctx, device.Tenant)
	if err != nil || !account.Suspended.IsZero() {
		return errors.Join(err, errLink)
	}
	if device.Parent == "" {
		return nil
	}
	all, err := a.Tokens.Tokens(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(t store.Token) bool { return t.ID == device.Parent })
	if i < 0 || !all[i].Live(now) {
		return errLink
	}
	maker := all[i]
	if !maker.Expires.IsZero() && maker.Expires.Before(device.Expires) {
		device.Expires = maker.Expires
	}
	if maker.Kind == store.TokenDevice {
		device.Parent = maker.Parent
	}
	return nil
}

// AuthDevice returns the principal of a device. Errors are as those of Auth.
func (a *Access) AuthDevice(ctx context.Context, secret string) (api.Principal, error) {
	return a.auth(ctx, secret, store.TokenDevice)
}

// Devices returns the devices and passkeys of the principal: those of their user, or all.
func (a *Access) Devices(ctx context.Context, p api.Principal) (api.Devices, error) {
	found := api.Devices{Devices: []api.Device{}, Passkeys: []api.Device{}}
	if a.Tokens == nil {
		return found, nil
	}
	all, err := a.Tokens.Tokens(store.WithTenant(ctx, p.Tenant))
	for _, t := range all {
		switch {
		case !t.Live(a.now()) || !manages(p, t):
		case t.Kind == store.TokenDevice:
			found.Devices = append(found.Devices, deviceOf(t, p))
		case t.Kind == store.TokenPasskey:
			found.Passkeys = append(found.Passkeys, deviceOf(t, p))
		}
	}
	return found, err
}

// manages reports whether a principal may see and revoke a device or a passkey.
func manages(p api.Principal, t store.Token) bool {
	return t.User == p.User || p.User == "" && p.Scope.Covers(api.ScopeAdmin)
}

// RevokeDevice signs a device out, or revokes a passkey; or it returns ErrNotFound. Open streams of the
// device end.
func (a *Access) RevokeDevice(ctx context.Context, p api.Principal, id string) error {
	found, err := a.Devices(ctx, p)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(slices.Concat(found.Devices, found.Passkeys), func(d api.Device) bool { return d.ID == id }) {
		return fault.New(pawl.ErrNotFound, "device not found")
	}
	if err := a.Tokens.RevokeToken(store.WithTenant(ctx, p.Tenant), id, a.now()); err != nil {
		return err
	}
	a.forget(id)
	return nil
}

// RevokeToken revokes a token and the devices that were signed in with it.
func RevokeToken(ctx context.Context, tokens store.Tokens, id string, at time.Time) error {
	if err := tokens.RevokeToken(ctx, id, at); err != nil {
		return err
	}
	all, err := tokens.Tokens(ctx)
	if err != nil {
		return err
	}
	for _, t := range all {
		if t.Parent == id && t.Revoked.IsZero() {
			if err := tokens.RevokeToken(ctx, t.ID, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// linkAttempts counts failed sign-ins by the address that they come from.
type linkAttempts struct {
	mu   sync.Mutex
	from map[string]*rate
}

// bucket returns what is left for an address. The caller holds the lock.
func (l *linkAttempts) bucket(from string, now time.Time) *rate {
	if l.from == nil || len(l.from) >= maxCached {
		l.from = map[string]*rate{}
	}
	r, ok := l.from[from]
	if !ok {
		r = &rate{maxAttempts, now}
		l.from[from] = r
	}
	return r
}

// check returns an error if too many attempts from an address have failed.
func (l *linkAttempts) check(from string, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if wait := l.bucket(from, now).fill(maxAttempts, now); wait > 0 {
		return &api.LimitError{What: "too many failed sign-ins", After: wait}
	}
	return nil
}

func (l *linkAttempts) fail(from string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bucket(from, now).left--
}
