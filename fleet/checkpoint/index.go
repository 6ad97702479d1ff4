package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config/userfile"
)

const (
	maxIndex = 1 << 30

	// A file changed this shortly before it was read may change again without a new timestamp: the kernel's
	// file clock ticks every 10 ms or faster, and some file systems only store seconds.
	settleTime     = 50 * time.Millisecond
	settleTimeSlow = 2 * time.Second
)

// index caches what this host knows about the roots of a checkpoint, so that unchanged files need not be read
// and manifests need not be fetched.
type index struct {
	State  *state        // the last checkpoint saved or restored here
	Stamps map[raw]stamp // of its files, except those changed too recently to rely on
}

// stable reports whether any change after the given time is sure to change the stamp.
func (s stamp) stable(at time.Time) bool {
	wait := settleTime
	if s.CTime%int64(time.Second) == 0 {
		wait = settleTimeSlow
	}
	return at.Sub(time.Unix(0, s.CTime)) > wait
}

// indexPath returns the path of the index for these roots.
func (k *Store) indexPath(key string, roots []Root) string {
	text := ""
	for _, r := range roots {
		text += r.Name + "\x00" + r.Path + "\x00"
	}
	return filepath.Join(k.indexDir(key), short(text))
}

func (k *Store) indexDir(key string) string { return filepath.Join(k.Dir, short(key)) }

func short(text string) string {
	hash := sha256.Sum256([]byte(text))
	return hex.EncodeToString(hash[:16])
}

// readIndex reads an index. It returns an empty one if it cannot be read.
func readIndex(path string) *index {
	text, err := userfile.Read(path, maxIndex)
	if err != nil || text == nil {
		return &index{State: emptyState()}
	}
	x := &index{}
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(x); err != nil || x.State == nil {
		return &index{State: emptyState()}
	}
	return x
}

func writeIndex(path string, x *index) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(x); err != nil {
		return err
	}
	if err := userfile.ReplaceText(path, text.Bytes()); err != nil {
		return fmt.Errorf("write the index: create directory %s: %w", filepath.Dir(path), err)
	}
	return nil
}

// markPartial marks the roots as partially restored, and clearPartial removes the mark.
func markPartial(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := userfile.ReplaceText(path+".partial", nil); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func clearPartial(path string) error { return os.Remove(path + ".partial") }

// checkPartial rejects roots that were only partially restored.
func checkPartial(path string) error {
	_, err := os.Lstat(path + ".partial")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = pawl.ErrConflict
	}
	return fmt.Errorf("the workspace is only partly restored: restore it again before saving it: %w", err)
}
