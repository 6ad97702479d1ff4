package snapshot

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// TestChanges: the result for each kind of change, compared with the current content.
func TestChanges(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.sh(`printf 'a\nb\n' >mod; printf 'a\0' >bin; echo x >run; echo gone >gone; echo f >type; echo same >same`)
	before := w.take()
	w.sh(`printf 'a\nc\nd\n' >mod; printf 'b\0' >bin; chmod 755 run; rm gone; rm type; ln -s same type; mkdir n; printf 'x\ny' >n/new; printf q >"$(printf 'q\n"\t')"`)
	want := []Change{
		{Path: "bin", Kind: Modified, OldMode: modeFile, NewMode: modeFile, Binary: true},
		{Path: "gone", Kind: Deleted, OldMode: modeFile, Deleted: 1},
		{Path: "mod", Kind: Modified, OldMode: modeFile, NewMode: modeFile, Added: 2, Deleted: 1},
		{Path: "n/new", Kind: Added, NewMode: modeFile, Added: 2},
		{Path: "q\n\"\t", Kind: Added, NewMode: modeFile, Added: 1},
		{Path: "run", Kind: Mode, OldMode: modeFile, NewMode: modeExec},
		{Path: "type", Kind: Type, OldMode: modeFile, NewMode: modeLink, Added: 1, Deleted: 1},
	}
	for _, to := range []ID{"", w.take()} {
		got, err := w.store.Changes(t.Context(), w.dir, before, to)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v, %s", err, diff)
		}
	}
	if got, err := w.store.Changes(t.Context(), w.dir, before, before); len(got) > 0 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []ID{"", "HEAD", "--output=x", ID(strings.Repeat("A", 40))} {
		if _, err := w.store.Changes(t.Context(), w.dir, bad, before); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := w.store.Changes(t.Context(), w.dir, ID(strings.Repeat("a", 40)), before); !errors.Is(err, ErrLost) {
		t.Error(err)
	}
	if _, err := w.store.Changes(t.Context(), t.TempDir(), before, ""); !errors.Is(err, ErrLost) {
		t.Error(err)
	}
}

func TestPatch(t *testing.T) {
	t.Parallel()
	w := newEnvWith(t, Config{MaxFile: 1000})
	w.sh(`printf 'a\nb\n' >f; echo 1 >grows`)
	s := w.span(`printf 'a\nc\n' >f; printf new >n; head -c 2000 /dev/zero >grows`)
	text, cut, err := w.store.Patch(t.Context(), w.dir, s.Before, s.After, 0)
	want := `diff --git a/f b/f
index 422c2b7..0f7bc76 100644
--- a/f
+++ b/f
@@ -1,2 +1,2 @@
 a
-b
+c
diff --git a/n b/n
new file mode 100644
index 0000000..3e5126c
--- /dev/null
+++ b/n
@@ -0,0 +1 @@
+new
\ No newline at end of file
`
	if diff := cmp.Diff(want, text); diff != "" || cut || err != nil {
		t.Errorf("%t, %v, %s", cut, err, diff)
	}
	for limit := 1; limit < len(want); limit += 7 {
		text, cut, err := w.store.Patch(t.Context(), w.dir, s.Before, "", limit)
		body, note, _ := strings.Cut(text, "[truncated after ")
		if err != nil || !cut || len(body) > limit || !strings.HasPrefix(want, body) || body != "" && !strings.HasSuffix(body, "\n") || !strings.Contains(note, "of 2 files are shown") {
			t.Errorf("%d: %q, %t, %v", limit, text, cut, err)
		}
	}
}

// TestPatchMany: a patch of more files than fit on one command line.
func TestPatchMany(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	before := w.take()
	w.files(1500)
	text, cut, err := w.store.Patch(t.Context(), w.dir, before, "", 64<<20)
	if n := strings.Count(text, "diff --git "); n != 1500 || cut || err != nil {
		t.Errorf("%d files, %t, %v", n, cut, err)
	}
}
