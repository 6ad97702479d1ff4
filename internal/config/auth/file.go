package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// maxFile bounds the file, in bytes.
const maxFile = 1 << 20

// readFile returns the keys in the file by provider; none if it does not exist. A file
// that others may read or write is an error.
func readFile(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	defer f.Close()
	info, err := f.Stat() // of what was opened: the name may point elsewhere by now
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fault.New(pawl.ErrDenied, "read keys: %s is not a regular file", path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fault.New(pawl.ErrDenied, "read keys: other users can access %s (mode %o)", path, mode).
			Hint("Run `chmod 600 %s`. Replace the keys if other people use this machine.", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	keys := map[string]string{}
	// The decoder's error may quote a key, so it is not returned.
	if len(text) > maxFile || strictjson.Decode(text, &keys) != nil || keys == nil {
		return nil, fault.New(pawl.ErrInvalid, "read keys: %s is not a JSON object that maps providers to keys", path)
	}
	return keys, nil
}

// changeFile replaces the file with what change makes of its keys, under a lock.
func changeFile(path string, change func(map[string]string)) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	lock, err := os.Open(folder)
	if err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("write keys: lock %s: %w", folder, err)
	}
	keys, err := readFile(path)
	if err != nil {
		return err
	}
	change(keys)
	if len(keys) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("write keys: %w", err)
		}
		return nil
	}
	if err := replaceFile(path, keys); err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	return nil
}

// replaceFile replaces the file atomically.
func replaceFile(path string, keys map[string]string) error {
	text, err := json.MarshalIndent(keys, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".keys-*") // its mode is 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // after the rename there is nothing left
	defer f.Close()
	if _, err := f.Write(append(text, '\n')); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// removeFromFile removes the provider's key, and reports whether there was one.
func removeFromFile(path, provider string) (bool, error) {
	keys, err := readFile(path)
	if err != nil {
		return false, err
	}
	if _, ok := keys[provider]; !ok {
		return false, nil
	}
	return true, changeFile(path, func(keys map[string]string) { delete(keys, provider) })
}
