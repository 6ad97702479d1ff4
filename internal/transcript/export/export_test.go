package export_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript"
	"github.com/pawl-dev/pawl/internal/transcript/export"
	"github.com/pawl-dev/pawl/internal/transcript/transcripttest"
)

var update = flag.Bool("update", false, "write the golden files anew")

var formats = map[string]func(io.Writer, export.Document) error{"md": export.Markdown, "html": export.HTML}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			got := render(t, format, document(sample()))
			golden := "testdata/session." + name
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("want -, got + (-update writes it anew): %s", diff)
			}
		})
	}
}

func render(t rapid.TB, format func(io.Writer, export.Document) error, d export.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := format(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What is too long is cut between characters, and the document says so.
func TestBounds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 100_000)
	big := bytes.Repeat([]byte{0x89}, 3<<20)
	d := document(events(
		pawl.SessionCreated{Dir: "/d"},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}, pawl.File{Name: "big.png", MediaType: "image/png", Data: big}}},
		pawl.TurnStarted{Prompt: 2},
		pawl.Replied{Parts: pawl.Parts{pawl.ToolCall{ID: "c", Name: "read", Input: []byte(`{}`)}}},
		pawl.CallFinished{Call: "c", Result: pawl.Result{Content: "x" + long}},
	))
	for name, format := range formats {
		got := render(t, format, d)
		if !strings.Contains(got, "180002 more bytes omitted") || len(got) > 60_000 || strings.ContainsRune(got, '\ufffd') {
			t.Errorf("%s: %d bytes", name, len(got))
		}
		if !strings.Contains(got, "big.png") {
			t.Errorf("%s: the picture that is too large is not named", name)
		}
	}
}

// Pictures have a bound in all.
func TestPicturesAreBounded(t *testing.T) {
	t.Parallel()
	bodies := []pawl.Body{pawl.SessionCreated{Dir: "/d"}}
	picture := pawl.File{Name: "p.png", MediaType: "image/png", Data: bytes.Repeat([]byte{1}, 2<<20)}
	for i := range 15 {
		bodies = append(bodies, pawl.CallFinished{Call: pawl.CallID(fmt.Sprint(i)), Result: pawl.Result{Files: []pawl.File{picture}}})
	}
	got := render(t, export.HTML, document(events(bodies...)))
	if n := strings.Count(got, "<img "); n != 10 {
		t.Errorf("%d pictures of 2 MB are in the page, want 10", n)
	}
}

// A log or a disk that fails is reported.
func TestFailures(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is on fire")
	for name, format := range formats {
		d := document(sample())
		good := d.Events
		d.Events = func(yield func(pawl.Event, error) bool) {
			for e, err := range good {
				if e.Seq == 7 {
					err = broken
				}
				if !yield(e, err) {
					return
				}
			}
		}
		if err := format(io.Discard, d); !errors.Is(err, broken) {
			t.Errorf("%s: got %v", name, err)
		}
		d.Events = good
		if err := format(full{}, d); !errors.Is(err, errFull) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

var errFull = errors.New("the disk is full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestRecorded checks that the export of each recorded session has the texts of all its items.
func TestRecorded(t *testing.T) {
	t.Parallel()
	for name, log := range transcripttest.Recorded(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := letters(render(t, export.Markdown, document(log)))
			items := transcript.New()
			items.Load(log)
			for it := range items.All() {
				text := it.Text
				if it.Call != nil {
					text = it.Call.Tool
				}
				if it.Call != nil && it.Call.User {
					text = strings.TrimPrefix(letters(string(it.Call.Input)), "command")
				}
				if it.Kind == transcript.KindTurnEnd && it.End.Reason == pawl.ReasonEndTurn {
					text = "" // the next prompt shows it
				}
				if !strings.Contains(got, letters(text)) {
					t.Errorf("%q of %s is not in the export", text, it.ID)
				}
			}
		})
	}
}

// letters returns the letters and digits of a text: the rest is escaped or wrapped.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}
