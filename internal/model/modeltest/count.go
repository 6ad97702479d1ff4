package modeltest

import "testing"

// Passed returns n, or 0 if the test has failed: what "streams: 3 of 5" begins
// with, which `make wire` adds up.
func Passed(t testing.TB, n int) int {
	if t.Failed() {
		return 0
	}
	return n
}
