package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/sandbox"
)

// TestFixes: whoever has no sandbox is told what to do, and nobody else.
func TestFixes(t *testing.T) {
	findings := []sandbox.Finding{
		{Name: "bubblewrap", Detail: "bwrap is not installed", Fix: "apt install bubblewrap"},
		{Name: "seccomp", OK: true, Detail: "filter for amd64"},
		{Name: "landlock", Detail: "ABI 1, needed is 6", Fix: "use Linux 6.12 or later"},
	}
	if err := fixes(sandbox.Report{Box: "landlock", Findings: findings}); err != nil {
		t.Error(err)
	}
	want := "bubblewrap: bwrap is not installed; to fix it: apt install bubblewrap\nlandlock: ABI 1, needed is 6; to fix it: use Linux 6.12 or later"
	if diff := cmp.Diff(want, fixes(sandbox.Report{Box: "none", Findings: findings}).Error()); diff != "" {
		t.Error(diff)
	}
}

// TestBoxProfile: pawl's own folders are hidden, wherever they are.
func TestBoxProfile(t *testing.T) {
	t.Setenv("PAWL_DATA", "/d/pawl")
	t.Setenv("PAWL_CONFIG", "/c/pawl/pawl.json")
	t.Setenv("PAWL_STORE", "sqlite:/s/log.db")
	first, err := boxProfile("/ws")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/d/pawl", "/c/pawl/pawl.json", "/c/pawl", "/s/log.db", "/s/log.db-wal", "/s/log.db-shm", "/s/blobs"}
	if diff := cmp.Diff(want, first.Hidden[len(hiddenNames):]); diff != "" {
		t.Error(diff)
	}
	t.Setenv("PAWL_STORE", "postgres://user:secret@host/db")
	second, err := boxProfile("/ws")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want[:3], second.Hidden[len(hiddenNames):]); diff != "" {
		t.Error(diff)
	}
}
