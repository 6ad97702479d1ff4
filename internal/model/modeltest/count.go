package modeltest

import "testing"

// Passed returns n, or 0 if the test has failed. `make wire` adds up lines such as "streams: 3 of 5".
func Passed(t testing.TB, n int) int {
	if t.Failed() {
		return 0
	}
	return n
}
