package snapshot

import (
	"strings"
	"testing"
)

// Show returns the changes that the plan would make now, without unrelated changes of
// others.
func TestShow(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.sh("echo 1 >f; echo 1 >other; echo 1 >later")
	first := w.span("echo 2 >f; echo made >new")
	w.sh("echo mine >other; echo mine >later")
	second := w.span("echo 3 >later; chmod +x f")
	plan := w.plan(false, first, second)
	text, lines, err := w.store.Show(t.Context(), plan, 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"-2\n+1\n", "-3\n+mine\n", "deleted file mode 100644"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if strings.Contains(text, "other") {
		t.Errorf("what somebody else did is in %s", text)
	}
	if c := lines["later"]; c.Added != 1 || c.Deleted != 1 || len(lines) != 3 {
		t.Errorf("got %+v", lines)
	}
	if text, _, err := w.store.Show(t.Context(), plan, 20); err != nil || !strings.Contains(text, "[truncated after") {
		t.Errorf("got %q, %v", text, err)
	}
	w.undo(Refuse, first, second)
	if text, _, err := w.store.Show(t.Context(), w.plan(false, first, second), 1<<10); text != "" || err != nil {
		t.Errorf("of what is done already: %q, %v", text, err)
	}
}

// PatchOf leaves out files that may not be shown, and returns their number.
func TestPatchOf(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	s := w.span("echo 1 >seen; echo 2 >hidden; echo 3 >hidden2")
	shown := func(path string) bool { return !strings.HasPrefix(path, "hidden") }
	text, hidden, err := w.store.PatchOf(t.Context(), w.dir, s.Before, s.After, 1<<10, shown)
	if err != nil || hidden != 2 || !strings.Contains(text, "+1\n") || strings.Contains(text, "hidden") {
		t.Errorf("got %d, %v: %s", hidden, err, text)
	}
	text, _, err = w.store.PatchOf(t.Context(), w.dir, s.Before, "", 20, shown)
	if err != nil || !strings.Contains(text, "[truncated after") {
		t.Errorf("got %q, %v", text, err)
	}
}
