//go:build cheats

package discover

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
)

// TestRuns runs what is found in the projects of testdata/runs, with the tools of this machine. The comment of each archive
// has the results, after a line about the project.
func TestRuns(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/runs/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d archives, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			about, want, _ := strings.Cut(string(archive.Comment), "\n")
			dir := t.TempDir()
			if err := txtar.Write(archive, dir); err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, f := range Checks(filesOf(archive, about)) {
				got.WriteString("\n" + runCheck(t, dir, f))
			}
			got.WriteString("\n")
			if *update {
				archive.Comment = []byte(about + "\n" + got.String())
				if err := os.WriteFile(path, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// runCheck runs a check and returns its exit code and its tests. The system's own programs are found first: others may be
// wrappers.
func runCheck(t *testing.T, dir string, f Found) string {
	t.Helper()
	work := filepath.Join(dir, f.Dir)
	cmd := exec.CommandContext(t.Context(), "env", append([]string{"PATH=/usr/bin:" + os.Getenv("PATH")}, f.Args...)...) //nolint:gosec // programs of the machine
	cmd.Dir, cmd.Env = work, append(append(os.Environ(), "GOFLAGS=", "NO_COLOR=1", "CI=true"), f.Env...)
	var out, faults bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &faults
	if inventory.Combined(f.Tests) {
		cmd.Stderr = &out
	}
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: exit %d\n", f.ID, cmd.ProcessState.ExitCode())
	if f.Tests == "" {
		return b.String()
	}
	v, err := inventory.Read(f.Check, work, out.Bytes(), work)
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", f.ID, err, out.String(), faults.String())
	}
	for _, name := range slices.Sorted(maps.Keys(v.Tests)) {
		fmt.Fprintf(&b, "\t%s %s\n", v.Tests[name], name)
	}
	for _, name := range v.Broken {
		fmt.Fprintf(&b, "\tbroken %s\n", name)
	}
	return b.String()
}
