package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Begin implements [store.Store]. It writes the files first: a crash may leave files
// without a session, but never a session without its files.
func (s *Store) Begin(ctx context.Context, id pawl.SessionID, blobs iter.Seq2[io.Reader, error], events ...pawl.Event) ([]pawl.Event, error) {
	stored, err := s.begin(ctx, id, blobs, events)
	if err != nil {
		return nil, fmt.Errorf("begin %s: %w", id, classify(err))
	}
	return stored, nil
}

func (s *Store) begin(ctx context.Context, id pawl.SessionID, blobs iter.Seq2[io.Reader, error], events []pawl.Event) (stored []pawl.Event, err error) {
	if !id.Valid() {
		return nil, fault.New(pawl.ErrInvalid, "invalid session id %.50q", string(id))
	}
	if err := s.exist(ctx, id); !errors.Is(err, sql.ErrNoRows) {
		return nil, errors.Join(err, pawl.ErrConflict)
	}
	defer func() {
		if err == nil {
			return
		}
		// If another process has created the session since, the files belong to it.
		if there := s.exist(context.WithoutCancel(ctx), id); errors.Is(there, sql.ErrNoRows) {
			err = errors.Join(err, os.RemoveAll(s.blobFolder(id)))
		}
	}()
	for r, err := range blobs {
		if err != nil {
			return nil, err
		}
		if _, err := s.storeBlob(ctx, s.blobFolder(id), r); err != nil {
			return nil, err
		}
	}
	return s.Append(ctx, id, 0, events...)
}
