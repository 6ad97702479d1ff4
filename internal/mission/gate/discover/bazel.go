package discover

import (
	"github.com/pawl-dev/pawl"
)

// bazel finds Bazel workspaces, unless the tests of the project run without Bazel.
func bazel(t *tree) []Found {
	d := directory{t, ""}
	file := d.first("MODULE.bazel", "WORKSPACE.bazel", "WORKSPACE")
	if file == "" || t.tests("") {
		return nil
	}
	program := "bazel"
	if !t.installed(program) && t.installed("bazelisk") {
		program = "bazelisk"
	}
	return []Found{d.check("bazel-test", pawl.CheckTest, file, "declares a Bazel workspace", program, "test", "--test_output=errors", "//...")}
}
