package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// keep copies the current file to a directory of pawl. The copy is named after the
// file's path and content, so a second attempt reuses the first copy.
func (a *applying) keep(r *Restore) error {
	if r.now.folder || r.now.state == (state{}) {
		return nil // no file to copy
	}
	temp, err := os.CreateTemp(a.at, "temp-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) //nolint:errcheck // it no longer exists on success
	sum := sha256.New()
	sum.Write([]byte(r.Path + "\x00"))
	err = a.root.in(r.Path, func(fd int, name string) error { return copyFrom(fd, name, r.now.mode, io.MultiWriter(temp, sum)) })
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	at := a.path(asideName, hex.EncodeToString(sum.Sum(nil)[:16]), path.Base(r.Path))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	a.reach("keep " + r.Path)
	if _, err := os.Lstat(at); errors.Is(err, fs.ErrNotExist) {
		if err := os.Rename(temp.Name(), at); err != nil {
			return err
		}
	}
	if a.report.Aside == nil {
		a.report.Aside = map[string]string{}
	}
	a.report.Aside[r.Path] = at
	return nil
}

// copyFrom copies a file of any size, or the target of a symbolic link, to a
// writer.
func copyFrom(fd int, name string, mode uint32, to io.Writer) error {
	if mode == modeLink {
		target, _, err := readAt(fd, name, modeLink, unix.PathMax)
		if err != nil {
			return err
		}
		_, err = to.Write(target)
		return err
	}
	opened, err := openAt(fd, name, 0)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(opened), name)
	defer file.Close()
	_, err = io.Copy(to, file)
	return err
}
