package acp

import (
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
)

func old(text string) *string { return &text }

// TestChanges: a unified diff as the parts of a file before and after.
func TestChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, diff string
		want       []change
		rest       string
	}{
		{"made", "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n", []change{{path: "/w/f", new: "a\nb\n", line: 1}}, ""},
		{"changed", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", []change{{path: "/w/f", old: old("a\nb\nc\n"), new: "a\nB\nc\n", line: 1}}, ""},
		{"two", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+A\n@@ -9 +9,2 @@\n i\n+j\n", []change{
			{path: "/w/f", old: old("a\n"), new: "A\n", line: 1}, {path: "/w/f", old: old("i\n"), new: "i\nj\n", line: 9},
		}, ""},
		{"removed", "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", []change{{path: "/w/f", old: old("a\n"), new: ""}}, ""},
		{"no end", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n", []change{{path: "/w/f", old: old("a"), new: "b", line: 1}}, ""},
		{"lines like heads", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n--- x\n-@@ -1 +1 @@\n+++ y\n+z\n", []change{{path: "/w/f", old: old("-- x\n@@ -1 +1 @@\n"), new: "++ y\nz\n", line: 1}}, ""},
		{"cut", "--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n a\n-b\n(7 more lines of this diff, 30 bytes, are left out)\n", []change{{path: "/w/f", old: old("a\nb\n"), new: "a\n", line: 1}}, "(7 more lines of this diff, 30 bytes, are left out)\n"},
		{"renamed", "rename from e\nrename to f\n", nil, "rename from e\nrename to f\n"},
		{"no diff", "whatever\n", nil, "whatever\n"},
		{"empty", "", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, rest := changes("/w", pawl.Patch{Path: "f", Diff: c.diff})
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(change{})); diff != "" || rest != c.rest {
				t.Errorf("changes, and rest %q:\n%s", rest, diff)
			}
		})
	}
}

// TestChangesOfFiles checks that the headers of a diff of several files have their paths.
func TestChangesOfFiles(t *testing.T) {
	t.Parallel()
	got, rest := changes("/w", pawl.Patch{Diff: "--- a/b/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n--- /dev/null\n+++ b/a/y\n@@ -0,0 +1 @@\n+b\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-a\n+b\n"})
	want := []change{{path: "/w/b/x", old: old("a\n")}, {path: "/w/a/y", new: "b\n", line: 1}, {path: "/w/z", old: old("a\n"), new: "b\n", line: 1}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(change{})); diff != "" || rest != "" {
		t.Errorf("changes, and rest %q:\n%s", rest, diff)
	}
}

// TestDecision checks what a permission prompt shows: the risk, the change as a diff
// unless something is hidden in it, and always all details.
func TestDecision(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ask    pawl.Ask
		title  string
		shown  int
		labels []string
	}{
		"edit":    {pawl.Ask{Diff: "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", Risk: "medium"}, "edit f", 2, []string{"Allow once", "Deny and continue", "Deny and stop"}},
		"hidden":  {pawl.Ask{Diff: "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\u202e\n"}, "edit f", 1, []string{"Allow once", "Deny and continue", "Deny and stop"}},
		"command": {pawl.Ask{Command: "rm x", Risk: "high"}, "edit f · high risk", 1, []string{"Allow once", "Deny and continue", "Deny and stop"}},
		"has run": {pawl.Ask{Title: "Apply changes of command", Ran: true}, "Apply changes of command: edit f", 1, []string{"Apply", "Discard and continue", "Discard and stop"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &paper{}
			c.ask.Kind, c.ask.Text = pawl.AskPermission, "all details"
			if _, err := (&session{editor: p}).present(t.Context(), call{id: "c", dir: "/w", title: "edit f"}, c.ask); err != nil {
				t.Fatal(err)
			}
			got := p.choices[0]
			var labels []string
			for _, o := range got.options {
				labels = append(labels, o.name)
			}
			list := got.call.content
			if got.call.title != c.title || len(list) != c.shown || !strings.Contains(list[len(list)-1].text, "all details") {
				t.Errorf("shown %+v", got.call)
			}
			if diff := cmp.Diff(c.labels, labels); diff != "" {
				t.Errorf("options (-want):\n%s", diff)
			}
		})
	}
}

// TestChangesAreTheDiff: put in the place of the old parts, the new ones make the
// new file.
func TestChangesAreTheDiff(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab-+@ \\\n\n\n")))
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		list, rest := changes("/w", pawl.Patch{Path: "f", Diff: udiff.Unified("a/f", "b/f", before, after)})
		if rest != "" {
			t.Fatalf("rest %q", rest)
		}
		created, at := "", 0
		lines := strings.SplitAfter(before, "\n")
		for _, c := range list {
			for strings.Count(created, "\n") < c.line-1 { // what stays as it was
				created += lines[at]
				at++
			}
			n := len(strings.SplitAfter(strings.TrimSuffix(*c.old, "\n"), "\n"))
			if *c.old == "" {
				n = 0
			}
			if had := strings.Join(lines[at:at+n], ""); had != *c.old {
				t.Fatalf("the old part is %q, the file has %q", *c.old, had)
			}
			created += c.new
			at += n
		}
		if created += strings.Join(lines[at:], ""); created != after {
			t.Fatalf("made %q, want %q", created, after)
		}
	})
}
