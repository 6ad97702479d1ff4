package policy

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What comes to a trusted directory is not trusted with it, not even a moment later,
// if whoever asks has it looked at again. What the user said for this run stays.
func TestLookAgain(t *testing.T) { //nolint:paralleltest // it sets environment variables
	if comesLater(t, false) {
		t.Error("what has come to a trusted folder is trusted")
	}
	if !comesLater(t, true) {
		t.Error("the user's word for this run is forgotten")
	}
}

// comesLater puts a skill into a directory that is trusted, by what it has or by the
// user's word for this run, and returns whether the directory is still.
func comesLater(t *testing.T, userTrusts bool) bool {
	t.Helper()
	t.Setenv("PAWL_DATA", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	s, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	f, err := s.LookAt(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Trust().Trust(dir, f.Hash, time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Project(t.Context(), dir, userTrusts); err != nil || !s.Trusted(dir) {
		t.Fatalf("it is not trusted: %v", err)
	}
	skill := filepath.Join(dir, ".agents/skills/new")
	if err := os.MkdirAll(skill, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.LookAgain()
	return s.Trusted(dir)
}

// Where a CI looks at a proposed change, nothing that the change says counts,
// though the directory is trusted.
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
