package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// Hash returns the hash that identifies a file's content: the first 128 bits of its
// SHA-256, in hex.
func Hash(data []byte) string {
	h := sha256.New()
	_, _ = h.Write(data)
	return HashOf(h)
}

// NewHash returns a hash.Hash to which the content is written; pass it to HashOf
// for the result.
func NewHash() hash.Hash { return sha256.New() }

// HashOf returns the Hash of the content written to h.
func HashOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:16]) }
