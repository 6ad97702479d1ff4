package gate

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl/internal/weak"
)

// lend gives a tree a copy of the base's cache. What a candidate's code writes
// there goes with the tree, and nothing else reads it.
func lend(p *plot, cache string) error {
	if weak.On("gate.cache") {
		p.cache = cache
		return nil
	}
	return copyInto(p.cache, cache)
}

// copyInto copies the files of a cache that are not in another yet. That there is
// none is fine. Links are left out: they could lead anywhere.
func copyInto(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		case d.Type().IsRegular():
			return copyFile(filepath.Join(to, rel), path)
		}
		return nil
	})
}

// copyFile copies a file unless it is there. It is there only when it is whole. It
// stays as old as it is: by that tools find what they do not need any more.
func copyFile(to, from string) error {
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	in, err := os.Open(from) //nolint:gosec // a cache of our own
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(to), ".new-*")
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	err = errors.Join(err, out.Chmod(info.Mode().Perm()|0o600), out.Close(), os.Chtimes(out.Name(), time.Time{}, info.ModTime()))
	if err == nil {
		err = os.Rename(out.Name(), to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(out.Name()))
	}
	return nil
}
