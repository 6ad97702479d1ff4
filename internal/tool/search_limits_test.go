package tool

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/tool/search"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

func init() {
	maps.Copy(limits, map[string]func(*testing.T){
		"GlobResults":   testGlobResults,
		"GrepMatches":   testGrepMatches,
		"GrepLineChars": testGrepLineChars,
		"GrepContext":   testGrepContext,
		"GrepFileBytes": testGrepFileBytes,
		"ListEntries":   testListEntries,
		"SearchTimeout": testSearchTimeout,
	})
}

// many is so many files of one text.
func many(n int, text string) map[string]string {
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("f%05d", i)] = text
	}
	return files
}

// answer runs a tool that must not fail and returns what it says.
func answer(t *testing.T, tool toolapi.Tool, dir string, in fields) string {
	t.Helper()
	got, err := try(t.Context(), tool, call(dir, input(t, in)))
	checkError(t, err, "")
	if len(got.Content) > ContentBytes(tool.Name) {
		t.Errorf("%s answers with %d bytes, which would be cut", tool.Name, len(got.Content))
	}
	return got.Content
}

// lineCount is how many lines a text has before a note, and the note.
func lineCount(text string) (int, string) {
	text, note, _ := strings.Cut(text, "(")
	return strings.Count(text, "\n"), note
}

func testGlobResults(t *testing.T) {
	for extra, says := range map[int]string{0: "", 7: "7 older ones are not shown)\n"} {
		n, note := lineCount(answer(t, Glob(), folder(t, many(GlobResults+extra, "")), fields{"pattern": "f*"}))
		if n != GlobResults || note != says {
			t.Errorf("%d more: %d paths, then %q", extra, n, note)
		}
	}
}

func testGrepMatches(t *testing.T) {
	const narrow = " are shown: narrow the pattern, path or include)\n"
	dir := folder(t, many(GrepMatches+3, "x\nx\n"))
	full := folder(t, many(GrepMatches, "x\n"))
	for name, grep := range greps(t) {
		text := answer(t, grep, dir, fields{"pattern": "x"})
		if !strings.HasPrefix(text, "f00000\n1:x\n2:x\n\nf00001\n1:x\n2:x\n\n") || strings.Count(text, ":x\n") != GrepMatches ||
			!strings.HasSuffix(text, fmt.Sprintf("f%05d\n1:x\n2:x\n(100 of 206 matching lines in 103 files%s", GrepMatches/2-1, narrow)) {
			t.Errorf("%s: %s", name, text)
		}
		if n, note := lineCount(answer(t, grep, dir, fields{"pattern": "x", "mode": "files"})); n != GrepMatches || note != "100 of 103 files"+narrow {
			t.Errorf("%s: %d files, then %q", name, n, note)
		}
		if n, note := lineCount(answer(t, grep, full, fields{"pattern": "x", "mode": "files"})); n != GrepMatches || note != "" {
			t.Errorf("%s: %d files, then %q", name, n, note)
		}
		if n := strings.Count(answer(t, grep, full, fields{"pattern": "x"}), ":x\n"); n != GrepMatches {
			t.Errorf("%s: %d lines", name, n)
		}
	}
	// Long lines and context are shown as far as a result may go.
	long := folder(t, map[string]string{"a": strings.Repeat(strings.Repeat("x", GrepLineChars)+"\n", GrepMatches)})
	text := answer(t, Grep(search.Own()), long, fields{"pattern": "x"})
	if n := strings.Count(text, ":x"); len(text) < ResultBytes*9/10 || !strings.HasSuffix(text, fmt.Sprintf("(%d of 100 matching lines in 1 file%s", n, narrow)) {
		t.Errorf("%d bytes, %d lines: …%s", len(text), n, text[len(text)-100:])
	}
}

func testGrepLineChars(t *testing.T) {
	blank := strings.Repeat("日", GrepLineChars)
	dir := folder(t, map[string]string{"f": "x" + blank[3:] + "\nx" + blank + "\n" + blank + "x" + blank + "\n" + blank + "x\n"})
	quarter := strings.Repeat("日", GrepLineChars/4)
	want := "f\n1:x" + blank[3:] + "\n2:x" + blank[3:] + "…\n3:…" + quarter + "x" + blank[3*GrepLineChars/4+3:] + "…\n4:…" + blank[3:] + "x\n"
	for name, grep := range greps(t) {
		if diff := cmp.Diff(want, answer(t, grep, dir, fields{"pattern": "x"})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func testGrepContext(t *testing.T) {
	dir := folder(t, map[string]string{"f": strings.Repeat("-\n", 50) + "x\n" + strings.Repeat("-\n", 50)})
	for name, grep := range greps(t) {
		text := answer(t, grep, dir, fields{"pattern": "x", "context": GrepContext})
		if n := strings.Count(text, "--\n"); n != 2*GrepContext {
			t.Errorf("%s: %d lines of context", name, n)
		}
		for _, context := range []int{-1, GrepContext + 1} {
			_, err := try(t.Context(), grep, call(dir, input(t, fields{"pattern": "x", "context": context})))
			checkError(t, err, fmt.Sprintf("context must be between 0 and %d lines", GrepContext))
		}
	}
}

func testGrepFileBytes(t *testing.T) {
	const line = 1 << 10
	full := "needle\n" + strings.Repeat("-", line-8) + "\n" + strings.Repeat(strings.Repeat("-", line-1)+"\n", GrepFileBytes/line-1)
	dir := folder(t, map[string]string{"a-full": full, "b-over": full + "x"})
	for name, grep := range greps(t) {
		want := "a-full\n1:needle\n(1 file of more than 64 MiB passed over: give one as path to search it)\n"
		if diff := cmp.Diff(want, answer(t, grep, dir, fields{"pattern": "needle"})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff("b-over\n65538:x\n", answer(t, grep, dir, fields{"pattern": "^x$", "path": "b-over"})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func testListEntries(t *testing.T) {
	files := many(ListEntries-1, "")
	files["d/"] = ""
	for more, says := range map[string]string{"": "", "d/one-more": "", "one-more": "1 more)\n"} {
		all := maps.Clone(files)
		if more != "" {
			all[more] = ""
		}
		text := answer(t, List(), folder(t, all), fields{})
		if closed := strings.Contains(text, "d/ (1 inside)\n"); closed != (more == "d/one-more") {
			t.Errorf("%s: the folder is closed: %v", more, closed)
		}
		if n, note := lineCount(strings.Replace(text, " (1 inside)", "", 1)); n != ListEntries || note != says {
			t.Errorf("%s: %d entries, then %q", more, n, note)
		}
	}
	// Long names take more space than a result has.
	long := map[string]string{}
	for name := range many(200, "") {
		long[name+strings.Repeat("x", 200)] = ""
	}
	if n, note := lineCount(answer(t, List(), folder(t, long), fields{})); n < 100 || note != fmt.Sprintf("%d more)\n", 200-n) {
		t.Errorf("%d entries, then %q", n, note)
	}
}

// stuck is an engine that never comes to an end by itself.
type stuck struct{}

func (stuck) Batch(*search.Pattern) int { return 1 }

func (stuck) Count(ctx context.Context, _ search.Job) search.Counts {
	<-ctx.Done()
	return search.Counts{}
}

func testSearchTimeout(t *testing.T) {
	dir := folder(t, map[string]string{"a": "x"})
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		got := answer(t, Grep(stuck{}), dir, fields{"pattern": "x"})
		if !strings.HasSuffix(got, "(the time of 30s is over: this is not all)\n") {
			t.Error(got)
		}
		if took := time.Since(began); took > SearchTimeout || took < SearchTimeout/2 {
			t.Errorf("took %s", took)
		}
	})
}
