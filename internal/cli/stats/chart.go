package stats

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/humanize"
)

// Widths of the parts of a chart in columns. A chart has 80 columns.
const (
	labelWidth = 28
	barWidth   = 10
	sparkDays  = 60
)

// chart renders statistics as text.
type chart struct {
	ascii bool
}

// draw returns the chart. where describes the scope of the usage, for the title.
func (c chart) draw(s stats, where string) string {
	if s.Total.Replies == 0 {
		return "no usage\n"
	}
	since, bars := s.Since, "tokens"
	if since == "" {
		since = s.Rows[0].Day
	}
	if s.Total.Cost > 0 {
		bars = "cost"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Usage %s, %s to %s; bars: %s\n\n", c.text(where), since, s.Until, bars)
	fmt.Fprintf(&b, "%-*s %7s %7s %7s %6s %9s\n", labelWidth, strings.ToUpper(s.By), "REPLIES", "IN", "OUT", "CACHED", "COST")
	var most int64
	for _, g := range s.Groups {
		if !g.others {
			most = max(most, s.weight(g.totals))
		}
	}
	for _, g := range s.Groups {
		bar := ""
		if !g.others {
			bar = c.bar(s.weight(g.totals), most)
		}
		c.group(&b, g, bar)
	}
	b.WriteString("\n")
	c.line(&b, "total", s.Total, "")
	if s.Subagents.Replies > 0 {
		c.line(&b, "  of which subagents", s.Subagents, "")
	}
	writeTokens(&b, s.Total)
	from, weights := s.days(sparkDays)
	fmt.Fprintf(&b, "\n%s to %s\n%s\n", from, s.Until, c.spark(weights))
	return b.String()
}

// group writes the line of a group, with the name of a session below it.
func (c chart) group(b *strings.Builder, g row, bar string) {
	label, indent := cmp.Or(g.short, g.Key), ""
	if g.Parent != "" {
		indent = "  "
	}
	if label == "" {
		label = "(none)"
	}
	c.line(b, indent+label, g.totals, bar)
	if g.name != "" {
		fmt.Fprintf(b, "%s  %s\n", indent, c.text(humanize.FirstLine(g.name, 70)))
	}
}

func (c chart) line(b *strings.Builder, label string, x totals, bar string) {
	label = c.text(label)
	if over := utf8.RuneCountInString(label) - labelWidth; over > 0 { // keep the end: it is more specific
		mark := c.text("…")
		label = mark + string([]rune(label)[over+utf8.RuneCountInString(mark):])
	}
	line := fmt.Sprintf("%-*s %7d %7s %7s %6s %9s %s", labelWidth, label, x.Replies, humanize.Short(x.read()), humanize.Short(x.Output), cached(x), humanize.Dollars(x.Cost), bar)
	fmt.Fprintln(b, strings.TrimRight(line, " "))
}

// writeTokens writes exact numbers of tokens.
func writeTokens(b *strings.Builder, x totals) {
	fmt.Fprintln(b)
	for _, t := range []struct {
		name string
		n    int64
	}{
		{"tokens in", x.read()}, {"  not cached", x.Input}, {"  cache reads", x.CacheRead}, {"  cache writes", x.CacheWrite},
		{"tokens out", x.Output}, {"  reasoning", x.Reasoning},
	} {
		fmt.Fprintf(b, "%-20s %15s\n", t.name, humanize.Number(t.n))
	}
}

// bar draws n relative to most. A value above 0 is always visible.
func (c chart) bar(n, most int64) string {
	if n <= 0 || most <= 0 {
		return ""
	}
	eighths := max(1, int(float64(n)/float64(most)*barWidth*8))
	if c.ascii {
		return strings.Repeat("#", (eighths+7)/8)
	}
	bar := strings.Repeat("█", eighths/8)
	if eighths%8 > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[eighths%8-1])
	}
	return bar
}

// spark draws one character for each day. A value above 0 is always visible.
func (c chart) spark(weights []int64) string {
	signs := []rune("·▁▂▃▄▅▆▇█")
	if c.ascii {
		signs = []rune(".:-=+*%#@")
	}
	var most int64
	for _, n := range weights {
		most = max(most, n)
	}
	var line []rune
	for _, n := range weights {
		level := 0
		if n > 0 {
			level = 1 + int(float64(n)/float64(most)*7)
		}
		line = append(line, signs[level])
	}
	return string(line)
}

// text replaces characters of s that the terminal cannot or must not print. Names are untrusted text.
func (c chart) text(s string) string {
	if c.ascii {
		s = strings.ReplaceAll(s, "…", "...")
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || c.ascii && r > unicode.MaxASCII {
			return '?'
		}
		return r
	}, s)
}

// cached formats the share of input tokens that were read from the cache.
func cached(x totals) string {
	if x.read() == 0 {
		return "-"
	}
	return strconv.FormatInt(x.CacheRead*100/x.read(), 10) + "%"
}
