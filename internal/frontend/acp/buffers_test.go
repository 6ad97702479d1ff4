package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// fakeEditor is an editor whose file contents come from a function of the test.
type fakeEditor struct {
	editor
	hand func(ctx context.Context, path string) (string, error)
}

func (d fakeEditor) read(ctx context.Context, _ pawl.SessionID, path string, lines int) (string, error) {
	if lines != 0 {
		return "", errors.New("not all of the file was asked for")
	}
	return d.hand(ctx, path)
}

// says is an editor that has this text in all files.
func says(text string) func(context.Context, string) (string, error) {
	return func(context.Context, string) (string, error) { return text, nil }
}

// TestUnsaved: what counts as not saved is what a person has written, not how an
// editor spells a file, nor what it says when it knows no better.
func TestUnsaved(t *testing.T) {
	t.Parallel()
	const none = "saved"
	for name, test := range map[string]struct{ disk, editor, want string }{
		"the same":              {"a\nb\n", "a\nb\n", none},
		"changed":               {"a\nb\n", "a\nB\n", "a\nB\n"},
		"the last end":          {"a\nb\n", "a\nb", none},
		"changed, the last end": {"a\nb\n", "a\nB", "a\nB\n"},
		"no last end":           {"a\nb", "a\nb\n", "a\nb\n"},
		"line ends":             {"a\r\nb\r\n", "a\nb\n", none},
		"line ends, the last":   {"a\r\nb\r\n", "a\nb", none},
		"line ends, changed":    {"a\r\nb\r\n", "a\nB\n", "a\r\nB\r\n"},
		"its own line ends":     {"a\r\nb\r\n", "a\r\nb\r\n", none},
		"and not the last":      {"a\r\nb\r\n", "a\r\nb", none},
		"mixed line ends":       {"a\r\nb\n", "a\nb\n", "a\nb\n"},
		"a mark":                {"\ufeffa\n", "a\n", none},
		"its own mark":          {"\ufeffa\n", "\ufeffa\n", none},
		"nothing of something":  {"a\n", "", "it handed over nothing"},
		"nothing of nothing":    {"", "", none},
		"something of nothing":  {"", "a", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &buffers{editor: fakeEditor{hand: says(test.editor)}, seen: &diskHistory{}, now: time.Now}
			got, ok, err := b.Unsaved(t.Context(), toolapi.OnDisk{Path: "/w/a", Text: test.disk})
			switch {
			case err != nil:
				got = err.Error()
			case !ok:
				got = none
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestSpelled: a file that nobody has changed is the same, however the editor
// keeps it.
func TestSpelled(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringOf(rapid.SampledFrom([]rune("ab ü\t"))), 1, 6).Draw(t, "lines")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		disk, kept := strings.Join(lines, end), strings.Join(lines, "\n")
		if rapid.Bool().Draw(t, "last end") {
			disk += end
			if rapid.Bool().Draw(t, "kept") {
				kept += "\n"
			}
		}
		if rapid.Bool().Draw(t, "mark") {
			disk = "\ufeff" + disk
		}
		if got := matchFormat(kept, disk); got != disk {
			t.Fatalf("%q became %q, want %q", kept, got, disk)
		}
	})
}

// TestEditorIsLate: an editor that has not noticed a change on the disk has not
// got something that is not saved, for a moment.
func TestEditorIsLate(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	shared := &diskHistory{}
	b := &buffers{editor: fakeEditor{hand: says("one\n")}, seen: shared, now: func() time.Time { return begin.Add(time.Second) }}
	ask := func(text string, changed time.Time) bool {
		t.Helper()
		_, ok, err := b.Unsaved(t.Context(), toolapi.OnDisk{Path: "/w/a", Text: text, Changed: changed})
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if !ask("two\n", begin) {
		t.Error("what the disk never had counts as saved")
	}
	if ask("one\n", begin) || ask("two\n", begin) || ask("three\n", begin) {
		t.Error("what the disk had just now counts as not saved")
	}
	if !ask("two\n", begin.Add(-reloadTime)) {
		t.Error("what the disk had long ago counts as saved")
	}
	for i := range maxVersions {
		ask(fmt.Sprintf("later %d\n", i), begin)
	}
	if !ask("two\n", begin) {
		t.Errorf("more than %d contents are remembered", maxVersions)
	}
	for i := range 2 * maxFiles {
		shared.add(toolapi.OnDisk{Path: fmt.Sprint(i)})
	}
	if n := len(shared.files); n > maxFiles {
		t.Errorf("%d files are remembered", n)
	}
}

// TestEditorHangs: one that does not answer is waited for once, until the next
// prompt, though it does not even take the question.
func TestEditorHangs(t *testing.T) {
	t.Parallel()
	for name, hand := range map[string]func(context.Context, string) (string, error){
		"says nothing":    func(ctx context.Context, _ string) (string, error) { <-ctx.Done(); return "", ctx.Err() },
		"takes no letter": func(context.Context, string) (string, error) { time.Sleep(time.Hour); return "x", nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &buffers{editor: fakeEditor{hand: hand}, seen: &diskHistory{}, now: time.Now}
				began := time.Now()
				for range 3 {
					if _, _, err := b.Unsaved(t.Context(), toolapi.OnDisk{Path: "/w/a", Text: "a"}); err == nil || !strings.Contains(err.Error(), "did not answer") {
						t.Errorf("got %v", err)
					}
				}
				if took := time.Since(began); took != readTime {
					t.Errorf("it took %s", took)
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				b.unresponsive.Store(false)
				if _, _, err := b.Unsaved(ctx, toolapi.OnDisk{Path: "/w/a", Text: "a"}); !errors.Is(err, context.Canceled) || b.unresponsive.Load() {
					t.Errorf("canceled: %v, and it is held against the editor: %v", err, b.unresponsive.Load())
				}
				time.Sleep(2 * time.Hour) // what still waits ends
			})
		})
	}
}

// TestEditorSaysNo: the words of an editor's error are bounded and on one line.
func TestEditorSaysNo(t *testing.T) {
	t.Parallel()
	b := &buffers{editor: fakeEditor{hand: func(context.Context, string) (string, error) {
		return "", errors.New("no\n\x1b[31m" + strings.Repeat("x", 1<<20))
	}}, seen: &diskHistory{}, now: time.Now}
	_, _, err := b.Unsaved(t.Context(), toolapi.OnDisk{Path: "/w/a", Text: "a"})
	if err == nil || len(err.Error()) > 2*maxTitle || strings.ContainsAny(err.Error(), "\n\x1b") || !strings.HasPrefix(err.Error(), "it says: no") {
		t.Errorf("got %.300q", err)
	}
}
