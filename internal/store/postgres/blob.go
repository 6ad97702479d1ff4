package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/record"
)

// partSize is the size of the parts of a blob, in bytes. Only one part is in memory
// at a time.
const partSize = 256 << 10

// PutBlob implements [store.Blobs]. It copies r to a temporary file first: the ID is
// known only at the end, and no transaction stays open while the caller's reader
// runs.
func (s *Store) PutBlob(ctx context.Context, id pawl.SessionID, r io.Reader) (pawl.Blob, error) {
	blob, err := s.putBlob(ctx, key(id), r)
	if err != nil {
		return pawl.Blob{}, fmt.Errorf("put blob of %s: %w", id, classify(err))
	}
	return blob, nil
}

func (s *Store) putBlob(ctx context.Context, id string, r io.Reader) (blob pawl.Blob, err error) {
	p, err := newPassing(ctx, r)
	if err != nil {
		return pawl.Blob{}, err
	}
	defer func() { err = errors.Join(err, p.remove()) }()
	return p.Blob, pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return insertBlob(ctx, tx, id, p.Blob, p.file) })
}

// passing is a blob in a temporary file.
type passing struct {
	pawl.Blob
	file *os.File
}

func newPassing(ctx context.Context, r io.Reader) (p passing, err error) {
	if p.file, err = os.CreateTemp("", "pawl-blob-"); err != nil { // 0600
		return p, err
	}
	p.Blob, err = record.CopyBlob(ctx, p.file, r)
	if err == nil {
		_, err = p.file.Seek(0, io.SeekStart)
	}
	if err != nil {
		err = errors.Join(err, p.remove())
	}
	return p, err
}

func (p passing) remove() error { return errors.Join(p.file.Close(), os.Remove(p.file.Name())) }

// insertBlob stores a blob. It does nothing if the session has it already. If that
// session is another tenant's, it returns pgx.ErrNoRows.
func insertBlob(ctx context.Context, tx pgx.Tx, id string, blob pawl.Blob, r io.Reader) error {
	tag, err := tx.Exec(ctx, "INSERT INTO blobs (session_id, id, size) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", id, blob.ID, blob.Size)
	if err == nil && tag.RowsAffected() == 0 {
		var one int
		return tx.QueryRow(ctx, "SELECT 1 FROM blobs WHERE session_id = $1 AND id = $2", id, blob.ID).Scan(&one)
	}
	if err != nil {
		return err
	}
	part := make([]byte, partSize)
	for i, left := 0, blob.Size; left > 0; i++ {
		part = part[:min(left, partSize)]
		if _, err := io.ReadFull(r, part); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "INSERT INTO blob_parts (session_id, blob_id, part, data) VALUES ($1, $2, $3, $4)", id, blob.ID, i, part)
		if err != nil {
			return err
		}
		left -= int64(len(part))
	}
	return nil
}

// OpenBlob implements [store.Blobs]. The reader fetches one part at a time, holds no
// connection in between, and is valid until ctx ends.
func (s *Store) OpenBlob(ctx context.Context, id pawl.SessionID, blob string) (io.ReadCloser, error) {
	var size int64
	err := pgx.ErrNoRows
	if record.ValidBlob(blob) {
		err = s.pool.QueryRow(ctx, "SELECT size FROM blobs WHERE session_id = $1 AND id = $2", key(id), blob).Scan(&size)
	}
	if err != nil {
		return nil, fmt.Errorf("open blob %s of %s: %w", blob, id, classify(err))
	}
	part := 0
	return &blobReader{left: size, next: func() (data []byte, err error) {
		err = s.pool.QueryRow(ctx, "SELECT data FROM blob_parts WHERE session_id = $1 AND blob_id = $2 AND part = $3",
			key(id), blob, part).Scan(&data)
		if err != nil {
			return nil, fmt.Errorf("read blob %s of %s: %w", blob, id, classify(err))
		}
		part++
		return data, nil
	}}, nil
}

// blobReader reads a blob part by part.
type blobReader struct {
	left int64                  // bytes not yet read
	data []byte                 // unread bytes of the current part
	next func() ([]byte, error) // fetches the next part
}

func (r *blobReader) Read(p []byte) (n int, err error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	if len(r.data) == 0 {
		if r.data, err = r.next(); err != nil {
			return 0, err
		}
	}
	n = copy(p, r.data)
	r.data = r.data[n:]
	r.left -= int64(n)
	return n, nil
}

// Close does nothing: the reader holds no resources.
func (r *blobReader) Close() error { return nil }
