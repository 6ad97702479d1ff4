// Package dsse signs statements as DSSE envelopes (Dead Simple Signing Envelope, version 1).
package dsse

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
)

// InToto is the payload type of in-toto statements.
const InToto = "application/vnd.in-toto+json"

// Envelope is a payload with its signatures.
type Envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     []byte      `json:"payload"` // encoded as base64
	Signatures  []Signature `json:"signatures"`
}

// Signature is a signature of an envelope.
type Signature struct {
	KeyID string `json:"keyid"` // hex SHA-256 of the public key in PKIX form
	Sig   []byte `json:"sig"`
}

// ReadKey returns the private key in a PEM file: Ed25519 or ECDSA, in PKCS #8, or ECDSA in SEC 1. It must not be encrypted.
func ReadKey(text []byte) (crypto.Signer, error) {
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return nil, errors.New("no private key found: use an unencrypted Ed25519 or ECDSA key in PEM, e.g. of `openssl genpkey -algorithm ed25519`")
		}
		text = rest
		switch block.Type {
		case "EC PRIVATE KEY":
			return x509.ParseECPrivateKey(block.Bytes)
		case "PRIVATE KEY":
			key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				return nil, err
			}
			switch key := key.(type) {
			case ed25519.PrivateKey:
				return key, nil
			case *ecdsa.PrivateKey:
				return key, nil
			}
			return nil, errors.New("the key is neither Ed25519 nor ECDSA")
		default: // such as EC PARAMETERS
		}
	}
}

// Sign returns an envelope with a payload, as JSON.
func Sign(key crypto.Signer, payloadType string, payload []byte) ([]byte, error) {
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, err
	}
	message, hash := Encode(payloadType, payload), crypto.Hash(0) // Ed25519 signs the message itself
	if k, ok := key.Public().(*ecdsa.PublicKey); ok {
		hash = hashFor(k)
		h := hash.New()
		h.Write(message)
		message = h.Sum(nil)
	}
	sig, err := key.Sign(rand.Reader, message, hash)
	if err != nil {
		return nil, err
	}
	id := sha256.Sum256(public)
	return json.Marshal(Envelope{payloadType, payload, []Signature{{hex.EncodeToString(id[:]), sig}}})
}

// hashFor returns the hash that belongs to a curve, as sigstore has it.
func hashFor(k *ecdsa.PublicKey) crypto.Hash {
	switch bits := k.Curve.Params().BitSize; {
	case bits <= 256:
		return crypto.SHA256
	case bits <= 384:
		return crypto.SHA384
	default:
		return crypto.SHA512
	}
}

// Encode returns what is signed: the pre-authentication encoding of DSSE.
func Encode(payloadType string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
}
