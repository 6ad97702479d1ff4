package dsse

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"
)

// TestEncode: the example of the specification.
func TestEncode(t *testing.T) {
	t.Parallel()
	const want = "DSSEv1 29 http://example.com/HelloWorld 11 hello world"
	if got := string(Encode("http://example.com/HelloWorld", []byte("hello world"))); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSign(t *testing.T) {
	t.Parallel()
	const signed = "DSSEv1 28 " + InToto + ` 11 {"ok":true}`
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	must(t, err)
	sec1, err := x509.MarshalECPrivateKey(p256)
	must(t, err)
	sum256, sum384 := sha256.Sum256([]byte(signed)), sha512.Sum384([]byte(signed))
	for name, test := range map[string]struct {
		text   []byte
		verify func(sig []byte) bool
	}{
		"Ed25519": {pkcs8(t, edwards), func(sig []byte) bool {
			return ed25519.Verify(edwards.Public().(ed25519.PublicKey), []byte(signed), sig)
		}},
		"P-256":       {pkcs8(t, p256), func(sig []byte) bool { return ecdsa.VerifyASN1(&p256.PublicKey, sum256[:], sig) }},
		"P-384":       {pkcs8(t, p384), func(sig []byte) bool { return ecdsa.VerifyASN1(&p384.PublicKey, sum384[:], sig) }},
		"P-256 SEC 1": {pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: sec1}), func(sig []byte) bool { return ecdsa.VerifyASN1(&p256.PublicKey, sum256[:], sig) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key, err := ReadKey(append([]byte("-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"), test.text...))
			must(t, err)
			text, err := Sign(key, InToto, []byte(`{"ok":true}`))
			must(t, err)
			var e Envelope
			must(t, json.Unmarshal(text, &e))
			if e.PayloadType != InToto || string(e.Payload) != `{"ok":true}` || len(e.Signatures) != 1 || len(e.Signatures[0].KeyID) != 64 || !test.verify(e.Signatures[0].Sig) {
				t.Errorf("%s does not verify", text)
			}
			e.Signatures[0].Sig[len(e.Signatures[0].Sig)-1] ^= 1
			if test.verify(e.Signatures[0].Sig) {
				t.Error("a changed signature verifies")
			}
		})
	}
}

func TestReadKeyRefuses(t *testing.T) {
	t.Parallel()
	large, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	for text, want := range map[string]string{"": "no private key found", string(pkcs8(t, large)): "neither Ed25519 nor ECDSA", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n": "asn1"} {
		if _, err := ReadKey([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %q", text, err, want)
		}
	}
}

func pkcs8(t *testing.T, key crypto.Signer) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
