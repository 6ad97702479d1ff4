package onboarding

import (
	"context"
	"errors"
)

// Accounts finds ways to reach models, and stores API keys. Its methods may block.
type Accounts interface {
	// Sources returns the ways to reach models, the ones that are ready first.
	Sources(ctx context.Context) ([]Source, error)

	// Connect tests a source with one small request and stores its key and URL, if it has any.
	// The error says what is wrong and what to do. It is ErrNeedsKey if the server requires a
	// key and none was given.
	Connect(ctx context.Context, l Login) (Connected, error)

	// Stored returns the providers whose keys are stored.
	Stored(ctx context.Context) ([]Source, error)

	// Logout deletes the stored key of a provider, and returns a text for the user.
	Logout(ctx context.Context, provider string) (string, error)
}

// ErrNeedsKey means that a server requires a key.
var ErrNeedsKey = errors.New("this server requires an API key")

// Kind tells what a source needs.
type Kind int

// The kinds, in the order in which they are listed.
const (
	Ready  Kind = iota // a key was found, or a server runs on this machine
	Key                // an API key
	Server             // the URL of an OpenAI-compatible server, and perhaps a key
	Demo               // nothing
	More               // an API key, of a provider that fewer people use
)

// Source is a way to reach models.
type Source struct {
	Kind     Kind
	Provider string // its ID
	Name     string
	Detail   string // where its key was found, or what it is
	Model    string // the model to start with
	Location string // where a key would be stored
}

// Login is a source with what the user has entered.
type Login struct {
	Source
	URL      string
	APIKey   Secret
	Untested bool // store it without a test
}

// Secret is a key that the user has entered. It prints as dots.
type Secret string

// String returns dots.
func (Secret) String() string { return "•••" }

// GoString returns dots.
func (Secret) GoString() string { return "•••" }

// Connected is a source that works.
type Connected struct {
	Models []string // to choose from; the first is recommended
	Note   string   // where the key was stored; "" if none was
	Keep   bool     // the model becomes the default
}
