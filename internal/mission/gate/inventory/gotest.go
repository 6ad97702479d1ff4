package inventory

import (
	"encoding/json"
	"strings"
)

// goEvent is a line of 'go test -json'; see 'go doc test2json'.
type goEvent struct {
	Action     string
	Package    string
	ImportPath string // of builds
	Test       string
}

// readGo reads what 'go test -json' prints. Other lines (of the go command itself)
// are passed over: what they say is in the exit code too.
func readGo(text []byte, _ string) (*Inventory, error) {
	v := empty()
	v.parts = true
	running := map[[2]string]bool{}
	told := map[string]bool{} // packages of which a test was told
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
		case e.Test == "" && e.Action == "fail" && !told[e.Package]:
			v.Broken = append(v.Broken, e.Package)
		case e.Test == "":
		case e.Action == "run":
			running[key], told[e.Package] = true, true
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
	for key := range running { // it began and nobody knows how it ended
		v.add(key[0], key[1], Failed)
	}
	return v, nil
}

// goPackage is the package of a build: "p [p.test]" is that of p's tests.
func goPackage(path string) string {
	name, _, _ := strings.Cut(path, " ")
	return strings.TrimSuffix(name, "_test")
}
