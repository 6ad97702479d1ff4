package userfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl"
)

// TestRead: what is not its user's alone does not count; what does not exist is nothing.
func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, mode := range map[string]os.FileMode{"own": 0o600, "shown": 0o644, "shared": 0o660} {
		if err := errors.Join(os.WriteFile(path(name), []byte("text"), 0o600), os.Chmod(path(name), mode)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink("own", path("link")), os.WriteFile(path("empty"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{"own": nil, "shown": pawl.ErrDenied, "shared": pawl.ErrDenied, "link": pawl.ErrDenied, ".": pawl.ErrDenied, "missing": nil, "empty": nil} {
		text, err := Read(path(name), 4)
		if !errors.Is(err, want) || (text == nil) != (want != nil || name == "missing") {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if text, err := Read(path("own"), 3); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("beyond the limit: %q, %v", text, err)
	}
}

// TestReplace: the file is new, its user's alone, and nothing is left beside it.
func TestReplace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sub", "x.json")
	unlock, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	for _, v := range []int{1, 2} {
		if err := Replace(path, v, 10); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if text, err := Read(path, 10); err != nil || string(text) != "2\n" {
		t.Errorf("%q, %v", text, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	if err := Replace(path, func() {}, 10); err == nil {
		t.Error("what is no JSON was written")
	}
	if err := Replace(path, "123456789", 10); !errors.Is(err, pawl.ErrInvalid) {
		t.Errorf("what could not be read again was written: %v", err)
	}
	if text, err := Read(path, 10); err != nil || string(text) != "2\n" {
		t.Errorf("%q, %v", text, err)
	}
}
