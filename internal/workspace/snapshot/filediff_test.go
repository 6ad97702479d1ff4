package snapshot

import (
	"strings"
	"testing"
)

func (w *env) diff(c DiffConfig, spans ...Span) ([]FileDiff, int) {
	w.t.Helper()
	if c.Files == 0 {
		c.Files = 100
	}
	if c.Bytes == 0 {
		c.Bytes, c.FileBytes = 1<<20, 1<<20
	}
	files, total, err := w.store.Diff(w.t.Context(), w.dir, spans, c)
	if err != nil {
		w.t.Fatal(err)
	}
	return files, total
}

// summary lists files with their kinds.
func summary(files []FileDiff) string {
	var lines []string
	for _, f := range files {
		line := f.Path + " " + string(f.Kind)
		if f.OldPath != "" {
			line += " from " + f.OldPath
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

const (
	before = `mkdir d; printf 'a\nb\nc\n' > m; printf 'x\n' > run; printf '1\n2\n3\n4\n5\n6\n' > old; echo gone > d/gone; ln -s m link; printf '\0\1' > bin`
	change = `printf 'a\nB\nc\n' > m; chmod +x run; mv old new; echo 7 >> new; rm d/gone link; echo file > link; printf '\0\2' > bin; echo n > "q\"	ü"`
)

func TestDiffOfAllKindsOfChanges(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.sh(before)
	files, total := w.diff(DiffConfig{}, w.span(change))
	want := "bin modified\nd/gone deleted\nlink type\nm modified\nnew renamed from old\nq\"\tü added\nrun mode"
	if got := summary(files); got != want || total != 8 { // the old name of the renamed one counts too
		t.Fatalf("%d files:\n%s\nwant:\n%s", total, got, want)
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Patch, "diff --git ") || f.Cut || f.Binary != (f.Path == "bin") {
			t.Errorf("%+v", f)
		}
	}
	if m := files[3]; m.Added != 1 || m.Deleted != 1 || !strings.HasSuffix(m.Patch, "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n") {
		t.Errorf("%+v", m)
	}
	if link := files[2].Patch; strings.Count(link, "diff --git ") != 2 || !strings.HasSuffix(link, "+file\n") {
		t.Errorf("%s", link)
	}
}

// Each file is compared as it was before the spans that changed it: what others change in between is
// not part of it, and nor are files that are as they were.
func TestDiffCombinesSpans(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.sh(`echo 1 > a; echo 1 > b; echo 1 > other`)
	first := w.span(`echo 2 > a; echo 2 > b`)
	w.sh(`echo mine > other`)
	second := w.span(`echo 3 > a; echo 1 > b; echo c > c`)
	w.sh(`echo 4 > a; rm c`)
	files, _ := w.diff(DiffConfig{}, first, second)
	if got := summary(files); got != "a modified\nc added" || !strings.HasSuffix(files[0].Patch, "-1\n+3\n") {
		t.Errorf("%s\n%s", got, files[0].Patch)
	}
	files, total := w.diff(DiffConfig{Now: true}, first, second)
	if got := summary(files); got != "a modified" || total != 1 || !strings.HasSuffix(files[0].Patch, "-1\n+4\n") {
		t.Errorf("now: %s\n%s", got, files[0].Patch)
	}
	second.After = "" // it still runs
	files, _ = w.diff(DiffConfig{}, first, second)
	if !strings.HasSuffix(files[0].Patch, "-1\n+4\n") {
		t.Errorf("a span that has not ended: %s", files[0].Patch)
	}
}

func TestDiffIsBounded(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	s := w.span(`seq 1000 > a; seq 1000 > b; seq 10 > c; echo secret > d; echo large > .gitignore; echo x > large`)
	hide := func(path string) bool { return path != "d" }
	files, total := w.diff(DiffConfig{Files: 10, Bytes: 2600, FileBytes: 2000, Shown: hide}, s)
	if got := summary(files); got != ".gitignore added\na added\nb added\nc added\nd added" || total != 5 {
		t.Fatalf("%d files:\n%s", total, got)
	}
	size := 0
	for _, f := range files {
		size += len(f.Patch)
		if f.Cut != (f.Path == "a" || f.Path == "b" || f.Path == "c") || len(f.Patch) > 2000 || f.Hidden != (f.Path == "d") {
			t.Errorf("%s: %d bytes, cut %t, hidden %t", f.Path, len(f.Patch), f.Cut, f.Hidden)
		}
		if f.Patch != "" && !strings.HasSuffix(f.Patch, "\n") {
			t.Errorf("%s is not cut after a line", f.Path)
		}
	}
	if size > 2600 || files[1].Added != 1000 || files[4].Patch != "" {
		t.Errorf("%d bytes, %+v", size, files[4])
	}
	if files, total := w.diff(DiffConfig{Files: 2}, s); len(files) != 2 || total != 5 {
		t.Errorf("%d of %d files", len(files), total)
	}
	if files, total := w.diff(DiffConfig{Only: "b"}, s); summary(files) != "b added" || total != 1 {
		t.Errorf("%d files: %s", total, summary(files))
	}
}

// A file that a snapshot leaves out did not change as far as is known.
func TestDiffOfAFileThatIsLeftOut(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.sh(`echo 1 > a; echo 1 > b`)
	s := w.span(`echo 2 > a; echo 2 > b`)
	w.sh(`echo a > .gitignore; echo 3 > a`)
	files, _ := w.diff(DiffConfig{Now: true}, s)
	if summary(files) != "a uncovered\nb modified" || files[0].LeftOut == "" {
		t.Errorf("%s: %+v", summary(files), files)
	}
}
