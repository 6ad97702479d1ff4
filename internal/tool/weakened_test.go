//go:build sectest

package tool

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// Without the defenses the editor reads for a command what that cannot read, and
// what a person has not saved is overwritten: the tests that it is not so could
// fail.
func TestDefensesMatter(t *testing.T) { //nolint:paralleltest // it turns a defense off
	t.Run("read.steady", func(t *testing.T) {
		defer defense.Disable("read.steady")()
		if text := readSwapped(t); !strings.Contains(text, "s3cret") {
			t.Errorf("the switch takes nothing out: %q", text)
		}
	})
	t.Run("change.unsaved", func(t *testing.T) {
		defer defense.Disable("change.unsaved")()
		dir := folder(t, map[string]string{"a.txt": "one\n"})
		c := editing(dir, `{"path":"a.txt","old":"one","new":"1"}`, &screen{texts: map[string]string{"a.txt": "two\n"}})
		if _, err := try(t.Context(), Edit(nil), c); err != nil {
			t.Errorf("the switch takes nothing out: %v", err)
		}
	})
}
