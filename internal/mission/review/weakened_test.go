//go:build sectest

package review

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// Without a defense the same attacks succeed, so the tests would notice if it
// were missing.

func TestWeakenedText(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("review.text")()
	for _, f := range hidden(t) {
		if strings.Contains(f.Show(), "backdoor") {
			t.Error(f.Show())
		}
	}
}

func TestWeakenedLines(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("review.lines")()
	if got, _ := Check([]Finding{{Path: "x.go", StartLine: 900, Severity: Error}}, changed(t), 1); len(got) != 1 || got[0].StartLine != 900 {
		t.Errorf("%+v", got)
	}
}

func TestWeakenedLog(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("review.log")()
	if text := hostile().Text(); len(orders.FindAllString(text, -1)) < 4 {
		t.Error(text)
	}
}
