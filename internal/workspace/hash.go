package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// Hash names a file's content: the first 128 bits of its SHA-256, in hex.
func Hash(data []byte) string {
	h := sha256.New()
	_, _ = h.Write(data)
	return HashOf(h)
}

// NewHash returns a SHA-256 to write a content to; HashOf is its Hash then.
func NewHash() hash.Hash { return sha256.New() }

// HashOf returns the Hash of what was written to h.
func HashOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:16]) }
