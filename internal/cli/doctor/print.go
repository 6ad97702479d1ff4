package doctor

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Limits for printing a group as text. JSON output has no limits.
const (
	shownItems  = 20
	shownFaults = 20
	shownName   = 60 // characters
)

// titles maps kinds to their titles, if they differ.
var titles = map[string]string{"mcp": "MCP servers", "lsp": "language servers"}

// faultFindings converts the faults of the groups to findings, up to shownFaults for each group.
func faultFindings(groups []itemGroup) []Finding {
	var findings []Finding
	for _, g := range groups {
		for i, fault := range g.Faults {
			f := Finding{Name: g.Kind, Status: Warn, Detail: sanitize.Line(fault)}
			if i == shownFaults {
				f.Detail = more(len(g.Faults)-i, g.Show)
				findings = append(findings, f)
				break
			}
			findings = append(findings, f)
		}
	}
	return findings
}

func more(n int, show string) string {
	if show == "" {
		show = "pawl doctor --json"
	}
	return fmt.Sprintf("and %d more: %s", n, show)
}

// printGroups prints the groups with one line for each item.
func printGroups(w io.Writer, groups []itemGroup) error {
	var fixes []string
	for _, g := range groups {
		title := titles[g.Kind]
		if title == "" {
			title = g.Kind
		}
		used := 0
		for _, i := range g.Items {
			if i.InEffect {
				used++
			}
			if i.Fix != "" && !slices.Contains(fixes, i.Fix) {
				fixes = append(fixes, i.Fix)
			}
		}
		if len(g.Items) == 0 {
			fmt.Fprintf(w, "\n%s: none\n", title)
			continue
		}
		fmt.Fprintf(w, "\n%s: %d, %d in effect\n", title, len(g.Items), used)
		if err := printItems(w, g); err != nil {
			return err
		}
	}
	if len(fixes) > 0 {
		fmt.Fprintln(w, "\nto look at what is not trusted, and to trust it:")
	}
	for _, fix := range fixes {
		fmt.Fprintf(w, "  %s\n", sanitize.Line(fix))
	}
	return nil
}

func printItems(w io.Writer, g itemGroup) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, i := range g.Items[:min(len(g.Items), shownItems)] {
		state := "in effect"
		if !i.InEffect {
			state = "not in effect: " + sanitize.Line(i.Why)
		}
		if n := len(i.Warnings); n > 0 {
			state += fmt.Sprintf("; warnings: %d", n)
		}
		line := fmt.Sprintf("  %s\t%s\t%s", humanize.FirstLine(i.Name, shownName), i.Origin, state)
		if i.File != "" {
			line += "\t" + sanitize.Line(i.File)
		}
		fmt.Fprintln(t, line)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if n := len(g.Items) - shownItems; n > 0 {
		show := g.Show
		if show != "" && slices.ContainsFunc(g.Items, func(i item) bool { return i.Fix != "" }) {
			show += " --trust"
		}
		fmt.Fprintf(w, "  %s\n", more(n, show))
	}
	return nil
}
