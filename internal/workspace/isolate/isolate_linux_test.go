package isolate

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl"
)

func newView(t *testing.T) (Store, View) {
	t.Helper()
	s := Store{Dir: filepath.Join(t.TempDir(), "views")}
	v, err := s.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s, v
}

// TestInterruptedApply: after an interrupted Apply, nothing but Apply can use the view. Else the project would stay half
// changed, or later changes of the session would be lost.
func TestInterruptedApply(t *testing.T) {
	t.Parallel()
	_, v := newView(t)
	if err := os.Mkdir(v.path(applyName), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(v.path(applyName), "manifest.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"discard": v.Discard,
		"run":     func() error { _, err := v.Run(v.Root, []string{"version"}, false); return err },
		"branch":  func() error { _, _, err := v.Branch(t.Context(), "b", "m"); return err },
	} {
		if err := call(); !errors.Is(err, pawl.ErrConflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnreadableView: if it is not known whether a session has a view, it does not run.
func TestUnreadableView(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(v View) error{
		"its file": func(v View) error { return os.WriteFile(v.path(infoName), nil, 0o600) },
		"its sessions": func(v View) error {
			return errors.Join(os.Remove(v.path(sessionsName)), os.WriteFile(v.path(sessionsName), nil, 0o600))
		},
	} {
		s, v := newView(t)
		if err := s.Admit("01JD0000000000000000000000", v.Root); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := damage(v); err != nil {
			t.Fatal(err)
		}
		if err := s.Admit("01JD0000000000000000000000", v.Root); err == nil {
			t.Errorf("%s cannot be read, and a session runs on the project", name)
		}
	}
}
