package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

func TestNamedDir(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", base)
	for _, dir := range []string{"project", "lib"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("lib", filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"../lib": "lib", "../link": "lib", "~/lib": "lib", filepath.Join(base, "lib"): "lib", ".": "project",
		"../file": "", "missing": "", "~other": "",
	} {
		got, err := NamedDir(filepath.Join(base, "project"), name)
		if want == "" {
			if err == nil {
				t.Errorf("%s is %s", name, got)
			}
		} else if got != filepath.Join(base, want) || err != nil {
			t.Errorf("%s is %s, want %s, %v", name, got, want, err)
		}
	}
}
