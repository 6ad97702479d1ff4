package pawl

import (
	"strings"
	"unicode"
)

// User names a user. "" is the local user.
type User string

// maxUser limits the length of a user name, in bytes.
const maxUser = 100

// Valid reports whether the name consists of letters, digits and . _ - + @, so that
// it is displayed the same everywhere.
func (u User) Valid() bool {
	return u != "" && len(u) <= maxUser && strings.IndexFunc(string(u), func(r rune) bool {
		return r == unicode.ReplacementChar || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-+@", r)
	}) < 0
}

// Actor is who did something: a user, and the token they used if they came over the
// network. The zero value is the local user.
type Actor struct {
	User  User   `json:"user,omitempty"`
	Token string `json:"token,omitempty"` // the ID of the token
	Scope string `json:"scope,omitempty"` // of the token: what the actor may have done
}

// String returns the actor for display, "" for the local user.
func (a Actor) String() string {
	switch {
	case a.Token == "":
		return string(a.User)
	case a.User == "":
		return "token " + a.Token
	default:
		return string(a.User) + " (token " + a.Token + ")"
	}
}
