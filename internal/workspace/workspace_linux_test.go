package workspace_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/workspace"
)

// Not even root can write to this directory.
func TestUnwritableFolder(t *testing.T) {
	t.Parallel()
	w, err := workspace.Open("/proc/self")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.WriteFile("pawl", []byte("text")); err == nil || !strings.HasPrefix(err.Error(), "write pawl: ") {
		t.Errorf("got %v", err)
	}
}
