package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/record"
)

// Begin implements [store.Store], in one transaction.
func (s *Store) Begin(ctx context.Context, id pawl.SessionID, blobs iter.Seq2[io.Reader, error], events ...pawl.Event) ([]pawl.Event, error) {
	batch, err := record.NewBatch(id, 0, events, undo(ctx, s.pool, id))
	if err == nil {
		err = s.begin(ctx, id, blobs, batch)
	}
	if err != nil {
		return nil, fmt.Errorf("begin %s: %w", id, classify(err))
	}
	return batch.Events, nil
}

func (s *Store) begin(ctx context.Context, id pawl.SessionID, blobs iter.Seq2[io.Reader, error], batch record.Batch) (err error) {
	var all []passing
	defer func() {
		for _, p := range all {
			err = errors.Join(err, p.remove())
		}
	}()
	for r, err := range blobs {
		if err != nil {
			return err
		}
		p, err := newPassing(ctx, r)
		if err != nil {
			return err
		}
		all = append(all, p)
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := appendBatch(ctx, tx, id, 0, batch); err != nil {
			return err
		}
		for _, p := range all {
			if err := insertBlob(ctx, tx, key(id), p.Blob, p.file); err != nil {
				return err
			}
		}
		return nil
	})
}
