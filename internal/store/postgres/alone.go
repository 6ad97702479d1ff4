package postgres

import (
	"context"
	"fmt"
	"time"
)

// unlockTime is how long releasing the lock may take.
const unlockTime = 5 * time.Second

// Alone runs do under an advisory lock of that name, unless another process on the
// same schema holds the lock, and reports whether it ran. If the connection is lost,
// another process may start meanwhile, so do must be harmless when it runs twice.
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
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTime) // also after ctx has ended: the pool keeps the connection
		defer cancel()
		if _, err := conn.Exec(ctx, `SELECT pg_advisory_unlock`+key, name); err != nil {
			_ = conn.Conn().Close(ctx) // which releases its locks
		}
	}()
	return true, do(ctx)
}
