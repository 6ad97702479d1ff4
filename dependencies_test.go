package pawl_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	requirement = regexp.MustCompile(`(?m)^\t(\S+) (v\S+)$`) // direct: without a comment
	advisoryRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]+ \\| ([^|]+) \\|$")
	fixedIn     = regexp.MustCompile(`v\d+\.\d+\.\d+`)
)

// TestDependenciesAreListed checks that docs/security/dependencies.md lists exactly
// the direct dependencies, and that none is older than a fix that the page names.
func TestDependenciesAreListed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/security/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, m := range advisoryRow.FindAllStringSubmatch(string(text), -1) {
		listed[m[1]] = m[2]
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	direct := requirement.FindAllStringSubmatch(string(mod), -1)
	if len(direct) < 20 {
		t.Fatalf("only %d direct dependencies found", len(direct))
	}
	for _, m := range direct {
		advisories, ok := listed[m[1]]
		if !ok {
			t.Errorf("%s has no row: look for its advisories and add one", m[1])
		}
		for _, fix := range fixedIn.FindAllString(advisories, -1) {
			if olderThan(m[2], fix) {
				t.Errorf("%s %s is older than %s, which fixes an advisory: %s", m[1], m[2], fix, advisories)
			}
		}
		delete(listed, m[1])
	}
	for name := range listed {
		t.Errorf("%s has a row and is no direct dependency", name)
	}
}

// olderThan compares two versions by their numbers.
func olderThan(version, fix string) bool {
	a, b := numbers(version), numbers(fix)
	for i := range b {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

func numbers(version string) (n [3]int) {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	for i, part := range strings.SplitN(version, ".", 3) {
		n[i], _ = strconv.Atoi(part)
	}
	return n
}
