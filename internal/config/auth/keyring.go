package auth

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/zalando/go-keyring"
)

// service is the service name of pawl's keys in the keyring.
const service = "pawl"

// ringWait bounds a call of the keyring, which may ask a person to unlock it.
const ringWait = 20 * time.Second

// SystemKeyring returns the system's keyring: the Secret Service, or the Keychain of
// macOS. After a failure it is not used again.
func SystemKeyring() Keyring { return &systemKeyring{available: sessionBus} }

var _ Keyring = (*systemKeyring)(nil)

type systemKeyring struct {
	available func() error

	mu     sync.Mutex
	failed error // an ErrNoKeyring, permanently
}

func (r *systemKeyring) Get(provider string) (Secret, error) {
	var key string
	err := r.do(func() (err error) { key, err = keyring.Get(service, provider); return err })
	if err != nil {
		return "", err
	}
	return Secret(key), nil
}

func (r *systemKeyring) Set(provider string, key Secret) error {
	return r.do(func() error { return keyring.Set(service, provider, key.Reveal()) })
}

func (r *systemKeyring) Delete(provider string) error {
	return r.do(func() error { return keyring.Delete(service, provider) })
}

// Available returns why the keyring cannot be used, as far as that is known without a call of it.
func (r *systemKeyring) Available() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.check()
}

// check remembers and returns why the keyring cannot be used.
func (r *systemKeyring) check() error {
	if r.failed == nil {
		if err := r.available(); err != nil {
			r.failed = fmt.Errorf("%w: %w", ErrNoKeyring, err)
		}
	}
	return r.failed
}

// do makes one call and translates its error.
func (r *systemKeyring) do(call func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.check(); err != nil {
		return err
	}
	err := bounded(call)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return ErrNoKey
	case errors.Is(err, keyring.ErrSetDataTooBig):
		return fmt.Errorf("keyring: %w", err)
	default:
		r.failed = fmt.Errorf("%w: %w", ErrNoKeyring, err)
		return r.failed
	}
}

// bounded waits for call at most ringWait. The library takes no context, so a call that
// hangs is abandoned.
func bounded(call func() error) error {
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		return err
	case <-time.After(ringWait):
		return fmt.Errorf("no answer within %s", ringWait)
	}
}

// sessionBus returns an error if there is no D-Bus session bus. The library would start
// one, which would outlive pawl.
func sessionBus() error {
	if runtime.GOOS == "darwin" || os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return nil
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		if _, err := os.Stat(filepath.Join(dir, "bus")); err == nil {
			return nil
		}
	}
	return errors.New("no session bus")
}
