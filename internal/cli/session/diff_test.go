package session

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
)

func printed(d pawl.Diff, stat, color bool) string {
	var b strings.Builder
	diffPrinter{w: &b, color: color}.print(d, stat)
	return b.String()
}

func TestPrintDiff(t *testing.T) {
	t.Parallel()
	d := pawl.Diff{Added: 3, Deleted: 1, Truncated: true, Unknown: []pawl.CallID{"c1"}, Files: []pawl.FileDiff{
		{Path: "a\x1b[2J", Kind: "modify", Added: 1, Deleted: 1, Patch: "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-- one\n+\x1b[2Jtwo\n"},
		{Path: "b", Kind: "create", Binary: true},
		{Path: ".env", Kind: "create", Hidden: "may not be read"},
		{Path: "d", OldPath: "c", Kind: "rename", Added: 2, Truncated: true},
	}}
	plain := printed(d, false, false)
	if strings.Contains(plain, "\x1b") {
		t.Errorf("control characters reach the terminal: %q", plain)
	}
	for _, want := range []string{"--- a/a\n", "\n-- one\n", "create b: binary\n", "create .env: may not be read\n", "rename c -> d: too large to show\n", "changes of 1 tool call are not known", "--path"} {
		if !strings.Contains(plain, want) {
			t.Errorf("%q is missing in:\n%s", want, plain)
		}
	}
	colored := printed(d, false, true)
	for _, want := range []string{colorHeader + "--- a/a" + colorNone, colorDeleted + "-- one" + colorNone, colorHunk + "@@ -1 +1 @@" + colorNone, colorAdded + "+"} {
		if !strings.Contains(colored, want) {
			t.Errorf("%q is missing in:\n%q", want, colored)
		}
	}
	if stat := printed(d, true, true); !strings.Contains(stat, "rename  c -> d  +2 -0\n") || !strings.Contains(stat, "4 files, +3 -1\n") || strings.Contains(stat, "two") {
		t.Errorf("%s", stat)
	}
	if none := printed(pawl.Diff{}, true, false); none != "no changes\n" {
		t.Errorf("%q", none)
	}
}
