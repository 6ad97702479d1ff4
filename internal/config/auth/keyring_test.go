package auth

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/zalando/go-keyring"
)

func here() error { return nil }

// TestSystemKeyring runs the adapter over the library's own keyring in memory.
//
//nolint:paralleltest // the library's keyring in memory is a global variable
func TestSystemKeyring(t *testing.T) {
	keyring.MockInit()
	r := &systemKeyring{available: here}
	if _, err := r.Get("house"); !errors.Is(err, ErrNoKey) {
		t.Errorf("get nothing: %v", err)
	}
	if err := r.Delete("house"); !errors.Is(err, ErrNoKey) {
		t.Errorf("delete nothing: %v", err)
	}
	if err := r.Set("house", "k1"); err != nil {
		t.Error(err)
	}
	if err := r.Set("house", "k2"); err != nil {
		t.Error(err)
	}
	if key, err := r.Get("house"); err != nil || key.Reveal() != "k2" {
		t.Errorf("got %q, %v", key.Reveal(), err)
	}
	if _, err := r.Get("other"); !errors.Is(err, ErrNoKey) {
		t.Errorf("another's: %v", err)
	}
	if err := r.Delete("house"); err != nil {
		t.Error(err)
	}
	if _, err := r.Get("house"); !errors.Is(err, ErrNoKey) {
		t.Errorf("after delete: %v", err)
	}
}

// TestKeyringFails: whatever fails means that there is no keyring, and is not tried again.
//
//nolint:paralleltest // the library's keyring in memory is a global variable
func TestKeyringFails(t *testing.T) {
	keyring.MockInitWithError(errors.New("locked"))
	r := &systemKeyring{available: here}
	if err := r.Set("house", "k"); !errors.Is(err, ErrNoKeyring) || !strings.Contains(err.Error(), "locked") {
		t.Errorf("got %v", err)
	}
	keyring.MockInit()
	if err := r.Set("house", "k"); !errors.Is(err, ErrNoKeyring) {
		t.Errorf("it was asked again: %v", err)
	}
	keyring.MockInitWithError(keyring.ErrSetDataTooBig)
	if err := (&systemKeyring{available: here}).Set("house", "k"); err == nil || errors.Is(err, ErrNoKeyring) {
		t.Errorf("too big: %v", err)
	}
}

func TestNoBus(t *testing.T) {
	t.Parallel()
	r := &systemKeyring{available: func() error { return errors.New("no session bus") }}
	if _, err := r.Get("house"); !errors.Is(err, ErrNoKeyring) || !strings.Contains(err.Error(), "no session bus") {
		t.Errorf("got %v", err)
	}
}

func TestSessionBus(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	t.Setenv("XDG_RUNTIME_DIR", dir)
	if err := sessionBus(); err == nil && runtime.GOOS != "darwin" {
		t.Error("it found a bus where there is none")
	}
	if err := os.WriteFile(filepath.Join(dir, "bus"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sessionBus(); err != nil {
		t.Errorf("there is one in the runtime folder: %v", err)
	}
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
	if err := sessionBus(); err != nil {
		t.Errorf("one is named: %v", err)
	}
}

// TestKeyringHangs: a keyring that waits for somebody who is absent does not hold us.
func TestKeyringHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := &systemKeyring{available: here}
		err := r.do(func() error { <-release; return nil })
		if !errors.Is(err, ErrNoKeyring) || !strings.Contains(err.Error(), "no answer within 20s") {
			t.Errorf("got %v", err)
		}
		close(release)
	})
}
