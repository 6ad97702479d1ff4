// Package fleet tries the fleet against real servers: Temporal, PostgreSQL and
// NATS, which 'dev/services up' starts.
package fleet
