// Package passkeytest is an authenticator for tests: it does what a browser and a security
// key do with the options of a server.
package passkeytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"

	"github.com/fxamacker/cbor/v2"
)

// Flags of authenticator data.
const (
	Present  = 1 << 0 // the user touched the key
	Verified = 1 << 2 // the key checked the user, by a PIN or a biometric
	attested = 1 << 6 // the data has a public key
)

// Authenticator has one passkey. Its fields may be changed between calls.
type Authenticator struct {
	Origin string // that the browser shows
	Host   string // that the passkey is bound to
	Flags  byte
	Count  uint32 // increased by each sign-in; 0 means that it has no counter, as keys that several devices share
	User   []byte // the account; set by Create
	ID     []byte

	key *ecdsa.PrivateKey
}

// New returns an authenticator whose browser shows a page of the origin.
func New(host, origin string) *Authenticator {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	id := make([]byte, 32)
	rand.Read(id)
	return &Authenticator{Origin: origin, Host: host, Flags: Present | Verified, ID: id, key: key}
}

// Create returns the response to the options of a registration.
func (a *Authenticator) Create(options []byte) []byte {
	o := parse(options)
	a.User = o.User.ID
	object := mustCBOR(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": a.data(true)})
	return a.response(map[string]any{
		"clientDataJSON": text(a.client("webauthn.create", o.Challenge)), "attestationObject": text(object),
	})
}

// SignIn returns the response to the options of a sign-in.
func (a *Authenticator) SignIn(options []byte) []byte {
	if a.Count > 0 {
		a.Count++
	}
	client, data := a.client("webauthn.get", parse(options).Challenge), a.data(false)
	sum := sha256.Sum256(client)
	digest := sha256.Sum256(append(append([]byte(nil), data...), sum[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, digest[:])
	if err != nil {
		panic(err)
	}
	return a.response(map[string]any{
		"clientDataJSON": text(client), "authenticatorData": text(data), "signature": text(signature), "userHandle": text(a.User),
	})
}

// options are those that an authenticator needs.
type options struct {
	Challenge string `json:"challenge"`
	User      struct {
		ID bytes `json:"id"`
	} `json:"user"`
}

type bytes []byte

func (b *bytes) UnmarshalText(s []byte) (err error) {
	*b, err = base64.RawURLEncoding.DecodeString(string(s))
	return err
}

func parse(data []byte) (o options) {
	if err := json.Unmarshal(data, &o); err != nil {
		panic(err)
	}
	return o
}

func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func mustCBOR(v any) []byte {
	b, err := cbor.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// client returns the client data, which the browser writes.
func (a *Authenticator) client(kind, challenge string) []byte {
	return mustJSON(map[string]any{"type": kind, "challenge": challenge, "origin": a.Origin, "crossOrigin": false})
}

// data returns the authenticator data, with the public key if it is wanted.
func (a *Authenticator) data(withKey bool) []byte {
	host, flags := sha256.Sum256([]byte(a.Host)), a.Flags
	if withKey {
		flags |= attested
	}
	b := binary.BigEndian.AppendUint32(append(host[:], flags), a.Count)
	if !withKey {
		return b
	}
	b = append(b, make([]byte, 16)...) // the model of the authenticator: none
	b = append(binary.BigEndian.AppendUint16(b, uint16(len(a.ID))), a.ID...)
	point, err := a.key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		panic(err)
	}
	return append(b, mustCBOR(map[int]any{1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]})...)
}

func (a *Authenticator) response(r map[string]any) []byte {
	return mustJSON(map[string]any{
		"id": text(a.ID), "rawId": text(a.ID), "type": "public-key", "response": r, "clientExtensionResults": map[string]any{},
	})
}
