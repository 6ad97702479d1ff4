package discover

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
)

var update = flag.Bool("update", false, "write the checks that are found into testdata")

// TestChecks: each archive in testdata is a project. Its comment lists the checks, after a line about the project; "missing:
// NAME" in that line is a program that is not installed.
func TestChecks(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d archives, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			about, want, _ := strings.Cut(string(archive.Comment), "\n")
			found := Checks(filesOf(archive, about))
			got := describe(found)
			if *update {
				archive.Comment = []byte(about + "\n" + got)
				if err := os.WriteFile(path, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			valid(t, found)
		})
	}
}

// filesOf returns the files of an archive.
func filesOf(archive *txtar.Archive, about string) Files {
	texts := map[string][]byte{}
	f := Files{Read: func(name string) ([]byte, error) {
		if text, ok := texts[name]; ok {
			return bytes.Clone(text), nil
		}
		return nil, fs.ErrNotExist
	}}
	for _, file := range archive.Files {
		f.Paths = append(f.Paths, file.Name)
		texts[file.Name] = file.Data
	}
	if _, missing, ok := strings.Cut(about, "missing: "); ok {
		f.Installed = func(program string) bool { return program != missing }
	}
	return f
}

// describe writes checks as the archives do.
func describe(found []Found) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "\n%s: %s", f.ID, f.Kind)
		if f.Tests != "" {
			fmt.Fprintf(&b, ", %s", strings.TrimSpace(f.Tests+" "+f.Report))
		}
		if f.Dir != "" {
			fmt.Fprintf(&b, ", in %s", f.Dir)
		}
		fmt.Fprintf(&b, "\n\t%s\n", strings.ReplaceAll(strings.ReplaceAll(f.String(), inventory.NodeReporter, "REPORTER"), "\n", `\n`))
		if len(f.Env) > 0 {
			fmt.Fprintf(&b, "\tenv: %s\n", strings.Join(f.Env, " "))
		}
		if len(f.Network) > 0 {
			fmt.Fprintf(&b, "\tnetwork: %s\n", strings.Join(f.Network, " "))
		}
		fmt.Fprintf(&b, "\twhy: %s\n", f.Why)
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// registries are the hosts that a setup may reach.
var registries = []string{"registry.npmjs.org", "registry.yarnpkg.com", "pypi.org", "files.pythonhosted.org", "api.nuget.org", "repo.hex.pm"}

// valid holds that the gate can use the checks: IDs are unique, programs are bare names, formats are known, and only a
// setup reaches registries.
func valid(t *testing.T, found []Found) {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range found {
		if seen[f.ID] {
			t.Errorf("%s: found twice", f.ID)
		}
		seen[f.ID] = true
		if err := validate(f); err != nil {
			t.Errorf("%s: %v", f.ID, err)
		}
	}
}

func validate(f Found) error {
	switch {
	case len(f.Args) == 0 || strings.Contains(f.Args[0], "/"):
		return fmt.Errorf("the program of %q is not a bare name", f.Args)
	case f.Tests != "" && inventory.Formats[f.Tests] == nil:
		return fmt.Errorf("unknown format %q", f.Tests)
	case f.Dir != "" && !filepath.IsLocal(f.Dir), f.Report != "" && !filepath.IsLocal(f.Report):
		return errors.New("a path outside of the project")
	case len(f.Network) > 0 && f.Kind != "setup":
		return errors.New("a check that is no setup reaches the network")
	case strings.TrimSpace(f.Why) == "":
		return errors.New("no reason")
	}
	for _, host := range f.Network {
		if !strings.Contains(strings.Join(registries, " "), host) {
			return fmt.Errorf("%s is no registry", host)
		}
	}
	return nil
}
