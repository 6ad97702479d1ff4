package storetest

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// token returns a token with all fields set.
func token(name string) store.Token {
	hash := sha256.Sum256([]byte(NewID()))
	return store.Token{
		ID: string(NewID()), Name: name, User: "ada", Scope: "run", Hash: hex.EncodeToString(hash[:]),
		Created: dawn, Expires: dawn.Add(time.Hour), Limits: store.Limits{Rate: 60, Budget: 5_000_000_000, Parallel: 2, Streams: 3},
	}
}

// added adds tokens.
func added(t *testing.T, s store.Tokens, tokens ...store.Token) {
	t.Helper()
	for _, k := range tokens {
		if err := s.AddToken(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
}

// found fails the test unless the token is found by its hash.
func found(t *testing.T, s store.Tokens, want store.Token) {
	t.Helper()
	got, err := s.TokenByHash(t.Context(), want.Hash)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "the token", got, want)
}

func tokensKept(t *testing.T, a, b store.Tokens) {
	full, least := token("ci"), token("plain")
	full.Kind, full.Parent = store.TokenDevice, least.ID
	full.Used, full.Revoked = dawn.Add(time.Minute), dawn.Add(2*time.Minute)
	least.User, least.Expires, least.Limits, least.Created = "", time.Time{}, store.Limits{}, dawn.Add(time.Second)
	added(t, a, full, least)
	found(t, b, full)
	found(t, b, least)
	all, err := b.Tokens(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "all", all, []store.Token{least, full})
	for _, hash := range []string{"", token("x").Hash, strings.ToUpper(full.Hash), "\xff\x00", full.Hash[:63] + "%"} {
		_, err := a.TokenByHash(t.Context(), hash)
		fails(t, hash, err, pawl.ErrNotFound)
	}
}

func tokensRefused(t *testing.T, a, b store.Tokens) {
	first := token("first")
	added(t, a, first)
	same, sameHash := token("second"), token("third")
	same.ID, sameHash.Hash = first.ID, first.Hash
	fails(t, "the id of another", b.AddToken(t.Context(), same), pawl.ErrConflict)
	fails(t, "the hash of another", b.AddToken(t.Context(), sameHash), pawl.ErrConflict)
	for what, spoil := range map[string]func(*store.Token){
		"no id":            func(k *store.Token) { k.ID = "" },
		"an odd kind":      func(k *store.Token) { k.Kind = "x" },
		"an odd parent":    func(k *store.Token) { k.Parent = "x" },
		"no public key":    func(k *store.Token) { k.Kind = store.TokenPasskey },
		"a public key":     func(k *store.Token) { k.Passkey = "{}" },
		"an endless link":  func(k *store.Token) { k.Kind, k.Expires = store.TokenLink, time.Time{} },
		"no hash":          func(k *store.Token) { k.Hash = "" },
		"a secret as hash": func(k *store.Token) { k.Hash = "pawl_secret" },
		"no name":          func(k *store.Token) { k.Name = "" },
		"a name in lines":  func(k *store.Token) { k.Name = "a\nb" },
		"an odd user":      func(k *store.Token) { k.User = "a b" },
		"a rate below 0":   func(k *store.Token) { k.Limits.Rate = -1 },
		"a budget below 0": func(k *store.Token) { k.Limits.Budget = -1 },
		"streams below 0":  func(k *store.Token) { k.Limits.Streams = -1 },
	} {
		k := token("bad")
		spoil(&k)
		fails(t, what, a.AddToken(t.Context(), k), pawl.ErrInvalid)
	}
	found(t, b, first)
}

func tokensRevoked(t *testing.T, a, b store.Tokens) {
	revoked, stays := token("gone"), token("stays")
	added(t, a, revoked, stays)
	for _, at := range []time.Time{dawn.Add(time.Minute), dawn.Add(time.Hour)} {
		if err := b.RevokeToken(t.Context(), revoked.ID, at); err != nil {
			t.Fatal(err)
		}
	}
	revoked.Revoked = dawn.Add(time.Minute)
	found(t, a, revoked)
	found(t, a, stays)
	equal(t, "live", []bool{revoked.Live(dawn), stays.Live(dawn), stays.Live(stays.Expires)}, []bool{false, true, false})
	for _, id := range []string{"", string(NewID()), "\xff\x00", "%"} {
		fails(t, id, a.RevokeToken(t.Context(), id, dawn), pawl.ErrNotFound)
	}
}

func tokensUsed(t *testing.T, a, b store.Tokens) {
	k := token("ci")
	added(t, a, k)
	for _, at := range []time.Time{dawn.Add(time.Minute), dawn.Add(time.Hour), dawn.Add(time.Second)} {
		if err := b.UseToken(t.Context(), k.ID, at); err != nil {
			t.Fatal(err)
		}
	}
	k.Used = dawn.Add(time.Hour) // a late call does not set it back
	found(t, a, k)
	if err := a.UseToken(t.Context(), string(NewID()), dawn); err != nil {
		t.Error(err)
	}
}

// passkeysUpdated checks that of several processes that update a passkey, one succeeds.
func passkeysUpdated(t *testing.T, a, b store.Tokens) {
	k, other := token("laptop"), token("phone")
	k.Kind, k.Passkey = store.TokenPasskey, `{"count":1}`
	other.Kind, other.Passkey = store.TokenPasskey, k.Passkey
	added(t, a, k, other)
	found(t, b, k)
	var all sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		all.Go(func() {
			errs[i] = []store.Tokens{a, b}[i%2].UpdatePasskey(t.Context(), k.ID, k.Passkey, `{"count":2}`)
		})
	}
	all.Wait()
	done := 0
	for _, err := range errs {
		if err == nil {
			done++
		} else {
			fails(t, "a second use", err, pawl.ErrConflict)
		}
	}
	equal(t, "updates", done, 1)
	k.Passkey = `{"count":2}`
	found(t, b, k)
	found(t, b, other)
	for _, id := range []string{"", string(NewID()), "\xff\x00"} {
		fails(t, id, a.UpdatePasskey(t.Context(), id, k.Passkey, "{}"), pawl.ErrConflict)
	}
}

// device returns the device that replaces a link.
func device(link store.Token) store.Token {
	d := token(link.Name + "-device")
	d.ID, d.Kind, d.Created, d.Expires = link.ID, store.TokenDevice, dawn.Add(time.Minute), dawn.Add(24*time.Hour)
	return d
}

// linksRedeemed checks that of several processes that redeem a link, one gets a device.
func linksRedeemed(t *testing.T, a, b store.Tokens) {
	link, api, revoked := token("link"), token("api"), token("revoked")
	link.Kind, revoked.Kind = store.TokenLink, store.TokenLink
	added(t, a, link, api, revoked)
	if err := a.RevokeToken(t.Context(), revoked.ID, dawn); err != nil {
		t.Fatal(err)
	}
	devices, errs := make([]store.Token, 8), make([]error, 8)
	var all sync.WaitGroup
	for i := range devices {
		devices[i] = device(link)
		all.Go(func() {
			errs[i] = []store.Tokens{a, b}[i%2].Redeem(t.Context(), link.Hash, devices[i])
		})
	}
	all.Wait()
	var won []store.Token
	for i, err := range errs {
		if err == nil {
			won = append(won, devices[i])
			continue
		}
		fails(t, "a second time", err, pawl.ErrNotFound)
	}
	if len(won) != 1 {
		t.Fatalf("%d of %d got a device", len(won), len(devices))
	}
	found(t, b, won[0])
	_, err := b.TokenByHash(t.Context(), link.Hash)
	fails(t, "the secret of the link", err, pawl.ErrNotFound)
	for what, k := range map[string]store.Token{"no link": api, "a revoked link": revoked} {
		fails(t, what, a.Redeem(t.Context(), k.Hash, device(k)), pawl.ErrNotFound)
	}
	fails(t, "another link", a.Redeem(t.Context(), "\xff\x00", device(link)), pawl.ErrNotFound)
	found(t, b, api)
}

// linksExpire checks that a link cannot be redeemed late, and that the next link removes it.
func linksExpire(t *testing.T, a, b store.Tokens) {
	link, next := token("link"), token("next")
	link.Kind, next.Kind = store.TokenLink, store.TokenLink
	added(t, a, link)
	late := device(link)
	late.Created = link.Expires
	fails(t, "late", b.Redeem(t.Context(), link.Hash, late), pawl.ErrNotFound)
	found(t, b, link)
	stays := token("stays") // expired, and not a link
	next.Created, next.Expires, stays.Expires = link.Expires, link.Expires.Add(time.Hour), link.Expires
	added(t, a, stays, next)
	all, err := b.Tokens(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "all", all, []store.Token{next, stays})
}
