package proxy

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/binary"
	"slices"
	"testing"
)

// hiddenConfig is what a server publishes for clients to encrypt their hello:
// with public as the name that everybody sees.
func hiddenConfig(t *testing.T, public string) []byte {
	t.Helper()
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	body := slices.Concat(
		[]byte{1},          // the configuration's number
		[]byte{0x00, 0x20}, // X25519
		sized(key.PublicKey().Bytes()),
		sized([]byte{0, 1, 0, 1}), // HKDF-SHA256, AES-128-GCM
		[]byte{32},                // the longest name
		[]byte{byte(len(public))}, []byte(public),
		sized(nil), // no extensions
	)
	return sized(slices.Concat([]byte{encryptedHello >> 8, encryptedHello & 0xff}, sized(body)))
}

// sized puts the length of bytes before them.
func sized(b []byte) []byte { return append(binary.BigEndian.AppendUint16(nil, uint16(len(b))), b...) }
