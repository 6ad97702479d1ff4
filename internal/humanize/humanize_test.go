package humanize

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
)

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{Number(0), "0"}, {Number(999), "999"}, {Number(1000), "1,000"}, {Number(-123_456), "-123,456"}, {Number(int64(1_234_567)), "1,234,567"},
		{Number(int64(math.MinInt64)), "-9,223,372,036,854,775,808"},
		{Short(0), "0"}, {Short(999), "999"}, {Short(1000), "1k"}, {Short(12345), "12.3k"}, {Short(99_949), "99.9k"}, {Short(99_999), "100k"},
		{Short(200_000), "200k"}, {Short(999_499), "999k"}, {Short(999_999), "1M"}, {Short(1_000_000), "1M"}, {Short(1_250_000), "1.3M"}, {Short(12_345_678_901), "12.3B"},
		{Short(12_345_678_901_234), "12346B"}, {Short(-5), "-5"},
		{Plural(0, "file"), "0 files"}, {Plural(1, "step"), "1 step"}, {Plural(2, "step"), "2 steps"}, {Plural(int64(1200), "matching line"), "1,200 matching lines"},
		{Plural(2, "reply"), "2 replies"}, {Plural(1, "reply"), "1 reply"}, {Plural(2, "day"), "2 days"}, {Plural(3, "branch"), "3 branches"},
		{Plural(2, "process"), "2 processes"}, {Plural(2, "exit criterion"), "2 exit criteria"}, {Plural(1, "criterion"), "1 criterion"},
		{Noun(1, "directory"), "directory"}, {Noun(5, "directory"), "directories"},
		{Join(nil, "or"), ""}, {Join([]string{"a"}, "or"), "a"}, {Join([]string{"a", "b"}, "and"), "a and b"}, {Join([]string{"a", "b", "c"}, "or"), "a, b or c"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{Bytes(0), "0 bytes"}, {Bytes(1), "1 byte"}, {Bytes(999), "999 bytes"}, {Bytes(1000), "1 kB"}, {Bytes(1234), "1.2 kB"}, {Bytes(12_345), "12 kB"},
		{Bytes(999_600), "1 MB"}, {Bytes(9_960_000), "10 MB"}, {Bytes(12_000_000), "12 MB"}, {Bytes(int64(3_400_000_000)), "3.4 GB"},
		{Bytes(int64(5e15)), "5000 TB"}, {Bytes(-1), "-1 byte"}, {Bytes(-12_000_000), "-12 MB"},
		{IBytes(1023), "1,023 bytes"}, {IBytes(64 << 10), "64 KiB"}, {IBytes(10 << 20), "10 MiB"}, {IBytes(3 << 29), "1.5 GiB"}, {IBytes(1<<20 - 1), "1 MiB"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestMoney(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{Dollars(0), "$0.00"}, {Dollars(1), "<$0.0001"}, {Dollars(pawl.MoneyOf(0.0123)), "$0.0123"}, {Dollars(pawl.MoneyOf(0.1)), "$0.10"},
		{Dollars(pawl.MoneyOf(12.345)), "$12.35"}, {Dollars(pawl.MoneyOf(1234.5)), "$1,234.50"}, {Dollars(pawl.MoneyOf(-2)), "-$2.00"},
		{Price(pawl.MoneyOf(3)), "$3"}, {Price(pawl.MoneyOf(0.5)), "$0.50"}, {Price(pawl.MoneyOf(0.075)), "$0.075"}, {Price(pawl.MoneyOf(12.25)), "$12.25"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestDurations(t *testing.T) {
	t.Parallel()
	const s, m, h, day = time.Second, time.Minute, time.Hour, 24 * time.Hour
	for _, c := range []struct{ got, want string }{
		{Clock(-s), "0s"}, {Clock(59 * s), "59s"}, {Clock(61 * s), "1m 01s"}, {Clock(3*h + 4*m), "3h 04m"},
		{Took(-s), "0.0 s"}, {Took(400 * time.Millisecond), "0.4 s"}, {Took(2 * s), "2.0 s"}, {Took(9960 * time.Millisecond), "10 s"}, {Took(12 * s), "12 s"},
		{Took(59*s + 600*time.Millisecond), "1 min"}, {Took(125 * s), "2 min 5 s"}, {Took(4 * m), "4 min"}, {Took(h - time.Millisecond), "1 h"},
		{Took(h + 2*m), "1 h 2 min"}, {Took(47 * h), "47 h"}, {Took(3 * day), "3 days"},
		{Duration(2 * s), "2 s"}, {Duration(1500 * time.Millisecond), "1.5 s"}, {Duration(20 * s), "20 s"}, {Duration(30 * m), "30 min"}, {Duration(90 * m), "1 h 30 min"},
		{Age(0), "now"}, {Age(-h), "now"}, {Age(2 * m), "2m"}, {Age(3 * h), "3h"}, {Age(49 * h), "2d"}, {Age(800 * day), "2y"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestShortIsShort checks that Short, Bytes and IBytes have at most four digits, so that
// tables keep their columns.
func TestShortIsShort(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 999e9).Draw(t, "n")
		for _, text := range []string{Short(n), Bytes(n), IBytes(n)} {
			digits := strings.TrimRight(text, " abdeiksytBGKMT")
			if len(strings.Replace(digits, ",", "", 1)) > 4 {
				t.Errorf("%d is %q", n, text)
			}
		}
	})
}
