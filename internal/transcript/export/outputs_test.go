package export_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript/export"
)

func blobOf(content string) pawl.Blob {
	sum := sha256.Sum256([]byte(content))
	return pawl.Blob{ID: hex.EncodeToString(sum[:]), Size: int64(len(content))}
}

// truncatedLog returns a log with truncated results whose full outputs have the given contents.
func truncatedLog(contents ...string) []pawl.Event {
	bodies := []pawl.Body{pawl.SessionCreated{Dir: "/d"}}
	for _, c := range contents {
		blob := blobOf(c)
		bodies = append(bodies, pawl.CallFinished{Call: "c", Result: pawl.Result{Full: &blob}})
	}
	return events(bodies...)
}

// lines writes an export.
func lines(t *testing.T, events []pawl.Event, contents ...string) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, e := range events {
		if err := enc.Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range contents {
		if err := export.WriteOutput(blobOf(c), iotest.HalfReader(strings.NewReader(c)), enc.Encode); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// read reads an export as an import does.
func read(text string) (events []pawl.Event, contents []string, missing []pawl.Blob, err error) {
	log := export.NewLog(strings.NewReader(text))
	for e, err := range log.Events() {
		if err != nil {
			return nil, nil, nil, err
		}
		events = append(events, e)
	}
	missing, err = log.Outputs(func(r io.Reader) (pawl.Blob, error) {
		content, err := io.ReadAll(r)
		contents = append(contents, string(content))
		return blobOf(string(content)), err
	})
	return events, contents, missing, err
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 100_000) // four pieces
	exact := strings.Repeat("x", 256<<10)
	tests := []struct {
		name    string
		named   []string // by the log
		held    []string // by the export
		missing []pawl.Blob
	}{
		{"none", nil, nil, nil},
		{"an earlier pawl's", []string{"a", "b"}, nil, []pawl.Blob{blobOf("a"), blobOf("b")}},
		{"one", []string{"a"}, []string{"a"}, nil},
		{"several, one of them twice in the log", []string{"a", long, "a", exact, ""}, []string{"a", long, exact, ""}, nil},
		{"some", []string{"a", "b", "c"}, []string{"b"}, []pawl.Blob{blobOf("a"), blobOf("c")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			log := truncatedLog(test.named...)
			events, contents, missing, err := read(lines(t, log, test.held...))
			if err != nil {
				t.Fatal(err)
			}
			for _, diff := range []string{cmp.Diff(log, events), cmp.Diff(test.held, contents), cmp.Diff(test.missing, missing)} {
				if diff != "" {
					t.Errorf("want -, got +: %s", diff)
				}
			}
		})
	}
}

// An export that was tampered with, or that breaks off, is refused.
func TestOutputsRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 60_000)
	log := truncatedLog(long, "a")
	whole := strings.SplitAfter(strings.TrimSpace(lines(t, log, long, "a")), "\n")
	if len(whole) != 7 {
		t.Fatalf("%d lines", len(whole))
	}
	other := lines(t, nil, "another")
	tests := []struct{ name, text, says string }{
		{"a piece is missing", join(whole[:3], whole[4:]), "is out of order"},
		{"the last piece is missing", join(whole[:5], whole[6:]), "truncated"},
		{"it breaks off", join(whole[:5]), "truncated"},
		{"a piece comes twice", join(whole[:4], whole[3:]), "is out of order"},
		{"an output comes twice", join(whole, []string{"\n"}, whole[6:]), "or it is a duplicate"},
		{"one that the log does not name", join(whole, []string{"\n", other}), "the log has no such output"},
		{"another content", strings.Replace(join(whole), `"data":"YQ=="`, `"data":"Yg=="`, 1), "its content has the hash"},
		{"more than it says", strings.Replace(join(whole), `"data":"YQ=="`, `"data":"YWE="`, 1), "is out of order"},
		{"nothing in it", strings.Replace(join(whole), `"data":"YQ=="`, `"data":""`, 1), "is out of order"},
		{"an event among them", join(whole[:4], whole[:1], whole[4:]), "unexpected event between outputs"},
		{"an unknown key", strings.Replace(join(whole), `{"blob":{`, `{"blob":{"path":"/etc",`, 1), `unknown key "path"`},
		{"an event that is an output too", strings.Replace(join(whole), `{"v":1,`, `{"v":1,"blob":{},`, 1), `decode output`},
		{"null", join(whole[:3], []string{`{"blob":null}` + "\n"}), "missing"},
		{"half a line", join(whole)[:len(join(whole))-9], "unexpected EOF"},
		{"no JSON", "pawl", "invalid character"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, _, err := read(test.text)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want an error that says %q", err, test.says)
			}
		})
	}
}

func join(lists ...[]string) string {
	var b strings.Builder
	for _, list := range lists {
		for _, s := range list {
			b.WriteString(s)
		}
	}
	return b.String()
}

// What is in the store is not what was kept: nothing of it passes for whole.
func TestWriteOutputChecks(t *testing.T) {
	t.Parallel()
	discard := func(any) error { return nil }
	if err := export.WriteOutput(blobOf("abc"), strings.NewReader("ab"), discard); err == nil {
		t.Error("an output that lost its end was written")
	}
	for content, want := range map[string]bool{"abc": true, "ab": false, "abd": false} {
		if got, err := export.Matches(blobOf("abc"), strings.NewReader(content)); got != want || err != nil {
			t.Errorf("%q: %v, %v", content, got, err)
		}
	}
	broken := errors.New("broken")
	if err := export.WriteOutput(blobOf("abc"), iotest.ErrReader(broken), discard); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
