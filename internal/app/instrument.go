//go:build !crashtest

package app

import "github.com/pawl-dev/pawl/internal/store"

// instrument is where the crash test's build puts its crashPoint; see instrument_crashtest.go.
func instrument(st store.Store) store.Store { return st }
