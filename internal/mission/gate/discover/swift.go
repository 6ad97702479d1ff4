package discover

import (
	"github.com/pawl-dev/pawl"
)

// swift finds Swift packages. The runner writes a second report for the tests of Swift Testing.
func swift(t *tree) (list []Found) {
	for _, d := range outermost(t.directories("Package.swift")) {
		const why = "declares a Swift package"
		list = append(list,
			d.check("swift-build", pawl.CheckBuild, "Package.swift", why, "swift", "build", "--disable-sandbox"),
			d.check("swift-test", pawl.CheckTest, "Package.swift", why, "swift", "test", "--disable-sandbox", "--parallel", "--xunit-output", reportXML).
				reports("junit", ".pawl-tests*.xml"))
	}
	return list
}
