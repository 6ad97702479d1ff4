package hook_test

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if err := os.Setenv("HOOK_TEST_KEY", "secret"); err != nil { // commands must not see it
		panic(err)
	}
	os.Exit(m.Run())
}
