package discover

import (
	"regexp"
	"strings"
)

// justfiles finds the same recipes of justfiles.
func justfiles(t *tree) (list []Found) {
	for _, d := range outermost(t.directories("justfile", "Justfile", ".justfile")) {
		file := d.first("justfile", "Justfile", ".justfile")
		list = append(list, d.targetChecks("just", file, readJustfile(d.text(file)))...)
	}
	return list
}

var justRule = regexp.MustCompile(`^@?([A-Za-z_][\w-]*)([^:=]*):(?:$|[^=](.*)$)`)

// readJustfile reads the recipes of a justfile.
func readJustfile(text string) map[string]target {
	all := map[string]target{}
	current := []string(nil)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch m := justRule.FindStringSubmatch(line); {
		case strings.TrimLeft(line, " \t") != line:
			appendLine(all, current, strings.TrimLeft(strings.TrimSpace(line), "@-"))
		case m != nil:
			needs, _, _ := strings.Cut(m[3], "#")
			all[m[1]], current = target{needs: strings.Fields(strings.ReplaceAll(needs, "&&", ""))}, []string{m[1]}
		case line != "":
			current = nil
		}
	}
	return all
}
