package sandbox

import (
	"os"
	"testing"
)

// leaked is a file as a careless parent leaves it to this process.
const leaked = 77

// TestMain lets a copy of the test program be the hostile command, in a box:
// its first argument is then probe.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "probe" {
		os.Exit(probe(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}
