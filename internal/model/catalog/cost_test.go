package catalog

import (
	"testing"

	"github.com/pawl-dev/pawl"
)

// TestCost: the wanted numbers were computed by hand, in billionths of a dollar.
func TestCost(t *testing.T) {
	t.Parallel()
	sonnet := Prices{3e9, 15e9, 0.3e9, 3.75e9}
	flash := Prices{0.14e9, 0.28e9, 0.0028e9, 0.14e9}
	for _, c := range []struct {
		name   string
		prices Prices
		usage  pawl.Usage
		want   pawl.Money
	}{
		{"nothing", sonnet, pawl.Usage{}, 0},
		{"a million in: $3", sonnet, pawl.Usage{Input: 1_000_000}, 3e9},
		{"a token in: 3,000", sonnet, pawl.Usage{Input: 1}, 3_000},
		{"a token out: 15,000", sonnet, pawl.Usage{Output: 1}, 15_000},
		{"a token read: 300", sonnet, pawl.Usage{CacheRead: 1}, 300},
		{"a token cached: 3,750", sonnet, pawl.Usage{CacheWrite: 1}, 3_750},
		{"reasoning is part of output", sonnet, pawl.Usage{Output: 10, Reasoning: 8}, 150_000},
		// 1,200*3,000 + 850*15,000 + 45,000*300 + 2,000*3,750 = 3.6M + 12.75M + 13.5M + 7.5M
		{"a step", sonnet, pawl.Usage{Input: 1_200, Output: 850, Reasoning: 400, CacheRead: 45_000, CacheWrite: 2_000}, 37_350_000},
		{"a carried cost is not looked at", sonnet, pawl.Usage{Input: 1, Cost: 99}, 3_000},
		// 2.8 a token: rounded once, at the end.
		{"a token read: 2.8", flash, pawl.Usage{CacheRead: 1}, 3},
		{"three read: 8.4", flash, pawl.Usage{CacheRead: 3}, 8},
		{"five read: 14", flash, pawl.Usage{CacheRead: 5}, 14},
		{"a half is rounded up", Prices{Input: 500_000}, pawl.Usage{Input: 1}, 1},
		{"less than a half is not", Prices{Input: 499_999}, pawl.Usage{Input: 1}, 0},
		// 2.5 + 2.5 is 5, not 3 + 3.
		{"parts are not rounded", Prices{Input: 2_500_000, Output: 2_500_000}, pawl.Usage{Input: 1, Output: 1}, 5},
		// 40,000,000,000 * $180 / 1M = $7.2M: the product does not fit into 64 bits.
		{"large", Prices{Input: 180e9}, pawl.Usage{Input: 40_000_000_001}, 7_200_000e9 + 180_000},
		{"negative counts are none", sonnet, pawl.Usage{Input: -5, Output: 1}, 15_000},
		{"free", Prices{}, pawl.Usage{Input: 1e9, Output: 1e9}, 0},
	} {
		if got := Cost(Model{Prices: c.prices}, c.usage); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

func TestPrice(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Price{
		"0": 0, "3": 3e9, "3.75": 3.75e9, "0.0028": 2_800_000, "0.000000001": 1, "1000000": 1_000_000e9, "10.000000001": 10_000_000_001,
	} {
		var got Price
		if err := got.UnmarshalJSON([]byte(text)); err != nil || got != want {
			t.Errorf("%s: got %d, %v, want %d", text, got, err, want)
		}
		if got.String() != text {
			t.Errorf("%s is printed as %s", text, got)
		}
	}
	for _, text := range []string{"", "-1", "+1", "1e9", ".5", "0x1", "null", `"1"`, "1.2345678901", "1.-5", "1.+5", "1_0"} {
		var got Price
		if err := got.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%q was taken as %s", text, got)
		}
	}
}
