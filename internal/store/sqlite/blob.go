package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store/record"
)

// blobFolder returns the directory of a session's blobs, whose file names are the
// hashes of their contents. The id must be valid, as it becomes part of the path.
func (s *Store) blobFolder(id pawl.SessionID) string { return filepath.Join(s.blobDir, string(id)) }

// PutBlob implements [store.Blobs].
func (s *Store) PutBlob(ctx context.Context, id pawl.SessionID, r io.Reader) (pawl.Blob, error) {
	blob, err := s.putBlob(ctx, id, r)
	if err != nil {
		return pawl.Blob{}, fmt.Errorf("put blob of %s: %w", id, classify(err))
	}
	return blob, nil
}

func (s *Store) putBlob(ctx context.Context, id pawl.SessionID, r io.Reader) (pawl.Blob, error) {
	if err := s.exist(ctx, id); err != nil {
		return pawl.Blob{}, err
	}
	folder := s.blobFolder(id)
	blob, err := s.storeBlob(ctx, folder, r)
	if err != nil {
		return pawl.Blob{}, err
	}
	// Delete removes the rows first and the directory afterwards. If the session
	// still exists, a later Delete finds the file; if not, it must be removed here.
	err = s.exist(ctx, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = errors.Join(err, os.RemoveAll(folder))
	}
	return blob, err
}

// storeBlob writes a blob to a directory and syncs both to disk.
func (s *Store) storeBlob(ctx context.Context, folder string, r io.Reader) (pawl.Blob, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return pawl.Blob{}, err
	}
	blob, err := writeBlob(ctx, folder, r)
	if err != nil {
		return pawl.Blob{}, err
	}
	for _, dir := range []string{folder, s.blobDir, filepath.Dir(s.blobDir)} { // the directories may be new
		if err := syncFolder(dir); err != nil {
			return pawl.Blob{}, err
		}
	}
	return blob, nil
}

// writeBlob writes a temporary file and renames it once it is complete and synced.
func writeBlob(ctx context.Context, folder string, r io.Reader) (pawl.Blob, error) {
	f, err := os.CreateTemp(folder, "part-") // 0600
	if err != nil {
		return pawl.Blob{}, err
	}
	blob, err := record.CopyBlob(ctx, f, r)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(folder, blob.ID))
	}
	if err != nil {
		return pawl.Blob{}, errors.Join(err, os.Remove(f.Name()))
	}
	return blob, nil
}

// syncFolder fsyncs a directory.
func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// OpenBlob implements [store.Blobs].
func (s *Store) OpenBlob(ctx context.Context, id pawl.SessionID, blob string) (io.ReadCloser, error) {
	if err := single(ctx); err != nil {
		return nil, fmt.Errorf("open blob %s of %s: %w", blob, id, err)
	}
	if !id.Valid() || !record.ValidBlob(blob) {
		return nil, fault.New(pawl.ErrNotFound, "blob %s of session %s not found", blob, id)
	}
	f, err := os.Open(filepath.Join(s.blobFolder(id), blob))
	if errors.Is(err, fs.ErrNotExist) {
		err = pawl.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("open blob %s of %s: %w", blob, id, err)
	}
	return f, nil
}
