// Package blob keeps large things that a fleet shares, under keys: in a directory, or
// in a store that speaks S3.
package blob

import (
	"context"
	"io"
	"iter"
	"time"
)

// Store keeps blobs. It is safe for use by many goroutines and many processes.
type Store interface {
	// Put keeps all that r yields, whole or not at all, in the place of what was there.
	Put(ctx context.Context, key string, r io.Reader) error
	// Get opens a blob, or returns pawl.ErrNotFound.
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	// Delete removes a blob. One that is not there is no error.
	Delete(ctx context.Context, key string) error
	// List yields the blobs whose keys begin so, by their keys.
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]
}

// Info is what is known of a blob.
type Info struct {
	Key     string
	Size    int64
	Changed time.Time
}
