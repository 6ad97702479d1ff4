//go:build sectest

package mcpserver

import (
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// TestWeakened: without the defenses the tests beside it would fail.
func TestWeakened(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("serve.folder,serve.mode")()
	s := &server{Config: Config{Root: t.TempDir(), Settings: pawl.Settings{Mode: "plan"}}}
	if got, err := s.directory("/"); got != "/" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := s.settings(runInput{Mode: "yolo"}); got.Mode != "yolo" || err != nil {
		t.Errorf("%q, %v", got.Mode, err)
	}
}
