package history

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
)

func typed(s string) Entry { return Entry{{Text: s}} }

func load(t *testing.T, f File) []Entry {
	t.Helper()
	entries, err := f.Load()
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestFile(t *testing.T) {
	t.Parallel()
	f := File{filepath.Join(t.TempDir(), "data", "prompts.jsonl")}
	if got := load(t, f); got != nil {
		t.Errorf("there is %v", got)
	}
	pasted := Entry{{Text: "see "}, {Text: "@x\nof two lines", Pasted: true}, {Text: "long", Pasted: true, Folded: true}}
	for _, e := range []Entry{typed("one"), pasted, typed("two"), typed("one"), {}, typed(strings.Repeat("x", maxEntry+1))} {
		if err := f.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]Entry{pasted, typed("two"), typed("one")}, load(t, f)); diff != "" {
		t.Error(diff)
	}
	info, err := os.Stat(f.Path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestFaults: a line that a crash or another program left is passed over; a file
// that others may read does not count, and is not written.
func TestFaults(t *testing.T) {
	t.Parallel()
	f := File{filepath.Join(t.TempDir(), "prompts.jsonl")}
	write := func(data string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(f.Path, []byte(data), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(f.Path, mode); err != nil {
			t.Fatal(err)
		}
	}
	write("[{\"text\":\"a\"}]\n{no\n[]\n[{\"text\":\"b\"}]", 0o600)
	if diff := cmp.Diff([]Entry{typed("a"), typed("b")}, load(t, f)); diff != "" {
		t.Error(diff)
	}
	write("[{\"text\":\"a\"}]\n", 0o644)
	if _, err := f.Load(); err == nil {
		t.Error("a file that others may read was read")
	}
	if err := f.Add(typed("secret")); err == nil {
		t.Error("a prompt was kept where others may read it")
	}
}

// TestTogether: what two terminals keep at once is all kept, within the bounds.
func TestTogether(t *testing.T) {
	t.Parallel()
	f := File{filepath.Join(t.TempDir(), "prompts.jsonl")}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 5 {
				if err := f.Add(typed(fmt.Sprint(i, "/", j))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(load(t, f)); n != 20 {
		t.Errorf("%d prompts", n)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	var entries []Entry
	for i := range maxEntries + 10 {
		entries = Append(entries, Entry{{Text: fmt.Sprint(i)}})
	}
	if n := len(entries); n != maxEntries || entries[0].Text() != "10" {
		t.Errorf("%d prompts, the first is %s", n, entries[0].Text())
	}
	long := Entry{textinput.Piece{Text: strings.Repeat("\x01", maxEntry)}} // six bytes each in JSON
	for i := range entries {
		entries[i] = long
	}
	if data := encode(entries); len(data) > maxFile || len(data) < maxFile/2 {
		t.Errorf("%d bytes", len(data))
	}
}
