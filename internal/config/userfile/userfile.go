// Package userfile reads and writes small files that only their owner may access, such as
// grants and trusted directories.
package userfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Read returns the content of a file; nil if it does not exist. A link, a file that
// others may access, and a file larger than limit bytes are errors.
func Read(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, syscall.ELOOP):
		return nil, fault.New(pawl.ErrDenied, "%s is a symbolic link", path)
	case err != nil:
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return nil, fault.New(pawl.ErrDenied, "%s is not private to you (mode %s)", path, info.Mode()).Hint("Check its content, then run `chmod 600 %s`.", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, fault.New(pawl.ErrInvalid, "%s has more than %d bytes", path, limit)
	}
	if text == nil {
		text = []byte{} // not nil: it exists
	}
	return text, nil
}

// Lock creates the directory of a file if needed, and locks it against other callers of
// Lock until unlock is called.
func Lock(path string) (unlock func(), err error) {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(folder, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock: %w", err), lock.Close())
	}
	return func() { _ = lock.Close() }, nil // which releases the lock
}

// Replace atomically replaces the content of a file with a value as JSON. A value larger
// than limit bytes, which Read would reject, is an error.
func Replace(path string, v any, limit int64) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if int64(len(text)) >= limit {
		return fault.New(pawl.ErrInvalid, "%s would have more than %d bytes", path, limit)
	}
	return ReplaceText(path, append(text, '\n'))
}

// ReplaceText is Replace for a text.
func ReplaceText(path string, text []byte) error {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	temp, err := os.CreateTemp(filepath.Dir(path), "."+name+"-*") // mode 0600, and new
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
