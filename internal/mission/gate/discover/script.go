package discover

import (
	"path"
	"regexp"

	"github.com/pawl-dev/pawl"
)

var (
	testScript = regexp.MustCompile(`^((tests?|t|scripts?|bin|tools|ci|hack)/)?(run[-_]?)?(all[-_]?)?tests?([-_]all)?(\.sh|\.bash)?$|^tests?/(run|all|runner)\.(sh|bash)$`)
	shebang    = regexp.MustCompile(`^#!\s*\S*[/ ](sh|bash|dash|zsh|ksh)\b`)
)

// scripts finds shell scripts that run the tests of a project without other tests.
func scripts(t *tree) (list []Found) {
	d := directory{t, ""}
	if t.tests("") {
		return nil
	}
	for _, name := range d.files(testScript) {
		if shell, ok := d.shell(name); ok {
			return []Found{d.check("test-script", pawl.CheckTest, name, "is a script that runs tests", shell, name)}
		}
	}
	return nil
}

// shell returns the shell that runs a script.
func (d directory) shell(name string) (string, bool) {
	text := d.text(name)
	switch m := shebang.FindStringSubmatch(text); {
	case m != nil:
		return m[1], true
	case path.Ext(name) == ".bash":
		return "bash", true
	default:
		return "sh", path.Ext(name) == ".sh" && text != ""
	}
}
