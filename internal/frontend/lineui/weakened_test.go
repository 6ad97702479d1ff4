//go:build sectest

package lineui

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// Without a defense the same attacks succeed, so the tests would notice if it
// were missing.

func TestWeakenedDwell(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("ask.dwell")()
	typedEarly(t).until("question 2 of 2: Sizes\n")
}

func TestWeakenedPlain(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("sanitize")()
	var out bytes.Buffer
	u := newUI(Config{Out: &out})
	u.renderer.Apply(pawl.Event{Body: pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "\x1b[2J"}}}})
	if !strings.Contains(out.String(), "\x1b") {
		t.Error("the switch takes nothing out")
	}
}

func TestWeakenedCodes(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("show.codes")()
	var out bytes.Buffer
	v := &printer{w: &out}
	v.full("a\u202eb")
	if !strings.Contains(out.String(), "\u202e") {
		t.Error("the switch takes nothing out")
	}
}
