package auth

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/pawl-dev/pawl/internal/fault"
)

// The reasons why there is no key. Compare with errors.Is.
var (
	// ErrNoKey means that there is no key for the provider.
	ErrNoKey = errors.New("no API key")
	// ErrNoKeyring means that this machine has no keyring, or that it cannot be used now.
	ErrNoKeyring = errors.New("no keyring")
)

// Where a key may come from, besides the environment.
const (
	OriginKeyring = "keyring"
	OriginFile    = "keys.json"
)

// Provider tells where to find the key of a provider.
type Provider struct {
	ID      string
	EnvKeys []string // the variables that may contain the key
}

// Keyring stores keys outside of pawl.
type Keyring interface {
	Get(provider string) (Secret, error) // ErrNoKey or ErrNoKeyring
	Set(provider string, key Secret) error
	Delete(provider string) error // ErrNoKey or ErrNoKeyring
}

// Keys finds and stores keys. The environment takes precedence over the keyring, and the
// keyring over the file, which is for machines without one.
type Keys struct {
	Getenv func(string) string // nil means os.Getenv
	Ring   Keyring
	File   string                            // only its owner can read it
	Found  func(provider string, key Secret) // if not nil, called with each key that Key returns
}

// Key returns the provider's key and its origin: the name of a variable, OriginKeyring
// or OriginFile. If none exists it returns ErrNoKey, with what to do.
func (k *Keys) Key(p Provider) (Secret, string, error) {
	key, origin, err := k.find(p)
	if err == nil && k.Found != nil {
		k.Found(p.ID, key)
	}
	return key, origin, err
}

// Kept returns the keys in the file, by provider. Those in the keyring cannot be
// listed.
func (k *Keys) Kept() (map[string]Secret, error) {
	keys, err := readFile(k.File)
	kept := make(map[string]Secret, len(keys))
	for id, key := range keys {
		kept[id] = Secret(key)
	}
	return kept, err
}

func (k *Keys) find(p Provider) (Secret, string, error) {
	if key, name, err := k.fromEnv(p); key != "" || err != nil {
		return key, name, err
	}
	key, ringErr := k.Ring.Get(p.ID)
	if ringErr == nil {
		return key, OriginKeyring, nil
	}
	keys, err := readFile(k.File)
	if err != nil {
		return "", "", err
	}
	if key, ok := keys[p.ID]; ok {
		return Secret(key), OriginFile, nil
	}
	return "", "", missing(p, ringErr)
}

func (k *Keys) fromEnv(p Provider) (Secret, string, error) {
	getenv := k.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	for _, name := range p.EnvKeys {
		if strings.TrimSpace(getenv(name)) == "" {
			continue
		}
		key, err := Parse(getenv(name))
		if err != nil {
			return "", "", fmt.Errorf("read the key in %s: %w", name, err)
		}
		return key, name, nil
	}
	return "", "", nil
}

func missing(p Provider, ringErr error) error {
	switch {
	case len(p.EnvKeys) == 0:
		return fault.New(ErrNoKey, "no API key for %s", p.ID).Hint("Run `pawl auth login %s` (in the terminal UI, /login).", p.ID)
	case errors.Is(ringErr, ErrNoKeyring):
		return fault.New(ErrNoKey, "no API key for %s in the environment or in keys.json (%w)", p.ID, ringErr).
			Hint("Set %s, or run `pawl auth login %s` (in the terminal UI, /login).", p.EnvKeys[0], p.ID)
	}
	return fault.New(ErrNoKey, "no API key for %s", p.ID).Hint("Set %s, or run `pawl auth login %s` (in the terminal UI, /login).", p.EnvKeys[0], p.ID)
}

// Saved tells where a key was stored.
type Saved struct {
	Origin string // OriginKeyring or OriginFile
	Reason error  // why the keyring was not used: an ErrNoKeyring; nil if it was, or was not requested
}

// Save stores the provider's key in the keyring or, if none exists, in the file. It
// replaces an older key in either.
func (k *Keys) Save(provider string, key Secret) (Saved, error) {
	err := k.Ring.Set(provider, key)
	if errors.Is(err, ErrNoKeyring) {
		return Saved{OriginFile, err}, k.addToFile(provider, key)
	}
	if err != nil {
		return Saved{}, fmt.Errorf("save key: %w", err)
	}
	if _, err := removeFromFile(k.File, provider); err != nil {
		return Saved{}, err
	}
	return Saved{Origin: OriginKeyring}, nil
}

// Destination says where Save would store a key, for people.
func (k *Keys) Destination() string {
	if r, ok := k.Ring.(interface{ Available() error }); ok {
		if err := r.Available(); err != nil {
			return fmt.Sprintf("%s, readable only by you (%v)", k.File, err)
		}
	}
	return "the system's keyring"
}

// SaveInFile stores the provider's key in the file, even if there is a keyring.
func (k *Keys) SaveInFile(provider string, key Secret) (Saved, error) {
	// A key in the keyring would take precedence over the file.
	if err := k.Ring.Delete(provider); err != nil && !errors.Is(err, ErrNoKey) && !errors.Is(err, ErrNoKeyring) {
		return Saved{}, fmt.Errorf("save key: %w", err)
	}
	return Saved{Origin: OriginFile}, k.addToFile(provider, key)
}

func (k *Keys) addToFile(provider string, key Secret) error {
	return changeFile(k.File, func(keys map[string]string) { keys[provider] = key.Reveal() })
}

// Delete removes the provider's stored keys and returns where they were. If none exist
// it returns ErrNoKey. It does not change the environment.
func (k *Keys) Delete(provider string) ([]string, error) {
	var origins []string
	err := k.Ring.Delete(provider)
	switch {
	case err == nil:
		origins = append(origins, OriginKeyring)
	case !errors.Is(err, ErrNoKey) && !errors.Is(err, ErrNoKeyring):
		return nil, fmt.Errorf("delete key: %w", err)
	}
	removed, err := removeFromFile(k.File, provider)
	if err != nil {
		return origins, err
	}
	if removed {
		origins = append(origins, OriginFile)
	}
	if len(origins) == 0 {
		return nil, fmt.Errorf("%w saved for %s", ErrNoKey, provider)
	}
	return origins, nil
}
