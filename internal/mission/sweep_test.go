package mission

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// TestSweep: what a mission has left goes once the mission is sealed or deleted, and
// not before.
func TestSweep(t *testing.T) {
	t.Parallel()
	rows := map[pawl.SessionID]pawl.Session{
		"OPEN": {Mission: pawl.MissionWorking}, "DONE": {Mission: pawl.MissionSealed}, "STUCK": {Mission: pawl.MissionBlocked},
		"W1": {Parent: "OPEN"}, "W2": {Parent: "DONE"}, "W3": {Parent: "STUCK"}, "W4": {Parent: "GONE"},
	}
	get := func(_ context.Context, id pawl.SessionID) (pawl.Session, error) {
		if id == "W6" {
			return pawl.Session{}, errors.New("the store is away")
		}
		if row, ok := rows[id]; ok {
			return row, nil
		}
		return pawl.Session{}, pawl.ErrNotFound
	}
	top := t.TempDir()
	for _, name := range []string{"w1", "w2", "w3", "w4", "w5", "w6", "w7"} {
		if err := os.MkdirAll(filepath.Join(top, "repo", name, "folder"), 0o700); err != nil {
			t.Fatal(err)
		}
		made := time.Now().Add(-2 * minAge)
		if name == "w7" { // its session is about to be made
			made = time.Now()
		}
		if err := os.Chtimes(filepath.Join(top, "repo", name), made, made); err != nil {
			t.Fatal(err)
		}
	}
	needed := func(dir string) bool { return Needed(t.Context(), get, dir) }
	want := []string{"w2", "w4", "w5"}
	for _, dry := range []bool{true, false} {
		removed, err := Sweep(t.Context(), top, needed, dry)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, path := range removed {
			names = append(names, filepath.Base(path))
			if _, err := os.Stat(path); (err == nil) != dry {
				t.Errorf("%s: %v", path, err)
			}
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Error(diff)
		}
	}
	if removed, err := Sweep(t.Context(), filepath.Join(top, "none"), needed, false); err != nil || removed != nil {
		t.Errorf("%v, %v", removed, err)
	}
}
