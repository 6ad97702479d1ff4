package ui_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tui/ui"
)

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		ui.Plural(1, "file"):                  "1 file",
		ui.Plural(0, "file"):                  "0 files",
		ui.Dollars(pawl.MoneyOf(0.0123)):      "$0.0123",
		ui.Dollars(pawl.MoneyOf(12.346)):      "$12.35",
		ui.Took(1500 * time.Millisecond):      "1.5 s",
		ui.Took(59 * time.Second):             "59 s",
		ui.Took(63 * time.Second):             "1 m 03 s",
		ui.Took(2*time.Hour + 5*time.Minute):  "2 h 05 m",
		ui.Age(-time.Second):                  "now",
		ui.Age(59 * time.Minute):              "59 m",
		ui.Age(23*time.Hour + 59*time.Minute): "23 h",
		ui.Age(3*24*time.Hour + 20*time.Hour): "3 d",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
