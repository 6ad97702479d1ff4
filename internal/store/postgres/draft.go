package postgres

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
	_, err = s.pool.Exec(ctx, `INSERT INTO drafts (session_id, body) VALUES ($1, $2)
		ON CONFLICT (session_id) DO UPDATE SET body = excluded.body`, key(id), string(body))
	if err != nil {
		return fmt.Errorf("save draft of %s: %w", id, classify(err))
	}
	return nil
}

// Draft implements [store.Store].
func (s *Store) Draft(ctx context.Context, id pawl.SessionID) (pawl.Draft, error) {
	var body []byte
	var d pawl.Draft
	err := s.pool.QueryRow(ctx, "SELECT body FROM drafts WHERE session_id = $1", key(id)).Scan(&body)
	if err == nil {
		err = strictjson.Decode(body, &d)
	}
	if err != nil {
		return pawl.Draft{}, fmt.Errorf("read draft of %s: %w", id, classify(err))
	}
	return d, nil
}
