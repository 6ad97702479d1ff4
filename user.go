package pawl

import (
	"context"
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

// MaxShared bounds with how many users a session is shared.
const MaxShared = 100

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

type actorKey struct{}

// WithActor says who asks. The service writes it into the events that a person's
// request makes.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf returns who asks: whoever runs pawl, unless it was said.
func ActorOf(ctx context.Context) Actor {
	a, _ := ctx.Value(actorKey{}).(Actor)
	return a
}
