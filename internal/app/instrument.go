//go:build !crashtest

package app

import "github.com/pawl-dev/pawl/internal/store"

// instrument returns st. The build for crash tests wraps it; see crash_crashtest.go.
func instrument(st store.Store) store.Store { return st }
