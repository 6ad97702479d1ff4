package record

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"

	"github.com/pawl-dev/pawl"
)

// CopyBlob copies r to w until EOF and returns the content's SHA-256 and size. It
// stops between two reads when ctx ends.
func CopyBlob(ctx context.Context, w io.Writer, r io.Reader) (pawl.Blob, error) {
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(w, hash), readFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(p)
	}))
	return pawl.Blob{ID: hex.EncodeToString(hash.Sum(nil)), Size: size}, err
}

// ValidBlob reports whether name can be the ID of a blob: a SHA-256 in lower-case
// hex.
func ValidBlob(name string) bool {
	return len(name) == hex.EncodedLen(sha256.Size) && strings.Trim(name, "0123456789abcdef") == ""
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
