package postgres

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Pool returns the store's connections.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// SetLive sets how long a host counts as live.
func (s *Store) SetLive(d time.Duration) { s.live = d }

// SelectPage is the query that reads events.
const SelectPage = selectPage

// List returns the query that reads sessions.
var List = list

// Sums returns the query that reads usage.
var Sums = sums
