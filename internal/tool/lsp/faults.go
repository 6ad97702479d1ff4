package lsp

import (
	"cmp"
	"slices"
)

// Fault is a diagnostic of a server.
type Fault struct {
	Line, Column int // from 1; columns count characters
	Error        bool
	Message      string // a single line
	Source       string // the tool that reports it; "" if unknown
	New          bool   // not in an earlier Report of this workspace
}

// faults are the diagnostics of one file, within the limits, errors first.
type faults struct {
	list             []Fault
	errors, warnings int // total counts
}

// newFaults converts errors and warnings. It drops hints, which are for people
// who see the file in an editor.
func newFaults(found []diagnostic) faults {
	var f faults
	for _, d := range found {
		switch d.Severity {
		case 0, 1: // a missing severity counts as an error
			f.errors++
		case 2:
			f.warnings++
		default:
			continue
		}
		if len(f.list) >= 2*keptFaults {
			f.cut()
		}
		f.list = append(f.list, Fault{
			Line:    max(d.Range.Start.Line, 0) + 1,
			Column:  max(d.Range.Start.Character, 0) + 1,
			Error:   d.Severity < 2,
			Message: d.Message,
			Source:  d.Source,
		})
	}
	f.cut()
	for i, fault := range f.list {
		f.list[i].Message, f.list[i].Source = oneLine(fault.Message), oneLine(fault.Source)
	}
	return f
}

// cut sorts the diagnostics and drops those beyond the limit.
func (f *faults) cut() {
	slices.SortStableFunc(f.list, func(a, b Fault) int {
		if a.Error != b.Error {
			if a.Error {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
	})
	f.list = f.list[:min(len(f.list), keptFaults)]
}

// join merges pulled and published diagnostics without duplicates.
func (f faults) join(g faults) faults {
	if len(f.list) == 0 {
		return g
	}
	j := faults{list: slices.Clone(f.list), errors: f.errors + g.errors, warnings: f.warnings + g.warnings}
	for _, fault := range g.list {
		if !slices.Contains(f.list, fault) {
			j.list = append(j.list, fault)
		} else if fault.Error {
			j.errors--
		} else {
			j.warnings--
		}
	}
	j.cut()
	return j
}

// verdict is what a server last reported about a file.
type verdict struct {
	published faults
	pulled    faults
	version   int    // that it was published for, or noVersion
	news      uint64 // the server's publication count at that time
}

const noVersion = -1

func (v *verdict) faults() faults { return v.published.join(v.pulled) }

func (v *verdict) empty() bool { return len(v.published.list)+len(v.pulled.list) == 0 }
