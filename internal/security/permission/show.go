package permission

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/protect"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Show returns the text of a permission prompt: a question on the first line, then
// sections. It contains the whole command, every segment, the full paths, the hosts
// and the rest of the input, whatever their length, and the exact rules that "always
// allow" would add. Invisible and misleading characters are escaped, and what the model
// wrote stands behind a bar, so that it cannot imitate our text. For a call that is
// allowed or denied, the first line says so.
//
// The name of a section is at the beginning of a line; all other lines are indented. A
// command directly follows the question. Text of the model begins with "  | ", a warning
// with "  ! ".
func Show(c Call, v Verdict) string {
	var b strings.Builder
	b.WriteString(title(c, v) + "\n")
	shown := map[string]bool{}
	for _, a := range c.Access {
		showAccess(&b, a, shown)
	}
	showHosts(&b, c.Access)
	showTool(&b, c)
	findings := withoutRepeats(v.Findings)
	reasons := differ(findings)
	showSegments(&b, findings, reasons)
	showPaths(&b, "Writes", ofKind(findings, pawl.AccessWrite), reasons)
	showPaths(&b, "Reads", ofKind(findings, pawl.AccessRead), reasons)
	showReasons(&b, v)
	if c.Change != "" {
		showChange(&b, c.Change) // all of the input is in it
	} else {
		showInput(&b, c.Input, shown)
	}
	showOffer(&b, v)
	return b.String()
}

// title returns the question that the prompt asks, or the decision.
func title(c Call, v Verdict) string {
	switch v.Decision {
	case Allow:
		return "Allowed"
	case Review:
		return "Allowed; its changes need your approval"
	case Ask:
	default:
		return "Denied"
	}
	count := map[pawl.AccessKind]int{}
	for _, a := range c.Access {
		count[a.Kind]++
	}
	asked := slices.DeleteFunc(withoutRepeats(v.Findings), func(f Finding) bool { return f.Decision == Allow })
	writes, reads := len(ofKind(asked, pawl.AccessWrite)), len(ofKind(asked, pawl.AccessRead))
	switch {
	case count[pawl.AccessEscape] > 0:
		return "Run this command outside the sandbox?"
	case count[pawl.AccessExec] > 0:
		return "Run this command?"
	case writes > 0:
		return question("Edit", "file", writes)
	case count[pawl.AccessNet] > 0:
		return question("Connect to", "host", count[pawl.AccessNet])
	case reads > 0:
		return question("Read", "file", reads)
	default:
		return "Use this tool?"
	}
}

func question(verb, noun string, n int) string {
	if n == 1 {
		return fmt.Sprintf("%s this %s?", verb, noun)
	}
	return fmt.Sprintf("%s %d %ss?", verb, n, noun)
}

// showAccess shows an access. The first command directly follows the title. A command
// that both runs and leaves the sandbox is shown once.
func showAccess(b *strings.Builder, a pawl.Access, shown map[string]bool) {
	switch a.Kind {
	case pawl.AccessExec, pawl.AccessEscape:
		if shown[a.Target] {
			return
		}
		if len(shown) > 0 {
			b.WriteString("Command\n")
		}
		shown[a.Target] = true
		for line := range strings.SplitSeq(a.Target, "\n") {
			fmt.Fprintf(b, "  | %s\n", sanitize.Line(line))
		}
		showWarnings(b, textWarnings(a.Target))
		showWarnings(b, twinWarnings(a.Target))
	case pawl.AccessMCP:
		fmt.Fprintf(b, "MCP tool\n  | %s\n", sanitize.Line(a.Target))
	case pawl.AccessRead, pawl.AccessWrite, pawl.AccessNet: // below
	default:
		fmt.Fprintf(b, "Access\n  | %s\n", sanitize.Line(a.String()))
	}
}

func showHosts(b *strings.Builder, accesses []pawl.Access) {
	n := 0
	for _, a := range accesses {
		if a.Kind != pawl.AccessNet {
			continue
		}
		if n++; n == 1 {
			b.WriteString("Hosts\n")
		}
		fmt.Fprintf(b, "  | %s\n", sanitize.Line(a.Target))
		showWarnings(b, hostWarnings(a.Target))
	}
}

// showTool names the tool, unless the title says what it does.
func showTool(b *strings.Builder, c Call) {
	named := func(a pawl.Access) bool { return a.Kind == pawl.AccessMCP }
	switch {
	case c.Tool == "bash", c.Tool == "edit", c.Tool == "write", c.Tool == "apply_patch":
	case slices.ContainsFunc(c.Access, named):
	default:
		fmt.Fprintf(b, "Tool\n  | %s\n", sanitize.Line(c.Tool))
	}
}

func showWarnings(b *strings.Builder, warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(b, "  ! %s\n", w)
	}
}

// differ reports whether the findings have different reasons, so that each needs its
// own.
func differ(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool {
		return f.Decision != findings[0].Decision || f.Why != findings[0].Why
	})
}

// showSegments shows the segments of a command with what is to be known about each. A
// command that is one plain segment is not repeated.
func showSegments(b *strings.Builder, findings []Finding, reasons bool) {
	type part struct {
		text  string
		notes []string
	}
	var parts []part
	plain := true
	for _, f := range findings {
		if f.Segment == nil {
			continue
		}
		notes := f.notes()
		plain = plain && len(notes) == 0
		if reasons {
			notes = append(notes, sentence(f.Why))
		}
		parts = append(parts, part{sanitize.Line(f.Segment.Text), notes})
	}
	if len(parts) == 0 || len(parts) == 1 && plain {
		return
	}
	b.WriteString("Parts\n")
	for _, p := range parts {
		fmt.Fprintf(b, "  | %s\n", p.text)
		for _, note := range p.notes {
			fmt.Fprintf(b, "    %s\n", note)
		}
	}
}

// notes returns what is to be known about a segment.
func (f Finding) notes() []string {
	var notes []string
	if f.Segment.deletes {
		notes = append(notes, "Deletes files.")
	}
	if f.Segment.Dir != "" {
		notes = append(notes, "Runs in "+sanitize.Line(f.Segment.Dir)+".")
	}
	for _, w := range f.Segment.Writes {
		note := "Writes " + sanitize.Line(w)
		if protect.Protected(w) {
			note += ", a protected path"
		}
		notes = append(notes, note+".")
	}
	if len(f.Segment.Doubts) > 0 {
		notes = append(notes, fmt.Sprintf("Not fully analyzed: %s.", sanitize.Line(strings.Join(f.Segment.Doubts, "; "))))
	}
	return notes
}

// withoutRepeats returns the findings without those that another one includes: a
// command in the sandbox that also leaves it, a file that is read before it is written.
func withoutRepeats(findings []Finding) []Finding {
	var list []Finding
	for _, f := range findings {
		if !slices.ContainsFunc(findings, f.isPartOf) && !slices.ContainsFunc(list, f.equals) {
			list = append(list, f)
		}
	}
	return list
}

// isPartOf reports whether another finding, as strict as this one, is about the same
// command or file and includes it.
func (f Finding) isPartOf(g Finding) bool {
	if g.Decision.rank() < f.Decision.rank() {
		return false
	}
	switch f.Access.Kind {
	case pawl.AccessExec:
		return g.Access.Kind == pawl.AccessEscape && g.Access.Target == f.Access.Target && g.Segment != nil && f.Segment != nil && g.Segment.Text == f.Segment.Text
	case pawl.AccessRead:
		return f.Decision == Allow && g.Access.Kind == pawl.AccessWrite && g.Path == f.Path
	default:
		return false
	}
}

// equals reports whether two findings on paths would be shown alike.
func (f Finding) equals(g Finding) bool {
	return f.Path != "" && g.Path == f.Path && g.Access.Kind == f.Access.Kind && g.Decision == f.Decision && g.Why == f.Why
}

func ofKind(findings []Finding, kind pawl.AccessKind) []Finding {
	var list []Finding
	for _, f := range findings {
		if f.Access.Kind == kind {
			list = append(list, f)
		}
	}
	return list
}

func showPaths(b *strings.Builder, name string, findings []Finding, reasons bool) {
	if len(findings) > 0 {
		b.WriteString(name + "\n")
	}
	for _, f := range findings {
		path := f.Path
		if path == "" {
			path = f.Access.Target
		}
		fmt.Fprintf(b, "  | %s\n", sanitize.Line(path))
		showWarnings(b, textWarnings(path))
		showWarnings(b, twinWarnings(path))
		if reasons {
			fmt.Fprintf(b, "    %s\n", sentence(f.Why))
		}
	}
}

// showReasons shows why the call needs approval, is denied or is allowed.
func showReasons(b *strings.Builder, v Verdict) {
	b.WriteString("Reason\n")
	shown := map[string]bool{}
	for _, f := range v.Findings {
		if f.Decision == v.Decision && !shown[f.Why] {
			shown[f.Why] = true
			fmt.Fprintf(b, "  %s\n", sentence(f.Why))
		}
	}
	if len(shown) == 0 {
		fmt.Fprintf(b, "  %s\n", sentence(v.Why))
	}
	for _, r := range v.Ignored {
		fmt.Fprintf(b, "  Ignored, because a project can only tighten the rules: %s.\n", r)
	}
}

// sentence returns a reason as a sentence.
func sentence(why string) string {
	if why == "" {
		return ""
	}
	if c := why[0]; 'a' <= c && c <= 'z' {
		why = string(c-'a'+'A') + why[1:]
	}
	if strings.HasSuffix(why, ".") {
		return why
	}
	return why + "."
}

// showChange shows the whole diff, behind a bar. Tabs stay as they are.
func showChange(b *strings.Builder, diff string) {
	b.WriteString("Change\n")
	for line := range strings.Lines(diff) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for i := range cells {
			cells[i] = sanitize.Line(cells[i])
		}
		fmt.Fprintf(b, "  | %s\n", strings.Join(cells, "\t"))
	}
	showWarnings(b, textWarnings(diff))
}

// showInput shows the rest of the input, such as the content of a file or the
// directory of a command. What was shown as a command is left out.
func showInput(b *strings.Builder, input json.RawMessage, shown map[string]bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil { // not even an object: as it is
		if len(input) > 0 {
			fmt.Fprintf(b, "Input\n  | %s\n", sanitize.Line(string(input)))
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
			b.WriteString("Input\n")
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
	if v.Decision != Ask && v.Decision != Review {
		return
	}
	if len(v.Offer) == 0 {
		b.WriteString("Always allow\n  Not available for this call.\n")
		return
	}
	b.WriteString("Always allow adds\n")
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
