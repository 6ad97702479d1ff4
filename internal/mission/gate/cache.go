package gate

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// copyInto copies the files of a cache that are missing in another one. A missing source is not an error. It
// skips links, which could point anywhere.
func copyInto(to, from string) error { return place(to, from, copyFile) }

// place calls do for each file of a directory, with its path in another one, and creates the directories there.
func place(to, from string, do func(to, from string) error) error {
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
			return do(filepath.Join(to, rel), path)
		}
		return nil
	})
}

// linkFile creates a hard link to a file unless it exists, or a copy where that is impossible.
func linkFile(to, from string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return copyFile(to, from)
}

// copyFile copies a file atomically unless it exists. It preserves the modification time, by which tools expire
// their caches.
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
