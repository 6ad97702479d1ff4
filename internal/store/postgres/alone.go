package postgres

import (
	"context"
	"fmt"
	"time"
)

// unlockTime bounds how long it may take to let others do something.
const unlockTime = 5 * time.Second

// Alone does something that has a name, unless another process on the same schema
// does it now, and reports whether it did. Should the connection be lost, another
// may begin meanwhile: so it is for what is harmless twice, and only a waste.
func (s *Store) Alone(ctx context.Context, name string, do func(context.Context) error) (bool, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return false, fmt.Errorf("%s alone: %w", name, classify(err))
	}
	defer conn.Release()
	const key = `(hashtextextended('pawl ' || current_schema() || ' ' || $1, 0))`
	var got bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock`+key, name).Scan(&got); err != nil || !got {
		if err != nil {
			err = fmt.Errorf("%s alone: %w", name, classify(err))
		}
		return false, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTime) // also after the end: the connection lives on
		defer cancel()
		if _, err := conn.Exec(ctx, `SELECT pg_advisory_unlock`+key, name); err != nil {
			_ = conn.Conn().Close(ctx) // its locks end with it
		}
	}()
	return true, do(ctx)
}
