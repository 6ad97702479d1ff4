// Package blob stores large objects that a fleet shares, in a directory or in an S3-compatible store.
package blob

import (
	"context"
	"io"
	"iter"
	"time"
)

// Store stores blobs by key. It is safe for concurrent use, also by several processes.
type Store interface {
	// Put stores everything that r yields, atomically replacing an existing blob.
	Put(ctx context.Context, key string, r io.Reader) error
	// Get opens a blob, or returns pawl.ErrNotFound.
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	// Delete deletes a blob. A missing blob is not an error.
	Delete(ctx context.Context, key string) error
	// List yields the blobs with a prefix, sorted by key.
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]
}

// Info describes a blob.
type Info struct {
	Key     string
	Size    int64
	Changed time.Time
}
