package pawl_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A reader follows the names on this page into the code.
var (
	fileName    = regexp.MustCompile("`((?:[a-z0-9_]+/)*[a-z0-9_]+\\.go)`")
	packageName = regexp.MustCompile("`((?:internal|fleet|cmd)/[a-z0-9_/]+)`")
)

// TestArchitectureNamesExist checks that docs/architecture.md names only files and packages that exist, and every
// package that has a layer.
func TestArchitectureNamesExist(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, dir := range []string{"client", "cmd", "fleet", "internal"} {
		err := fs.WalkDir(os.DirFS("."), dir, func(name string, _ fs.DirEntry, err error) error {
			files = append(files, "/"+name)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	names := fileName.FindAllStringSubmatch(string(page), -1)
	if len(names) < 20 {
		t.Errorf("only %d file names found", len(names))
	}
	for _, m := range names {
		if !slices.ContainsFunc(files, func(f string) bool { return strings.HasSuffix(f, "/"+m[1]) }) {
			t.Errorf("docs/architecture.md names %s, which does not exist", m[1])
		}
	}
	for _, m := range packageName.FindAllStringSubmatch(string(page), -1) {
		if info, err := os.Stat(m[1]); err != nil || !info.IsDir() {
			t.Errorf("docs/architecture.md names the package %s, which does not exist", m[1])
		}
	}
	for pkg, layer := range layers {
		if pkg == "." || layer == layerTest || layer == layerDev {
			continue
		}
		if !strings.Contains(string(page), "`"+pkg+"`") {
			t.Errorf("docs/architecture.md does not name %s: add a line to its table", path.Clean(pkg))
		}
	}
}
