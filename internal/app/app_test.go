package app

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// closersOf lists the names that each stage must register with onClose.
var closersOf = map[string][]string{
	"store":            {"store"},
	"telemetry":        {"telemetry"},
	"notices":          {"notices"},
	"jobs":             {"jobs"},
	"language servers": {"language servers"},
	"MCP servers":      {"MCP servers"},
	"projects":         {"projects"},
	"runner":           {"runner"},
}

// TestOpenClosesAfterErrors checks that Open closes the components of earlier stages in reverse
// order if a stage fails, and that Close does so for all stages.
func TestOpenClosesAfterErrors(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"HOME", "PAWL_DATA", "XDG_CONFIG_HOME"} {
		t.Setenv(name, dir)
	}
	t.Setenv("PAWL_STORE", "")
	t.Setenv("PAWL_CONFIG", filepath.Join(dir, "pawl.json"))
	failure := errors.New("this stage fails")
	for i := range len(stages) + 1 {
		name, list := "none", slices.Clone(stages)
		if i < len(stages) {
			name = stages[i].name
			list[i].open = func(*builder, context.Context) error { return failure }
		}
		t.Run(name, func(t *testing.T) {
			var want, got []string
			for _, s := range stages[:i] {
				want = append(want, closersOf[s.name]...)
			}
			slices.Reverse(want)
			a, err := open(t.Context(), Options{closed: func(name string) { got = append(got, name) }}, list)
			if i == len(stages) {
				if err != nil {
					t.Fatal(err)
				}
				err = a.Close()
			} else if !errors.Is(err, failure) {
				t.Fatalf("got %v, want %v", err, failure)
			} else {
				err = nil
			}
			if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("closed (-want, +got):\n%s", diff)
			}
		})
	}
}
