package lsp

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func found(severity, line, column int, text string) diagnostic {
	d := diagnostic{Severity: severity, Message: text, Source: "s\n"}
	d.Range.Start.Line, d.Range.Start.Character = line, column
	return d
}

func TestNewFaults(t *testing.T) {
	t.Parallel()
	got := newFaults([]diagnostic{
		found(2, 0, 0, "warning"), found(1, 9, 0, "b"), found(4, 0, 0, "hint"), found(3, 0, 0, "information"),
		found(1, 2, 5, "a\nb"), found(1, 2, 4, "c"), found(0, 30, 0, "nothing said"), found(9, 0, 0, "unknown"),
	})
	want := faults{
		list: []Fault{
			{Line: 3, Column: 5, Error: true, Message: "c", Source: "s"},
			{Line: 3, Column: 6, Error: true, Message: "a b", Source: "s"},
			{Line: 10, Column: 1, Error: true, Message: "b", Source: "s"},
			{Line: 31, Column: 1, Error: true, Message: "nothing said", Source: "s"},
			{Line: 1, Column: 1, Message: "warning", Source: "s"},
		},
		errors: 4, warnings: 1,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(faults{})); diff != "" {
		t.Error(diff)
	}
}

// What is kept of many is what matters most, wherever it came.
func TestFaultsAreCut(t *testing.T) {
	t.Parallel()
	var list []diagnostic
	for i := range 10 * keptFaults {
		list = append(list, found(2, i, 0, "w"))
	}
	for i := range 3 {
		list = append(list, found(1, 1000-i, 0, fmt.Sprint(i)))
	}
	got := newFaults(list)
	if len(got.list) != keptFaults || got.errors != 3 || got.warnings != 10*keptFaults {
		t.Errorf("%d kept of %d and %d", len(got.list), got.errors, got.warnings)
	}
	for i, line := range []int{999, 1000, 1001, 1, 2, 3} {
		if got.list[i].Line != line {
			t.Errorf("fault %d is in line %d", i, got.list[i].Line)
		}
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	one, two, three := found(1, 1, 0, "one"), found(1, 2, 0, "two"), found(2, 3, 0, "three")
	got := newFaults([]diagnostic{one, three}).join(newFaults([]diagnostic{two, one, three}))
	if diff := cmp.Diff(newFaults([]diagnostic{one, two, three}), got, cmp.AllowUnexported(faults{})); diff != "" {
		t.Error(diff)
	}
}
