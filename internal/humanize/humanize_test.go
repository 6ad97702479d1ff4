package humanize

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{Short(0), "0"}, {Short(999), "999"}, {Short(1000), "1k"}, {Short(12345), "12.3k"}, {Short(200_000), "200k"},
		{Short(1_000_000), "1M"}, {Short(1_250_000), "1.2M"},
		{Plural(1, "step"), "1 step"}, {Plural(2, "step"), "2 steps"},
		{Dollars(pawl.MoneyOf(0.0123)), "$0.0123"}, {Dollars(pawl.MoneyOf(12.345)), "$12.35"},
		{Price(pawl.MoneyOf(3)), "$3"}, {Price(pawl.MoneyOf(0.5)), "$0.50"}, {Price(pawl.MoneyOf(0.075)), "$0.075"}, {Price(pawl.MoneyOf(12.25)), "$12.25"},
		{Clock(-time.Second), "0s"}, {Clock(59 * time.Second), "59s"}, {Clock(61 * time.Second), "1m 01s"}, {Clock(3*time.Hour + 4*time.Minute), "3h 04m"},
		{Age(0), "now"}, {Age(-time.Hour), "now"}, {Age(2 * time.Minute), "2m"}, {Age(3 * time.Hour), "3h"}, {Age(49 * time.Hour), "2d"}, {Age(800 * 24 * time.Hour), "2y"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
