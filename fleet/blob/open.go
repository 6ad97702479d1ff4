package blob

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
)

// Bounds of a key, in bytes: what directories and S3 both bear.
const (
	maxKey  = 800
	maxPart = 200
)

// Open opens the store that a reference names:
//
//	file:///path                                              a directory, which is made if need be
//	s3://bucket/prefix?endpoint=host:port&region=r&insecure=1 a store that speaks S3
//
// Without an endpoint it is Amazon's; Google's is storage.googleapis.com, with HMAC
// keys. Insecure is HTTP without TLS. The keys for S3 are those of the environment
// (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), of AWS's file of credentials, or of
// the machine's role, in this order; never of the reference, which is shown to people.
func Open(_ context.Context, ref string) (Store, error) {
	u, err := url.Parse(ref)
	if err != nil {
		return nil, fmt.Errorf("blob store: not a URL; write file:///path or s3://bucket: %w", pawl.ErrInvalid)
	}
	switch {
	case u.User != nil:
		return nil, fmt.Errorf("blob store: take the keys out of its URL and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: %w", pawl.ErrInvalid)
	case u.Scheme == "file" && u.Host == "" && u.RawQuery == "" && strings.HasPrefix(u.Path, "/"):
		return openFolder(u.Path)
	case u.Scheme == "s3" && u.Host != "":
		return openS3(u)
	default:
		return nil, fmt.Errorf("blob store %q: write file:///path or s3://bucket/prefix?endpoint=host:port&region=name: %w", ref, pawl.ErrInvalid)
	}
}

// checkKey refuses keys that a directory could not hold, or would hold elsewhere.
func checkKey(key string) error {
	if len(key) > maxKey || !utf8.ValidString(key) || strings.ContainsRune(key, '\\') || strings.ContainsFunc(key, unicode.IsControl) {
		return fmt.Errorf("blob %q: a key is at most %d bytes of text: %w", key, maxKey, pawl.ErrInvalid)
	}
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part[0] == '.' || len(part) > maxPart {
			return fmt.Errorf("blob %q: a part of a key has 1 to %d bytes and does not begin with a dot: %w", key, maxPart, pawl.ErrInvalid)
		}
	}
	return nil
}

// checkPrefix is checkKey for the beginning of a key.
func checkPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	return checkKey(strings.TrimSuffix(prefix, "/"))
}
