package permission

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Show returns the text of a permission prompt. It contains the whole command,
// every segment, the full paths, the hosts and the rest of the input, whatever
// their length, and the exact rules that "always allow" would add. Invisible and
// misleading characters are escaped, and what the model wrote stands behind a bar,
// so that it cannot imitate our text.
func Show(c Call, v Verdict) string {
	var b strings.Builder
	risk := c.Risk
	if risk == "" {
		risk = "unknown"
	}
	fmt.Fprintf(&b, "%s, %s: %s\n", sanitize.Line(c.Tool), sanitize.Line(string(risk)), v.Decision)
	shown := map[string]bool{}
	for _, a := range c.Access {
		showAccess(&b, a, shown)
	}
	showSegments(&b, v.Findings)
	showPaths(&b, v.Findings)
	if c.Change != "" {
		showChange(&b, c.Change) // all of the input is in it
	} else {
		showInput(&b, c.Input, shown)
	}
	fmt.Fprintf(&b, "why\n  %s\n", v.Why)
	for _, r := range v.Ignored {
		fmt.Fprintf(&b, "  ignored, because a project can only tighten the rules: %s\n", r)
	}
	showOffer(&b, v)
	return b.String()
}

// showAccess shows an access. A command that both runs and leaves the sandbox is
// shown once.
func showAccess(b *strings.Builder, a pawl.Access, shown map[string]bool) {
	switch a.Kind {
	case pawl.AccessExec, pawl.AccessEscape:
		if !shown[a.Target] {
			b.WriteString("command\n")
			for line := range strings.SplitSeq(a.Target, "\n") {
				fmt.Fprintf(b, "  | %s\n", sanitize.Line(line))
			}
			showWarnings(b, textWarnings(a.Target))
			showWarnings(b, twinWarnings(a.Target))
		}
		shown[a.Target] = true
		if a.Kind == pawl.AccessEscape {
			b.WriteString("  ! runs outside the sandbox\n")
		}
	case pawl.AccessNet:
		fmt.Fprintf(b, "host\n  | %s\n", sanitize.Line(a.Target))
		showWarnings(b, hostWarnings(a.Target))
	case pawl.AccessRead, pawl.AccessWrite: // below, as they really are
	default:
		fmt.Fprintf(b, "access\n  | %s\n", sanitize.Line(a.String()))
	}
}

func showWarnings(b *strings.Builder, warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(b, "  ! %s\n", w)
	}
}

// showSegments shows the decision on each segment of a command.
func showSegments(b *strings.Builder, findings []Finding) {
	n := 0
	for _, f := range findings {
		if f.Segment == nil {
			continue
		}
		if n++; n == 1 {
			b.WriteString("segments\n")
		}
		fmt.Fprintf(b, "  %d. %s | %s\n", n, f.Decision, sanitize.Line(f.Segment.Text))
		if f.Access.Kind == pawl.AccessEscape {
			b.WriteString("     outside the sandbox\n")
		}
		if f.Segment.Dir != "" {
			fmt.Fprintf(b, "     in %s\n", sanitize.Line(f.Segment.Dir))
		}
		for _, w := range f.Segment.Writes {
			note := ""
			if Protected(w) {
				note = ", a protected path"
			}
			fmt.Fprintf(b, "     writes %s%s\n", sanitize.Line(w), note)
		}
		if len(f.Segment.Doubts) > 0 {
			fmt.Fprintf(b, "     not fully analyzed: %s\n", sanitize.Line(strings.Join(f.Segment.Doubts, "; ")))
		}
		fmt.Fprintf(b, "     %s\n", f.Why)
	}
}

func showPaths(b *strings.Builder, findings []Finding) {
	n := 0
	for _, f := range findings {
		if f.Access.Kind != pawl.AccessRead && f.Access.Kind != pawl.AccessWrite {
			continue
		}
		if n++; n == 1 {
			b.WriteString("paths\n")
		}
		path := f.Path
		if path == "" {
			path = f.Access.Target
		}
		fmt.Fprintf(b, "  %d. %s | %s %s\n     %s\n", n, f.Decision, f.Access.Kind, sanitize.Line(path), f.Why)
		showWarnings(b, textWarnings(path))
		showWarnings(b, twinWarnings(path))
	}
}

// showChange shows the whole diff, behind a bar.
func showChange(b *strings.Builder, diff string) {
	b.WriteString("change\n")
	for line := range strings.Lines(diff) {
		fmt.Fprintf(b, "  | %s\n", sanitize.Line(strings.TrimSuffix(line, "\n")))
	}
	showWarnings(b, textWarnings(diff))
}

// showInput shows the rest of the input, such as the content of a file or the
// directory of a command. What was shown as a command is left out.
func showInput(b *strings.Builder, input json.RawMessage, shown map[string]bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil { // not even an object: as it is
		if len(input) > 0 {
			fmt.Fprintf(b, "input\n  | %s\n", sanitize.Line(string(input)))
		}
		return
	}
	n := 0
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		var text string
		isText := json.Unmarshal(fields[name], &text) == nil
		if isText && shown[text] {
			continue
		}
		if n++; n == 1 {
			b.WriteString("input\n")
		}
		switch {
		case !isText:
			fmt.Fprintf(b, "  | %s: %s\n", sanitize.Line(name), sanitize.Line(string(fields[name])))
		case !strings.Contains(text, "\n"):
			fmt.Fprintf(b, "  | %s: %s\n", sanitize.Line(name), sanitize.Line(text))
		default:
			fmt.Fprintf(b, "  | %s:\n", sanitize.Line(name))
			for line := range strings.SplitSeq(text, "\n") {
				fmt.Fprintf(b, "  |   %s\n", sanitize.Line(line))
			}
		}
		if s := sanitize.FirstStrange(text); s != "" {
			showWarnings(b, []string{hiddenWarning(s)})
		}
	}
}

func showOffer(b *strings.Builder, v Verdict) {
	if v.Decision != Ask {
		return
	}
	if len(v.Offer) == 0 {
		b.WriteString("always\n  not offered for this call\n")
		return
	}
	b.WriteString("always would add\n")
	for _, r := range v.Offer {
		fmt.Fprintf(b, "  %s\n", r.json())
	}
}

// json returns the rule as it would be stored, on one line, sanitized.
func (r Rule) json() string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return sanitize.Line(r.String())
	}
	return sanitize.Line(strings.TrimSpace(b.String()))
}
