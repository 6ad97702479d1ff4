package tool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/workspace"
)

func init() {
	limits["PatchBytes"] = func(t *testing.T) {
		frame := len(patchOf("*** Add File: new\n+\n"))
		for size, says := range map[int]string{
			PatchBytes:     "",
			PatchBytes + 1: "the patch has 5242881 bytes: more than the 5242880 of one patch; split it",
		} {
			dir := folder(t, nil)
			_, _, err := applyPatch(t.Context(), knowing(dir, neverSeen), patchOf("*** Add File: new\n+"+strings.Repeat("x", size-frame)+"\n"))
			checkError(t, err, says)
			if n := len(files(t, dir)); (n == 1) != (says == "") {
				t.Errorf("a patch of %d bytes made %d files", size, n)
			}
		}
	}
	limits["PatchFiles"] = func(t *testing.T) {
		for n, says := range map[int]string{
			PatchFiles:     "",
			PatchFiles + 1: "the patch names 501 files: more than the 500 of one patch; split it",
		} {
			var text strings.Builder
			for i := range n {
				fmt.Fprintf(&text, "*** Add File: f%d\n", i)
			}
			dir := folder(t, nil)
			_, err := tryPatch(t, dir, text.String())
			checkError(t, err, says)
			if made := len(files(t, dir)); made != n && says == "" || made != 0 && says != "" {
				t.Errorf("%d of %d files were made", made, n)
			}
		}
	}
	limits["DiffBytes of a patch"] = func(t *testing.T) {
		head := "--- /dev/null\n+++ b/a\n@@ -0,0 +1,%d @@\n"
		lines := (DiffBytes - len(fmt.Sprintf(head, 1000))) / 10
		head = fmt.Sprintf(head, lines)
		for _, test := range []struct {
			lines int
			more  string
			want  pawl.Result
		}{
			{lines: lines, more: "", want: pawl.Result{
				Content: "A a\n\n" + head + strings.Repeat("+12345678\n", lines),
				Display: pawl.Parts{pawl.Patch{Path: "a", Diff: head + strings.Repeat("+12345678\n", lines)}},
			}},
			{lines: 1_000_000 / 10, more: "*** Add File: b\n+b\n*** Add File: c\n+c\n"},
		} {
			got, err := tryPatch(t, folder(t, nil), "*** Add File: a\n"+strings.Repeat("+12345678\n", test.lines)+test.more)
			checkError(t, err, "")
			if test.more == "" {
				got.Seen = nil
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Error(diff)
				}
				continue
			}
			shown, rest, _ := strings.Cut(strings.TrimPrefix(got.Content, "A a\nA b\nA c\n\n"), "(")
			if len(shown) > DiffBytes || len(shown) < DiffBytes-10 {
				t.Errorf("%d bytes are shown", len(shown))
			}
			const left = "98005 more lines of this diff, 980050 bytes, are left out)\n(the diffs of 2 more files, 78 bytes, are left out)\n"
			if diff := cmp.Diff(left, rest); diff != "" {
				t.Error(diff)
			}
			want := pawl.Parts{
				pawl.Patch{Path: "a", Diff: shown + "(98005 more lines of this diff, 980050 bytes, are left out)\n"},
				pawl.Patch{Path: "b", Diff: "(4 more lines of this diff, 39 bytes, are left out)\n"},
				pawl.Patch{Path: "c", Diff: "(4 more lines of this diff, 39 bytes, are left out)\n"},
			}
			if diff := cmp.Diff(want, got.Display); diff != "" {
				t.Error(diff)
			}
		}
	}
}

// patchOf puts the marks around sections.
func patchOf(sections string) string { return "*** Begin Patch\n" + sections + "*** End Patch\n" }

func tryPatch(t *testing.T, dir, sections string) (pawl.Result, error) {
	t.Helper()
	return try(t.Context(), ApplyPatch(nil), call(dir, input(t, fields{"patch": patchOf(sections)})))
}

const allSections = `*** Add File: sub/new
+new
*** Update File: changed
@@
-one
+1
*** Update File: moved
*** Move to: sub/moved
@@
 same
-one
+1
*** Update File: renamed
*** Move to: other
*** Update File: kept
@@
-one
+one
*** Delete File: gone
*** Delete File: replaced
*** Add File: replaced
+two
*** Add File: empty
`

func allFiles() map[string]string {
	return map[string]string{"changed": "one\n", "moved": "same\none\n", "renamed": "one\n", "kept": "one\n", "gone": "one\n", "replaced": "one\n"}
}

func TestApplyPatchResult(t *testing.T) {
	t.Parallel()
	dir := folder(t, allFiles())
	got, err := tryPatch(t, dir, allSections)
	checkError(t, err, "")
	diffs := []pawl.Patch{
		{Path: "sub/new", Diff: "--- /dev/null\n+++ b/sub/new\n@@ -0,0 +1 @@\n+new\n"},
		{Path: "changed", Diff: "--- a/changed\n+++ b/changed\n@@ -1 +1 @@\n-one\n+1\n"},
		{Path: "sub/moved", Diff: "rename from moved\nrename to sub/moved\n--- a/moved\n+++ b/sub/moved\n@@ -1,2 +1,2 @@\n same\n-one\n+1\n"},
		{Path: "other", Diff: "rename from renamed\nrename to other\n"},
		{Path: "gone", Diff: "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"},
		{Path: "replaced", Diff: "--- a/replaced\n+++ b/replaced\n@@ -1 +1 @@\n-one\n+two\n"},
		{Path: "empty", Diff: ""},
	}
	want := pawl.Result{Content: "A sub/new\nM changed\nR moved -> sub/moved\nR renamed -> other\n= kept (as it was)\nD gone\nM replaced\nA empty\n\n"}
	for _, d := range diffs {
		want.Content += d.Diff
		want.Display = append(want.Display, d)
	}
	got.Seen = nil // see TestApplyPatchKnowsWhatItChanges
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	after := map[string]string{"sub/new": "new\n", "changed": "1\n", "sub/moved": "same\n1\n", "other": "one\n", "kept": "one\n", "replaced": "two\n", "empty": ""}
	if diff := cmp.Diff(after, files(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// The caller learns of each file that was touched.
func TestApplyPatchReports(t *testing.T) {
	t.Parallel()
	dir := folder(t, allFiles())
	_, done, err := applyPatch(t.Context(), knowing(dir, neverSeen), patchOf(allSections))
	checkError(t, err, "")
	want := []written{
		{Path: "sub/new", Content: "new\n"},
		{Path: "changed", Content: "1\n"},
		{Path: "moved", Removed: true},
		{Path: "sub/moved", Content: "same\n1\n"},
		{Path: "renamed", Removed: true},
		{Path: "other", Content: "one\n"},
		{Path: "kept", Content: "one\n"},
		{Path: "gone", Removed: true},
		{Path: "replaced", Content: "two\n"},
		{Path: "empty"},
	}
	if diff := cmp.Diff(want, done); diff != "" {
		t.Error(diff)
	}
}

func neverSeen(string) string { return "" }

// knowing is a call of a session whose model knows of files what seen says.
func knowing(dir string, seen func(path string) string) toolapi.Call {
	return toolapi.Call{Dir: dir, Caller: knowledge{seen: seen}}
}

type knowledge struct {
	toolapi.Session
	seen func(path string) string
}

func (k knowledge) Seen(path string) string { return k.seen(path) }

// A file that is not as the model last saw it is changed only where the patch fits exactly.
func TestApplyPatchKnowsWhatItChanges(t *testing.T) {
	t.Parallel()
	now := workspace.Hash([]byte("one\ntwo  \nthree\n"))
	for _, test := range []struct{ name, seen, sections, error string }{
		{"as it was seen, loosely", now, "*** Update File: f\n@@\n one\n-two\n+2\n", ""},
		{"never seen, loosely", "", "*** Update File: f\n@@\n one\n-two\n+2\n", ""},
		{"changed since, exactly", "other", "*** Update File: f\n@@\n one\n-two  \n+2\n", ""},
		{"changed since, loosely", "other", "*** Update File: f\n@@\n one\n-two\n+2\n", "f was changed since you last read it, and the patch fits it only loosely"},
		{"changed since, one of two hunks loosely", "other", "*** Update File: f\n@@\n-one\n+1\n@@\n-two\n+2\n", "only loosely"},
		{"deleted, as it was seen", now, "*** Delete File: f\n", ""},
		{"deleted, changed since", "other", "*** Delete File: f\n", "f was changed since you last read it: read it again before you delete it"},
		{"moved, changed since, loosely", "other", "*** Update File: f\n*** Move to: g\n@@\n one\n-two\n+2\n", "only loosely"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := folder(t, map[string]string{"f": "one\ntwo  \nthree\n"})
			c := call(dir, input(t, fields{"patch": patchOf(test.sections)}))
			c.Caller = &fakeSession{dir: dir, seen: map[string]string{"f": test.seen}}
			got, err := try(t.Context(), ApplyPatch(nil), c)
			checkError(t, err, test.error)
			if test.error != "" {
				if diff := cmp.Diff(map[string]string{"f": "one\ntwo  \nthree\n"}, files(t, dir)); diff != "" {
					t.Error(diff)
				}
				return
			}
			for path, text := range files(t, dir) {
				if got.Seen[path] != workspace.Hash([]byte(text)) {
					t.Errorf("%s is known as %q", path, got.Seen[path])
				}
			}
		})
	}
}

func TestApplyPatchAccess(t *testing.T) {
	t.Parallel()
	got, err := ApplyPatch(nil).Access(t.Context(), call("/project", input(t, fields{"patch": patchOf(allSections + "*** Delete File: /project/x\n")})))
	checkError(t, err, "")
	shown := map[string]bool{"changed": true, "moved": true, "renamed": true, "kept": true, "gone": true, "replaced": true, "x": true}
	var want []pawl.Access
	for _, path := range []string{"sub/new", "changed", "moved", "sub/moved", "renamed", "other", "kept", "gone", "replaced", "empty", "x"} {
		want = append(want, pawl.Access{Kind: pawl.AccessWrite, Target: path})
		if shown[path] { // the result shows what was in it
			want = append(want, pawl.Access{Kind: pawl.AccessRead, Target: path})
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestApplyPatchInput(t *testing.T) {
	t.Parallel()
	for in, says := range map[string]string{
		`{}`:                     `"patch" is missing`,
		`{"patch":null}`:         `"patch" is missing`,
		`{"patch":7}`:            `"patch" is a number and must be a string`,
		`{"patch":"x","path":1}`: `path`,
		`{"input":"x"}`:          `input`,
		`[]`:                     `not a JSON object`,
	} {
		refused(t, ApplyPatch(nil), in, says)
	}
	if _, required := schemaOf(t, ApplyPatch(nil).Spec); !cmp.Equal(required, []string{"patch"}) {
		t.Errorf("%v are required", required)
	}
	if risk := ApplyPatch(nil).Risk; risk != toolapi.RiskDangerous {
		t.Errorf("the risk is %s", risk)
	}
	_, err := tryPatch(t, filepath.Join(t.TempDir(), "missing"), "*** Add File: x\n")
	checkError(t, err, "missing")
}

// The mode of a file outlives a change and a move.
func TestApplyPatchKeepsModes(t *testing.T) {
	t.Parallel()
	dir := folder(t, allFiles())
	for path := range allFiles() {
		if err := os.Chmod(filepath.Join(dir, path), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	_, err := tryPatch(t, dir, allSections)
	checkError(t, err, "")
	for path, want := range map[string]os.FileMode{"changed": 0o750, "sub/moved": 0o750, "other": 0o750, "replaced": 0o750, "sub/new": 0o644} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// A file that is too large is refused, and so is one that would become it.
func TestApplyPatchLargeFiles(t *testing.T) {
	t.Parallel()
	const says = "more than the 10485760 that can be edited"
	line := strings.Repeat("x", 1<<20-1) + "\n"
	full := strings.Repeat(line, EditBytes/len(line)-1) + "last\n"
	for name, test := range map[string]struct{ before, sections, error string }{
		"fits":       {full, "*** Update File: f\n@@\n-last\n+first\n", ""},
		"grows":      {full, "*** Update File: f\n@@\n last\n+" + line, says},
		"is too big": {full + line, "*** Update File: f\n@@\n-last\n+first\n", says},
		"is removed": {full + line, "*** Delete File: f\n", says},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"f": test.before})
			_, err := tryPatch(t, dir, test.sections)
			checkError(t, err, test.error)
			if changed := files(t, dir)["f"] != test.before; changed != (err == nil) {
				t.Errorf("changed: %v, %v", changed, err)
			}
		})
	}
}

func TestApplyPatchIsCanceled(t *testing.T) {
	t.Parallel()
	n := 0
	for stop := 0; ; stop++ {
		dir := folder(t, allFiles())
		ctx, cancel := context.WithCancel(t.Context())
		if n = 0; stop == 0 {
			cancel()
		}
		_, _, err := applyPatch(ctx, knowing(dir, func(string) string {
			if n++; n == stop {
				cancel()
			}
			return ""
		}), patchOf(allSections))
		cancel()
		if n < stop {
			checkError(t, err, "")
			return
		}
		checkError(t, err, "context canceled")
		if n > stop {
			t.Errorf("it was canceled at file %d and went on to %d", stop, n)
		}
		if diff := cmp.Diff(allFiles(), files(t, dir)); diff != "" {
			t.Errorf("canceled at file %d: %s", stop, diff)
		}
	}
}

func TestApplyPatchSuggestsNames(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"main.go": "", "Main.go": "", "maine.go": "", "main.txt": "", "other.go": "", "sub/main.go": "", "x.go": "", "main/": ""})
	for path, want := range map[string]string{
		"mian.go":         "did you mean Main.go or main.go",
		"sub/mains.go":    "does not exist: did you mean sub/main.go?",
		"y.go":            "y.go does not exist",
		"nowhere/main.go": "nowhere/main.go does not exist",
	} {
		_, err := tryPatch(t, dir, "*** Delete File: "+path+"\n")
		checkError(t, err, want)
		if n := strings.Count(err.Error(), " or "); n >= suggestedFiles {
			t.Errorf("%v", err)
		}
	}
}
