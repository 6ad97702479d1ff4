package safety

import (
	"testing"
	"time"
)

// Where a CI looks at a proposed change, nothing that the change says counts,
// though the folder is trusted.
func TestInstructs(t *testing.T) {
	for name, test := range map[string]struct {
		ci, base string
		trusted  bool
		want     bool
	}{
		"a trusted folder":      {"", "", true, true},
		"one that is not":       {"", "", false, false},
		"a CI on a branch":      {"true", "", true, true},
		"a CI on a change":      {"true", "main", true, false},
		"a variable without CI": {"", "main", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PAWL_DATA", t.TempDir())
			t.Setenv("HOME", t.TempDir())
			t.Setenv("CI", test.ci)
			t.Setenv("GITHUB_BASE_REF", test.base)
			t.Setenv("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "")
			s, err := Open()
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if test.trusted {
				f, err := s.LookAt(t.Context(), dir)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Trust().Trust(dir, f.Hash, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			if got := s.Instructs(dir); got != test.want {
				t.Errorf("it counts: %t, want %t", got, test.want)
			}
		})
	}
}
