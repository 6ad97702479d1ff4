package discover

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

var batsFile = regexp.MustCompile(`\.bats$`)

// bats finds tests of shell scripts.
func bats(t *tree) []Found {
	top := directory{t, ""}
	files := top.files(batsFile)
	if len(files) == 0 {
		return nil
	}
	where := strings.SplitN(path.Dir(files[0]), "/", 2)[0]
	if slices.ContainsFunc(files, func(name string) bool { return !below(name, where) }) {
		where = "."
	}
	return []Found{top.check("bats", pawl.CheckTest, files[0], "is a test of Bats", "bats", "--formatter", "tap", "--recursive", where).reports("tap", "")}
}
