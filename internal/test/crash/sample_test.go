//go:build crashtest

package crash

import (
	"cmp"
	"hash/fnv"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// full runs the whole matrix on both stores, which takes most of an hour. Otherwise
// the program is killed at every append of a shorter script on SQLite, and on
// PostgreSQL in one whole scenario and at a sample of all else: the two differ only
// in how they store events.
var full = os.Getenv("PAWL_CRASH_FULL") != ""

// steps is the length of the script of TestCrashAtEveryAppend.
var steps = map[bool]int{false: 10, true: 20}[full]

// pick returns a number below n that is another one for each commit, or for
// PAWL_CRASH_SEED, so that samples cover everything in time and a failure can be
// repeated.
func pick(t *testing.T, what string, n int) int {
	t.Helper()
	seed := os.Getenv("PAWL_CRASH_SEED")
	if seed == "" {
		out, _ := exec.Command("git", "rev-parse", "HEAD").Output() // not a repository: always the same
		seed = cmp.Or(strings.TrimSpace(string(out)), "none")
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(seed + what))
	k := int(h.Sum64() % uint64(n)) //nolint:gosec // n is small
	t.Logf("PAWL_CRASH_SEED=%s: %s %d of %d", seed, what, k, n)
	return k
}

// stride returns which appends the program is killed at: every n-th, beginning with
// the first-th.
func stride(t *testing.T, store string) (first, n int) {
	t.Helper()
	if full || store == "sqlite" {
		return 0, 1
	}
	return pick(t, "append", postgresStride), postgresStride
}

const postgresStride = 8
