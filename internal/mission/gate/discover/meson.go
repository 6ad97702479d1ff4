package discover

import (
	"strings"

	"github.com/pawl-dev/pawl"
)

// meson finds Meson projects.
func meson(t *tree) (list []Found) {
	for _, d := range outermost(t.directories("meson.build")) {
		if t.testsIn(d.path) || !strings.Contains(d.text("meson.build"), "project(") {
			continue
		}
		script := "meson setup " + buildDir + " && meson test -C " + buildDir + " --print-errorlogs"
		list = append(list, d.check("meson-test", pawl.CheckTest, "meson.build", "declares a Meson project", "sh", "-c", script).reports("junit", buildDir+"/meson-logs/testlog.junit.xml"))
	}
	return list
}
