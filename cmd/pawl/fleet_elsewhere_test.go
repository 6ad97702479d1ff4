//go:build e2e && !fleet

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/harness"
)

// TestHandOver: what needs the engine is done by the program that has it, with the
// same arguments; without one it is said what is missing.
func TestHandOver(t *testing.T) {
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	b.Env = append(b.Env, "PAWL_CONFIG=")
	for _, args := range []string{"fleet status --watch", "fleet check --json", "fleet promote v2 --wait 1s", "fleet drain h1 --undo", "worker --host h1"} {
		out := b.Run(t, strings.Fields(args)...)
		if out.Code != exitFailed || !strings.Contains(out.Stderr, "pawl-fleet") {
			t.Errorf("%s without the program: exit %d, %s", args, out.Code, out.Stderr)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pawl-fleet"), []byte("#!/bin/sh\necho \"$@\"\nexit 7\n"), 0o700); err != nil { //nolint:gosec // it is to be run
		t.Fatal(err)
	}
	b.Env = append(b.Env, "PATH="+dir+":"+os.Getenv("PATH"))
	for _, args := range []string{"fleet status --watch", "fleet drain h1 --undo", "worker --host h1"} {
		if out := b.Run(t, strings.Fields(args)...); out.Code != 7 || out.Stdout != args+"\n" {
			t.Errorf("%s: exit %d, %s%s", args, out.Code, out.Stdout, out.Stderr)
		}
	}
}
