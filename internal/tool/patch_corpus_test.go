package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// patchCase is a file of patch/testdata/cases: a text archive with these parts.
//
//	before/PATH     a file of the workspace
//	link/PATH       a link of the workspace, and where it leads
//	meanwhile/PATH  what another program writes to a file after it was read
//	patch           the patch
//	after/PATH      a file that is different afterwards
//	gone            files that do not exist afterwards, one a line
//	refused         instead of both: texts that the refusal holds, one a line
//
// In a line that begins with § the escapes of Go are spelled out; \c at its end
// means that no line end follows. "§repeat N text" stands for so many lines, with
// their number for each %d. {dir} is the workspace, {outside} a directory beside it.
type patchCase struct {
	before, links, concurrent, after map[string]string
	patch                            string
	deleted, refused                 []string
}

func readCase(t *testing.T, path, dir, outside string) patchCase {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(archive.Comment) == 0 {
		t.Errorf("%s does not say what it shows", path)
	}
	c := patchCase{before: map[string]string{}, links: map[string]string{}, concurrent: map[string]string{}, after: map[string]string{}}
	for _, f := range archive.Files {
		text := strings.NewReplacer("{dir}", dir, "{outside}", outside).Replace(unmark(t, path, string(f.Data)))
		kind, name, _ := strings.Cut(f.Name, "/")
		switch kind {
		case "before":
			c.before[name] = text
		case "after":
			c.after[name] = text
		case "link":
			c.links[name] = strings.TrimSpace(text)
		case "meanwhile":
			c.concurrent[name] = text
		case "patch":
			c.patch = text
		case "gone":
			c.deleted = strings.Split(strings.TrimSpace(text), "\n")
		case "refused":
			c.refused = strings.Split(strings.TrimSpace(text), "\n")
		default:
			t.Fatalf("%s: a part is called %s", path, f.Name)
		}
	}
	if c.patch == "" || (len(c.refused) > 0) == (len(c.after)+len(c.deleted) > 0) {
		t.Fatalf("%s needs a patch, and either what comes of it or a refusal", path)
	}
	return c
}

// unmark spells out the marked lines of a part.
func unmark(t *testing.T, path, text string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(text) {
		marked, ok := strings.CutPrefix(line, "§")
		if !ok {
			out.WriteString(line)
			continue
		}
		marked = strings.TrimSuffix(marked, "\n")
		if n, text, ok := strings.Cut(strings.TrimPrefix(marked, "repeat "), " "); ok && strings.HasPrefix(marked, "repeat ") {
			count, err := strconv.Atoi(n)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			for i := range count {
				out.WriteString(strings.ReplaceAll(text, "%d", strconv.Itoa(i+1)) + "\n")
			}
			continue
		}
		marked, open := strings.CutSuffix(marked, `\c`)
		plain, err := strconv.Unquote(`"` + strings.ReplaceAll(marked, `"`, `\"`) + `"`)
		if err != nil {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		out.WriteString(plain)
		if !open {
			out.WriteString("\n")
		}
	}
	return out.String()
}

// run plays the case in a new workspace and returns what is wrong: nothing,
// that the patch was missed though it should apply, or how the outcome differs.
func runCase(t *testing.T, path string) (missed, wrong string) {
	t.Helper()
	base := t.TempDir()
	dir, outside := filepath.Join(base, "ws"), filepath.Join(base, "outside")
	c := readCase(t, path, dir, outside)
	want := map[string]string{"outside/secret": "secret\n"}
	put := func(name, text string) {
		name = filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("outside/secret", "secret\n")
	put("ws/.keep", "")
	want["ws/.keep"] = ""
	for name, text := range c.before {
		put("ws/"+name, text)
		want["ws/"+name] = text
	}
	for name, to := range c.links {
		link(t, dir, name, to)
	}
	seen := func(name string) string { // asked once the file was read
		if text, ok := c.concurrent[name]; ok {
			put("ws/"+name, text)
			want["ws/"+name] = text
		}
		return ""
	}
	_, accessErr := ApplyPatch(nil).Access(t.Context(), call(dir, input(t, fields{"patch": c.patch})))
	_, done, err := applyPatch(t.Context(), knowing(dir, seen), c.patch)
	if accessErr != nil && err == nil {
		return "", fmt.Sprintf("Access refused what was then done: %v", accessErr)
	}
	for name, text := range c.after {
		want["ws/"+name] = text
	}
	for _, name := range c.deleted {
		delete(want, "ws/"+name)
	}
	got := files(t, base)
	switch {
	case len(c.refused) == 0 && err != nil:
		missed = err.Error()
	case len(c.refused) > 0 && err == nil:
		return "", "it was applied:\n" + cmp.Diff(want, got)
	}
	if len(c.refused) > 0 {
		for _, says := range c.refused {
			if !strings.Contains(err.Error(), says) {
				wrong += fmt.Sprintf("the refusal does not say %q: %v\n", says, err)
			}
		}
		if len(err.Error()) > 4000 {
			wrong += fmt.Sprintf("the refusal has %d bytes\n", len(err.Error()))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" && missed == "" {
		wrong += diff
	}
	for _, f := range done {
		if content, err := os.ReadFile(filepath.Join(dir, f.Path)); (err != nil) != f.Removed || string(content) != f.Content {
			wrong += fmt.Sprintf("%s is said to have another content than it has\n", f.Path)
		}
	}
	return missed, wrong
}

func TestPatchCorpus(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join("patch", "testdata", "cases", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	missed, wrong := 0, 0
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		t.Run(name, func(t *testing.T) {
			m, w := runCase(t, path)
			switch {
			case w != "":
				wrong++
				t.Errorf("wrong: %s", w)
			case m != "":
				missed++
				t.Errorf("missed: %s", m)
			}
		})
	}
	if len(paths) < 90 {
		t.Errorf("only %d cases were found", len(paths))
	}
	if testing.Verbose() {
		fmt.Printf("edits-part: internal/tool/patch %d cases, %d wrong, %d missed\n", len(paths), wrong, missed)
	}
}
