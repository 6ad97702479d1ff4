//go:build sectest

package editor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// Without a defense the same attacks succeed, so the tests would notice if it
// were missing.

func TestWeakenedPaste(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("tui.paste")()
	s := newStage(t, nil)
	s.service.expand = hungry
	s.paste("see @secret now").write("‹enter›")
	if got := s.expanded(); !strings.Contains(got, "<file @secret>") {
		t.Errorf("got %q", got)
	}
}

func TestWeakenedSeen(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("tui.seen")()
	path := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(path, []byte("A"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := newStage(t, nil).paste(path).write("go‹enter›"); len(s.prompt()) != 2 {
		t.Error("it was not sent")
	}
}
