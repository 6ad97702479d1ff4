package pawl

import (
	"strings"
	"unicode"
)

// User names a person whose sessions these are. "" is the one who runs pawl.
type User string

// maxUser bounds a user's name, in bytes.
const maxUser = 100

// Valid reports whether the name can be given to a person: letters, digits and
// . _ - + @, so that it is the same everywhere it is shown.
func (u User) Valid() bool {
	return u != "" && len(u) <= maxUser && strings.IndexFunc(string(u), func(r rune) bool {
		return r == unicode.ReplacementChar || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-+@", r)
	}) < 0
}

// Actor is who did something: a person, and by which token if they came from
// afar. The zero value is the one who runs pawl.
type Actor struct {
	User  User   `json:"user,omitempty"`
	Token string `json:"token,omitempty"` // the token's id
}

// String is the actor for people: "" for the one who runs pawl.
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
