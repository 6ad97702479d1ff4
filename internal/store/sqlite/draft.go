package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// SaveDraft implements [store.Store].
func (s *Store) SaveDraft(ctx context.Context, id pawl.SessionID, d pawl.Draft) error {
	body, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("encode draft: %w", err)
	}
	err = s.write.passing(ctx, func(ctx context.Context) error {
		_, err := s.write.conn.ExecContext(ctx, `INSERT INTO drafts (session_id, body) VALUES (?, ?)
			ON CONFLICT (session_id) DO UPDATE SET body = excluded.body`, string(id), string(body))
		return err
	})
	if err != nil {
		return fmt.Errorf("save draft of %s: %w", id, classify(err))
	}
	return nil
}

// Draft implements [store.Store].
func (s *Store) Draft(ctx context.Context, id pawl.SessionID) (pawl.Draft, error) {
	var body []byte
	var d pawl.Draft
	err := single(ctx)
	if err == nil {
		err = s.read.db.QueryRowContext(ctx, "SELECT body FROM drafts WHERE session_id = ?", string(id)).Scan(&body)
	}
	if err == nil {
		err = strictjson.Decode(body, &d)
	}
	if err != nil {
		return pawl.Draft{}, fmt.Errorf("read draft of %s: %w", id, classify(err))
	}
	return d, nil
}
