package egress_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// checkError fails the test unless err says want; "" means no error.
func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" && err != nil {
		t.Fatal(err)
	}
	if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Fatalf("got the error %v, want %q", err, want)
	}
}
