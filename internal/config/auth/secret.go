// Package auth finds, stores and tests API keys of providers. Keys are never printed or
// logged.
package auth

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Secret is a key. It prints, logs and encodes as "[redacted]"; only Reveal returns its
// value.
type Secret string

const redacted = "[redacted]"

var (
	_ fmt.Formatter  = Secret("")
	_ fmt.Stringer   = Secret("")
	_ fmt.GoStringer = Secret("")
	_ slog.LogValuer = Secret("")
)

// Reveal returns the key, for the header of a request.
func (s Secret) Reveal() string { return string(s) }

// String returns "[redacted]".
func (Secret) String() string { return redacted }

// GoString returns "[redacted]".
func (Secret) GoString() string { return redacted }

// Format prints "[redacted]", whatever the verb.
func (Secret) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, redacted) // fmt has no way to take the error
}

// MarshalText returns "[redacted]".
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON returns "[redacted]".
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// LogValue returns "[redacted]".
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// maxKey bounds a key, in bytes; real ones are much shorter.
const maxKey = 8 << 10

// Parse returns the key that a person typed or piped in, without surrounding white
// space. The error for an invalid key does not contain it.
func Parse(text string) (Secret, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", errors.New("no key given")
	case len(text) > maxKey:
		return "", fmt.Errorf("the key is too long: %d characters, at most %d are allowed", len(text), maxKey)
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", errors.New("the key contains spaces, line breaks or characters outside ASCII: enter only the key")
	}
	return Secret(text), nil
}
