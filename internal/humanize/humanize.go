// Package humanize formats numbers, amounts, durations and mission events for
// people.
package humanize

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
)

// Short formats a number in short form: 950, 12.3k, 1.2M.
func Short(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 100_000:
		return strings.Replace(fmt.Sprintf("%.1fk", float64(n)/1e3), ".0k", "k", 1)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return strings.Replace(fmt.Sprintf("%.1fM", float64(n)/1e6), ".0M", "M", 1)
}

// Plural formats a count with a noun: "1 file", "2 files".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Dollars formats an amount of money; below 10 cents with four decimals.
func Dollars(m pawl.Money) string {
	if d := m.Dollars(); d < 0.1 {
		return fmt.Sprintf("$%.4f", d)
	}
	return fmt.Sprintf("$%.2f", m.Dollars())
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

// Clock formats the duration of something that is still running: 5s, 2m 05s, 1h
// 02m.
func Clock(d time.Duration) string {
	d = max(0, d)
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case h > 0:
		return fmt.Sprintf("%dh %02dm", h, m)
	case m > 0:
		return fmt.Sprintf("%dm %02ds", m, s)
	}
	return fmt.Sprintf("%ds", s)
}

// Took formats the duration of something that has finished: 0.4 s, 12 s, 2 m 05 s,
// 1 h 02 m.
func Took(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d m %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d m", int(d.Hours()), int(d.Minutes())%60)
}

// Age formats the time since something happened, in one unit: now, 5m, 3h, 2d, 1y.
func Age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < day:
		return fmt.Sprintf("%dh", int(d.Hours()))
	case d < 365*day:
		return fmt.Sprintf("%dd", int(d/day))
	}
	return fmt.Sprintf("%dy", int(d/(365*day)))
}
