package inventory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestReadMany: the reports of several modules are one, the worst result counts, and old reports can be removed.
func TestReadMany(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := pawl.Check{Tests: "junit", Report: "**/target/surefire-reports/TEST-*.xml"}
	if _, err := Read(c, dir, nil, dir); err == nil || !strings.Contains(err.Error(), "was not written") {
		t.Errorf("no report: got %v", err)
	}
	write(t, dir, "target/surefire-reports/TEST-a.xml", `<testsuite><testcase classname="a.A" name="one"/><testcase classname="a.A" name="two"/></testsuite>`)
	write(t, dir, "core/target/surefire-reports/TEST-b.xml", `<testsuite><testcase classname="b.B" name="one"/><testcase classname="a.A" name="two"><failure message="wrong"/></testcase></testsuite>`)
	write(t, dir, "core/target/surefire-reports/b.txt", "no report")
	v, err := Read(c, dir, nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]Status{"a.A::one": Passed, "a.A::two": Failed, "b.B::one": Passed}, v.Tests); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(v.Messages["a.A::two"], "wrong") {
		t.Errorf("got %v", v.Messages)
	}
	if err := RemoveReports(c, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(c, dir, nil, dir); err == nil {
		t.Error("old reports are left")
	}
}

// TestReadLinks: neither a report that is a link nor one behind a link is read.
func TestReadLinks(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	write(t, outside, "tests.xml", `<testsuite><testcase classname="a" name="one"/></testsuite>`)
	for link, to := range map[string]string{"a.xml": filepath.Join(outside, "tests.xml"), "out": outside} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, report := range []string{"a.xml", "out/tests.xml", "out/*.xml", "**/tests.xml"} {
		if v, err := Read(pawl.Check{Tests: "junit", Report: report}, dir, nil, dir); err == nil {
			t.Errorf("%s: read %v", report, v.Tests)
		}
	}
	if err := RemoveReports(pawl.Check{Report: "out/*.xml"}, dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(outside, "tests.xml")); err != nil {
		t.Error("a file outside was removed")
	}
}

// TestFiles: pytest tells the files of tests.
func TestFiles(t *testing.T) {
	t.Parallel()
	v, err := Parse("junit", []byte(`<testsuite><testcase classname="tests.test_a.TestB" name="test_c" file="tests/test_a.py" line="3"/></testsuite>`), "/work")
	if err != nil {
		t.Fatal(err)
	}
	if v.Files["tests.test_a.TestB"] != "tests/test_a.py" {
		t.Errorf("got %v", v.Files)
	}
}
