package postgres

import "github.com/jackc/pgx/v5/pgxpool"

// Pool holds the store's connections.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// SelectPage is the query that reads events.
const SelectPage = selectPage

// List returns the query that reads sessions.
var List = list

// Sums returns the query that reads usage.
var Sums = sums
