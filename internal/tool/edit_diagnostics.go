package tool

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/tool/lsp"
)

// NewDiagnoser returns a Diagnoser that uses the checker. It never fails: the
// edit has been made, whether diagnostics are available or not.
func NewDiagnoser(c Checker) Diagnoser { return diagnoser{c} }

type diagnoser struct{ checker Checker }

// otherFaults is how many errors an edit shows for each file other than the
// edited ones.
const otherFaults = 3

// After returns errors and warnings of the edited files, and errors of other
// files that were not shown before.
func (d diagnoser) After(ctx context.Context, dir string, paths []string) string {
	ctx, cancel := context.WithTimeout(ctx, EditFaultsTime)
	defer cancel()
	report, err := d.checker.Check(ctx, dir, paths)
	if err != nil {
		return ""
	}
	var shown lsp.Report
	before := 0
	for _, f := range report.Files {
		if f.Asked {
			shown.Files = append(shown.Files, f)
			continue
		}
		fresh := slices.DeleteFunc(slices.Clone(f.Faults), func(fault lsp.Fault) bool { return !fault.Error || !fault.New })
		if len(fresh) > 0 {
			f.Errors, f.Warnings = f.Errors-countErrors(f.Faults)+len(fresh), 0
			f.Faults = fresh[:min(len(fresh), otherFaults)]
			shown.Files = append(shown.Files, f)
		} else if f.Errors > 0 {
			before++
		}
	}
	for _, n := range report.Notes {
		if n.Kind == lsp.Waiting {
			shown.Notes = append(shown.Notes, n)
		}
	}
	if len(shown.Files) == 0 && len(shown.Notes) == 0 {
		return ""
	}
	text := showFaults(shown)
	if before > 0 {
		text += fmt.Sprintf("(%s, as before)\n", count(before, "other file has", "other files have")+" errors")
	}
	return "diagnostics: " + text
}

func countErrors(faults []lsp.Fault) int {
	n := 0
	for _, f := range faults {
		if f.Error {
			n++
		}
	}
	return n
}

// allFaults formats a report, or says that there are no problems.
func allFaults(report lsp.Report, where string) string {
	if len(report.Files) == 0 && len(report.Notes) == 0 {
		return "no errors or warnings " + where + "\n"
	}
	return showFaults(report)
}

// showFaults formats a report within the limits: a line with the counts, a
// line for each diagnostic, and how many were left out.
func showFaults(report lsp.Report) string {
	files := slices.Clone(report.Files)
	slices.SortStableFunc(files, func(a, b lsp.File) int { return min(b.Errors, 1) - min(a.Errors, 1) })
	var errors, warnings int
	for _, f := range files {
		errors, warnings = errors+f.Errors, warnings+f.Warnings
	}
	var out strings.Builder
	if len(files) > 0 {
		out.WriteString(counts(errors, warnings) + "\n")
	}
	for _, f := range files[:min(len(files), FaultFiles)] {
		showFile(&out, f)
	}
	if more := len(files) - FaultFiles; more > 0 {
		fmt.Fprintf(&out, "(and %s)\n", count(more, "more file", "more files"))
	}
	for i, n := range report.Notes {
		if len(files) == 0 && i == 0 {
			out.WriteString(n.Text + "\n")
		} else {
			fmt.Fprintf(&out, "(%s)\n", n.Text)
		}
	}
	return out.String()
}

func showFile(out *strings.Builder, f lsp.File) {
	path := f.Path
	if strings.ContainsFunc(path, unicode.IsControl) {
		path = strconv.Quote(path)
	}
	errors, warnings := f.Errors, f.Warnings
	for _, fault := range f.Faults[:min(len(f.Faults), FileFaults)] {
		kind := "warning"
		if fault.Error {
			kind = "error"
			errors--
		} else {
			warnings--
		}
		fmt.Fprintf(out, "%s:%d:%d: %s: %s", path, fault.Line, fault.Column, kind, fault.Message)
		if fault.Source != "" {
			fmt.Fprintf(out, " (%s)", fault.Source)
		}
		out.WriteByte('\n')
	}
	if errors+warnings > 0 {
		fmt.Fprintf(out, "(and in %s: %s)\n", path, counts(errors, warnings))
	}
}

// counts formats the numbers of errors and warnings.
func counts(errors, warnings int) string {
	var parts []string
	if errors > 0 {
		parts = append(parts, count(errors, "error", "errors"))
	}
	if warnings > 0 {
		parts = append(parts, count(warnings, "warning", "warnings"))
	}
	return strings.Join(parts, ", ")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
