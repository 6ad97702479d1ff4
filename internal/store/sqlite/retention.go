package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// Delete implements [store.Store]. Only this file may delete events; a test checks
// the sources for it.
func (s *Store) Delete(ctx context.Context, id pawl.SessionID) error {
	if !id.Valid() {
		return store.NotFound(id)
	}
	err := s.write.transaction(ctx, func(ctx context.Context) error { return s.write.delete(ctx, id) })
	if err == nil || errors.Is(err, pawl.ErrNotFound) {
		// After the commit, see putBlob. Also if the session does not exist: an
		// earlier deletion may have been interrupted here.
		err = errors.Join(err, os.RemoveAll(s.blobFolder(id)))
	}
	if err != nil {
		return fmt.Errorf("delete session %s: %w", id, classify(err))
	}
	return nil
}

func (w *writer) delete(ctx context.Context, id pawl.SessionID) error {
	held, err := w.lease(ctx, id)
	if err != nil {
		return err
	}
	if held.Expires.After(time.Now()) {
		return &pawl.BusyError{Session: id, Holder: string(held.Owner)}
	}
	removed, err := w.conn.ExecContext(ctx, "DELETE FROM sessions WHERE id = ?", string(id)) // drafts, leases and usage are deleted by cascade
	if err != nil {
		return err
	}
	if n, err := removed.RowsAffected(); err != nil {
		return err
	} else if n == 0 {
		return pawl.ErrNotFound
	}
	_, err = w.conn.ExecContext(ctx, "DELETE FROM events WHERE session_id = ?", string(id))
	return err
}
