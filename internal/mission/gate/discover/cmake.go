package discover

import (
	"regexp"
	"slices"

	"github.com/pawl-dev/pawl"
)

var (
	cmakeFile = regexp.MustCompile(`(^|/)CMakeLists\.txt$`)
	cmakeTest = regexp.MustCompile(`(?mi)^\s*(enable_testing|add_test|gtest_discover_tests|catch_discover_tests)\s*\(|^\s*include\s*\(\s*CTest\s*\)`)
)

// cmake finds CMake projects. One check configures, builds and tests, because each check starts with a clean tree.
func cmake(t *tree) (list []Found) {
	for _, d := range outermost(t.directories("CMakeLists.txt")) {
		if t.testsIn(d.path) {
			continue
		}
		build := "cmake -S . -B " + buildDir + " && cmake --build " + buildDir
		tested := slices.ContainsFunc(d.files(cmakeFile), func(name string) bool { return cmakeTest.MatchString(d.text(name)) })
		if !tested {
			list = append(list, d.check("cmake-build", pawl.CheckBuild, "CMakeLists.txt", "declares a CMake project without tests", "sh", "-c", build))
			continue
		}
		build = "cmake -S . -B " + buildDir + " -DBUILD_TESTING=ON && cmake --build " + buildDir
		script := build + " && ctest --test-dir " + buildDir + " --output-on-failure --output-junit tests.xml"
		list = append(list, d.check("ctest", pawl.CheckTest, "CMakeLists.txt", "declares a CMake project with tests", "sh", "-c", script).reports("junit", buildDir+"/tests.xml"))
	}
	return list
}
