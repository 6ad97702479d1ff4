package inventory

import (
	"encoding/json"
	"strings"
)

// goEvent is a line of 'go test -json'; see 'go doc test2json'.
type goEvent struct {
	Action     string
	Package    string
	ImportPath string // in build events
	Test       string
}

// readGo parses the output of 'go test -json'. It ignores other lines, which come from the go command itself:
// the exit code reflects them too.
func readGo(text []byte, _ string) (*Inventory, error) {
	v := empty()
	v.parts = true
	running := map[[2]string]bool{}
	reported := map[string]bool{} // packages with at least one reported test
	for line := range lines(text) {
		if !strings.HasPrefix(line, "{") {
			continue
		}
		var e goEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, err
		}
		key := [2]string{e.Package, e.Test}
		switch {
		case e.Action == "build-fail":
			v.Broken = append(v.Broken, goPackage(e.ImportPath))
		case e.Test == "" && e.Action == "fail" && !reported[e.Package]:
			v.Broken = append(v.Broken, e.Package)
		case e.Test == "":
		case e.Action == "run":
			running[key], reported[e.Package] = true, true
		case e.Action == "pass" || e.Action == "bench":
			v.add(e.Package, e.Test, Passed)
			delete(running, key)
		case e.Action == "fail":
			v.add(e.Package, e.Test, Failed)
			delete(running, key)
		case e.Action == "skip":
			v.add(e.Package, e.Test, Skipped)
			delete(running, key)
		}
	}
	for key := range running { // started, but the end is missing
		v.add(key[0], key[1], Failed)
	}
	return v, nil
}

// goPackage returns the package of a build event: "p [p.test]" belongs to p.
func goPackage(path string) string {
	name, _, _ := strings.Cut(path, " ")
	return strings.TrimSuffix(name, "_test")
}
