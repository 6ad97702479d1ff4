package inventory

import (
	"regexp"
	"strings"
)

var (
	// cargoRunning starts the tests of a program: "Running unittests src/lib.rs (target/…)".
	cargoRunning = regexp.MustCompile(`^\s*(?:Running (?:unittests )?(\S+)|Doc-tests (\S+))`)
	cargoTest    = regexp.MustCompile(`^test (.+) \.\.\. (ok|FAILED|ignored)`)
	cargoBroken  = regexp.MustCompile("^error: could not compile `([^`]+)`")
)

// readCargo parses the human-readable output of 'cargo test'.
func readCargo(text []byte, _ string) (*Inventory, error) {
	v := empty()
	holder := ""
	for line := range lines(text) {
		if m := cargoRunning.FindStringSubmatch(line); m != nil {
			holder = m[1]
			if holder == "" {
				holder = "doc " + m[2]
			}
		}
		if m := cargoBroken.FindStringSubmatch(line); m != nil {
			v.Broken = append(v.Broken, m[1])
		}
		m := cargoTest.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := strings.ReplaceAll(m[1], "::", ".") // modules; the separator is ours
		switch m[2] {
		case "ok":
			v.add(holder, name, Passed)
		case "ignored":
			v.add(holder, name, Skipped)
		default:
			v.add(holder, name, Failed)
		}
	}
	return v, nil
}
