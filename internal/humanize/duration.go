package humanize

import (
	"fmt"
	"strings"
	"time"
)

// Clock formats the duration of something that is still running, as a clock that
// keeps its width: 5s, 2m 05s, 1h 02m.
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

// Took formats a measured duration: 0.4 s, 2.0 s, 12 s, 2 min 5 s, 1 h 2 min, 3 days.
func Took(d time.Duration) string {
	const day = 24 * time.Hour
	d = max(0, d)
	switch s, m := d.Round(time.Second), d.Round(time.Minute); {
	case d.Round(time.Second/10) < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case s < time.Minute:
		return fmt.Sprintf("%d s", s/time.Second)
	case s < time.Hour:
		return units(s, time.Minute, "min", time.Second, "s")
	case m < 2*day:
		return units(m, time.Hour, "h", time.Minute, "min")
	}
	return Plural(int(d/day), "day")
}

// Duration formats a duration that a user has set, such as a timeout: 1.5 s, 20 s,
// 10 min, 1 h 30 min, 3 days.
func Duration(d time.Duration) string {
	return strings.Replace(Took(d), ".0 s", " s", 1)
}

// units formats d in two units, and leaves out the smaller one if it is 0.
func units(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	text := fmt.Sprintf("%d %s", d/large, largeName)
	if rest := d % large / small; rest > 0 {
		text += fmt.Sprintf(" %d %s", rest, smallName)
	}
	return text
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
