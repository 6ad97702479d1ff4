package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

const (
	// unfinished is the directory of partial writes. No key starts with a dot.
	unfinished = ".unfinished"
	// abandoned is the age at which a partial write is deleted.
	abandoned = 24 * time.Hour
)

// directory stores blobs as files. A key cannot be the directory of other keys.
type directory struct{ dir string }

var _ Store = directory{}

func openDirectory(dir string) (Store, error) {
	s := directory{filepath.Clean(dir)}
	if err := makeDir(filepath.Join(s.dir, unfinished)); err != nil {
		return nil, fmt.Errorf("blob store: %w", err)
	}
	if err := s.sweep(); err != nil {
		return nil, fmt.Errorf("blob store: %w", err)
	}
	return s, nil
}

// sweep deletes partial writes of processes that died.
func (s directory) sweep() error {
	entries, err := os.ReadDir(filepath.Join(s.dir, unfinished))
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < abandoned {
			continue // already deleted, or still being written
		}
		if err := os.Remove(filepath.Join(s.dir, unfinished, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (s directory) path(key string) string { return filepath.Join(s.dir, filepath.FromSlash(key)) }

func (s directory) Put(ctx context.Context, key string, r io.Reader) error {
	if err := checkKey(key); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Join(s.dir, unfinished), "*") // a new file with mode 0600
	if err != nil {
		return fmt.Errorf("put blob %s: %w", key, err)
	}
	_, err = io.Copy(temp, &reader{ctx, r})
	if err == nil {
		err = temp.Sync()
	}
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = rename(temp.Name(), s.path(key))
	}
	if err != nil {
		return fmt.Errorf("put blob %s: %w", key, errors.Join(err, os.Remove(temp.Name())))
	}
	return nil
}

// rename renames a file and syncs its directory.
func rename(temp, path string) error {
	if err := makeDir(filepath.Dir(path)); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// makeDir creates a directory and its parents, and syncs them.
func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	switch {
	case err == nil:
		return syncFolder(filepath.Dir(dir))
	case errors.Is(err, fs.ErrExist):
		return nil // if it is a file, writing into it fails
	case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir:
		return err
	}
	if err := makeDir(filepath.Dir(dir)); err != nil {
		return err
	}
	return makeDir(dir)
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (s directory) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f, err := os.Open(s.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(pawl.ErrNotFound, "blob %s not found", key)
	}
	if err != nil {
		return nil, fmt.Errorf("get blob %s: %w", key, err)
	}
	return f, nil
}

// Delete leaves empty directories, because a concurrent Put may need them.
func (s directory) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := os.Remove(s.path(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete blob %s: %w", key, err)
	}
	return nil
}

func (s directory) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if err := checkPrefix(prefix); err != nil {
			yield(Info{}, err)
			return
		}
		s.list(ctx, "", prefix, yield)
	}
}

// list yields the blobs in a directory, which is "" or ends with a slash. It returns false if yield did.
func (s directory) list(ctx context.Context, dir, prefix string, yield func(Info, error) bool) bool {
	if ctx.Err() != nil {
		yield(Info{}, context.Cause(ctx))
		return false
	}
	entries, err := os.ReadDir(s.path(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		yield(Info{}, fmt.Errorf("list blobs: %w", err))
		return false
	}
	// In the order of keys, in which a/b follows a-b.
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(step(a), step(b)) })
	for _, e := range entries {
		key := dir + step(e)
		switch {
		case e.Name() == unfinished && dir == "":
		case e.IsDir() && (strings.HasPrefix(key, prefix) || strings.HasPrefix(prefix, key)):
			if !s.list(ctx, key, prefix, yield) {
				return false
			}
		case !e.IsDir() && strings.HasPrefix(key, prefix):
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // it was just deleted
			}
			if err != nil {
				yield(Info{}, fmt.Errorf("list blobs: %w", err))
				return false
			}
			if !yield(Info{Key: key, Size: info.Size(), Changed: info.ModTime()}, nil) {
				return false
			}
		}
	}
	return true
}

// step returns what a directory entry adds to a key.
func step(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}

// reader stops when the context ends.
type reader struct {
	ctx context.Context //nolint:containedctx // a reader has no other way to hear of it
	r   io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}
