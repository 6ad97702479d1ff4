package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestProfile: pawl's own directories are hidden, wherever they are.
func TestProfile(t *testing.T) {
	base, dir := t.TempDir(), t.TempDir()
	t.Setenv("PAWL_DATA", base+"/d/pawl")
	t.Setenv("PAWL_CONFIG", base+"/c/pawl/pawl.json")
	t.Setenv("XDG_CONFIG_HOME", base+"/x")
	t.Setenv("PAWL_STORE", "sqlite:"+base+"/s/log.db")
	t.Setenv("PAWL_CACHE", t.TempDir())
	s, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.Profile(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, path := range []string{"/d/pawl", "/c/pawl/pawl.json", "/x/pawl", "/c/pawl", "/s/log.db", "/s/log.db-wal", "/s/log.db-shm", "/s/blobs"} {
		want = append(want, base+path)
	}
	if diff := cmp.Diff(want, first.Hidden[len(hiddenNames):]); diff != "" {
		t.Error(diff)
	}
	t.Setenv("PAWL_STORE", "postgres://user:secret@host/db")
	second, err := s.Profile(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want[:4], second.Hidden[len(hiddenNames):]); diff != "" {
		t.Error(diff)
	}
}
