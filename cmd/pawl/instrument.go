//go:build !crashtest

package main

import "github.com/pawl-dev/pawl"

// instrument is where the crash test's build puts its knife; see instrument_crashtest.go.
func instrument(st pawl.Store) pawl.Store { return st }
