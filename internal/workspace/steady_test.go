package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// steadyFolder returns a directory with sub/deep/file, next to a secret outside of it.
func steadyFolder(t *testing.T) (dir, secret string) {
	t.Helper()
	dir, secret = t.TempDir(), filepath.Join(t.TempDir(), "secret")
	if err := os.MkdirAll(filepath.Join(dir, "sub", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "sub", "deep", "file"), secret} {
		if err := os.WriteFile(path, []byte(filepath.Base(path)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, secret
}

// TestSteady: Steady succeeds only if the path led to the same file all the time. It
// also detects swaps that are undone before it ends.
func TestSteady(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		path string
		do   func(dir, secret string) error
		want error
	}{
		"nothing happens":       {"sub/deep/file", func(string, string) error { return nil }, nil},
		"the file is written":   {"sub/deep/file", func(dir, _ string) error { return os.WriteFile(filepath.Join(dir, "sub/deep/file"), nil, 0o600) }, nil},
		"a neighbor elsewhere":  {"sub/deep/file", func(dir, _ string) error { return os.Mkdir(filepath.Join(dir, "sub/deep/file2"), 0o700) }, ErrMoved},
		"the file is a link":    {"sub/deep/file", func(dir, secret string) error { return swapped(filepath.Join(dir, "sub/deep/file"), secret) }, ErrMoved},
		"a folder is a link":    {"sub/deep/file", func(dir, secret string) error { return swapped(filepath.Join(dir, "sub"), filepath.Dir(secret)) }, ErrMoved},
		"a deeper one":          {"sub/deep/file", func(dir, secret string) error { return swapped(filepath.Join(dir, "sub/deep"), filepath.Dir(secret)) }, ErrMoved},
		"is a directory":        {"sub/deep", func(string, string) error { return errors.New("called") }, ErrMoved},
		"it is not there":       {"sub/none", func(string, string) error { return errors.New("called") }, ErrMoved},
		"its folder is not":     {"none/file", func(string, string) error { return errors.New("called") }, fs.ErrNotExist},
		"what do says is heard": {"sub/deep/file", func(string, string) error { return fs.ErrClosed }, fs.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			dir, secret := steadyFolder(t)
			err := Steady(t.Context(), dir, test.path, func() error { return test.do(dir, secret) })
			if !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

// TestSteadyLinks: a path with a symbolic link is refused, even if it does not change.
func TestSteadyLinks(t *testing.T) {
	t.Parallel()
	dir, secret := steadyFolder(t)
	for _, path := range []string{"sub/link", "way"} {
		to := secret
		if path == "way" {
			to = filepath.Dir(secret)
		}
		if err := os.Symlink(to, filepath.Join(dir, path)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"sub/link", "way/secret"} {
		if err := Steady(t.Context(), dir, path, func() error { return errors.New("called") }); !errors.Is(err, ErrMoved) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// swapped replaces path by a symbolic link for a moment.
func swapped(path, to string) error {
	return errors.Join(os.Rename(path, path+"~"), os.Symlink(to, path), os.Remove(path), os.Rename(path+"~", path))
}

// TestSteadyWaits: do is not called before any further change to a directory would get
// a new ctime.
func TestSteadyWaits(t *testing.T) {
	t.Parallel()
	dir, _ := steadyFolder(t)
	called := false
	err := Steady(t.Context(), dir, "sub/deep/file", func() error {
		called = true
		points, err := way(dir, "sub/deep/file")
		for _, p := range points {
			if age := time.Since(p.changed); age < settleTime {
				t.Errorf("a folder was changed %s ago", age)
			}
		}
		return err
	})
	if err != nil || !called {
		t.Errorf("called: %v, %v", called, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := os.WriteFile(filepath.Join(dir, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Steady(ctx, dir, "sub/deep/file", func() error { return nil }); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
