package humanize

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
)

// Dollars formats an amount of money: $12.35, and below 10 cents with four decimals,
// $0.0123.
func Dollars(m pawl.Money) string {
	switch d := m.Dollars(); {
	case m < 0:
		return "-" + Dollars(-m)
	case m == 0:
		return "$0.00"
	case d < 0.000_05:
		return "<$0.0001"
	case d < 0.1:
		return fmt.Sprintf("$%.4f", d)
	default:
		whole, cents, _ := strings.Cut(fmt.Sprintf("%.2f", d), ".")
		return "$" + separated(whole) + "." + cents
	}
}

// Price formats an amount of money with two or three decimals, or none if it is a
// whole number of dollars.
func Price(m pawl.Money) string {
	text := fmt.Sprintf("%.3f", m.Dollars())
	whole, part, _ := strings.Cut(text, ".")
	switch part = strings.TrimRight(part, "0"); len(part) {
	case 0:
		return "$" + whole
	case 1:
		part += "0"
	}
	return "$" + whole + "." + part
}
