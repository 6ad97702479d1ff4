package discover

import (
	"path"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/pawl-dev/pawl"
)

// rust finds Cargo workspaces, and packages that belong to none. Fuzz targets, which need a tool of their own, are left out.
func rust(t *tree) (list []Found) {
	type workspace struct {
		dir     string
		exclude []string
	}
	var workspaces []workspace
	member := func(dir string) bool {
		for _, w := range workspaces {
			if !below(dir, w.dir) {
				continue
			}
			excluded := false
			for _, name := range w.exclude {
				excluded = excluded || below(dir, path.Join(w.dir, name))
			}
			if !excluded {
				return true
			}
		}
		return false
	}
	for _, d := range t.directories("Cargo.toml") {
		if member(d.path) || strings.Contains(d.text("Cargo.toml"), "cargo-fuzz") {
			continue
		}
		var manifest struct{ Workspace *struct{ Exclude []string } }
		if _, err := toml.Decode(d.text("Cargo.toml"), &manifest); err != nil {
			continue
		}
		why, more := "declares a Rust package", []string(nil)
		if manifest.Workspace != nil {
			why, more = "declares a Rust workspace", []string{"--workspace"}
			workspaces = append(workspaces, workspace{d.path, manifest.Workspace.Exclude})
		}
		list = append(list,
			d.check("cargo-build", pawl.CheckBuild, "Cargo.toml", why, append([]string{"cargo", "build", "--all-targets", "--offline"}, more...)...),
			d.check("cargo-test", pawl.CheckTest, "Cargo.toml", why, append([]string{"cargo", "test", "--offline", "--no-fail-fast"}, more...)...).reports("cargo", ""))
	}
	return list
}
