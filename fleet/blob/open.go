package blob

import (
	"context"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Bounds of a key in bytes, which both directories and S3 support.
const (
	maxKey  = 800
	maxPart = 200
)

// Open opens the store of a reference:
//
//	file:///path                                              a directory, created if needed
//	s3://bucket/prefix?endpoint=host:port&region=r&insecure=1 an S3-compatible store
//
// Without an endpoint it is Amazon S3; Google's endpoint is storage.googleapis.com, with HMAC keys. insecure=1
// means HTTP without TLS. S3 credentials come from the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY),
// the AWS credentials file or the host's role, in this order; never from the reference, which is displayed.
func Open(_ context.Context, ref string) (Store, error) {
	u, err := url.Parse(ref)
	if err != nil {
		return nil, fault.New(pawl.ErrInvalid, "blob store: invalid URL: use file:///path or s3://bucket")
	}
	switch {
	case u.User != nil:
		return nil, fault.New(pawl.ErrInvalid, "blob store: the URL contains credentials").Hint("Remove them from the URL, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.")
	case u.Scheme == "file" && u.Host == "" && u.RawQuery == "" && strings.HasPrefix(u.Path, "/"):
		return openDirectory(u.Path)
	case u.Scheme == "s3" && u.Host != "":
		return openS3(u)
	default:
		return nil, fault.New(pawl.ErrInvalid, "blob store %q: unsupported URL: use file:///path or s3://bucket/prefix?endpoint=host:port&region=name", ref)
	}
}

// checkKey rejects keys that a directory could not hold, or that lead outside of it.
func checkKey(key string) error {
	if len(key) > maxKey || !utf8.ValidString(key) || strings.ContainsRune(key, '\\') || strings.ContainsFunc(key, unicode.IsControl) {
		return fault.New(pawl.ErrInvalid, "blob %q: a key is valid text of at most %d bytes", key, maxKey)
	}
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part[0] == '.' || len(part) > maxPart {
			return fault.New(pawl.ErrInvalid, "blob %q: each part of a key has 1 to %d bytes and does not start with a dot", key, maxPart)
		}
	}
	return nil
}

// checkPrefix is checkKey for a prefix of a key.
func checkPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	return checkKey(strings.TrimSuffix(prefix, "/"))
}
