package protocol

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

func readAll(r *Reader) (events []string, err error) {
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		events = append(events, string(e.Name)+"|"+string(e.Data))
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"plain", "data: a\n\ndata: b\n\n", []string{"|a", "|b"}},
		{"named", "event: x\ndata: a\n\ndata: b\n\n", []string{"x|a", "|b"}},
		{"CR LF", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []string{"x|a", "|b"}},
		{"no space after the colon", "data:a\n\n", []string{"|a"}},
		{"one space only is taken off", "data:  a\n\n", []string{"| a"}},
		{"several lines of data", "data: a\ndata: b\ndata:\n\n", []string{"|a\nb\n"}},
		{"comments, ids and retries", ": ping\nid: 1\nretry: 5\ndata: a\n\n: ping\n\n", []string{"|a"}},
		{"an event without data is none", "event: x\n\ndata: a\n\n", []string{"|a"}},
		{"empty data is data", "data\n\n", []string{"|"}},
		{"many blank lines", "\n\n\ndata: a\n\n\n\n", []string{"|a"}},
		{"the last blank line is missing", "data: a\n\ndata: b\n", []string{"|a", "|b"}},
		{"cut off in mid-line", "data: a\n\ndata: {\"b", []string{"|a"}},
		{"a long line", "data: " + strings.Repeat("x", 100_000) + "\n\n", []string{"|" + strings.Repeat("x", 100_000)}},
		{"nothing", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"whole": strings.NewReader(tt.text), "byte by byte": iotest.OneByteReader(strings.NewReader(tt.text)),
				"data with the end": iotest.DataErrReader(strings.NewReader(tt.text)),
			} {
				got, err := readAll(NewReader(r))
				if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
					t.Errorf("%s: %v %s", name, err, diff)
				}
			}
		})
	}
}

func TestReaderFails(t *testing.T) {
	t.Parallel()
	var failure *model.ProviderError
	_, err := readAll(NewReader(io.MultiReader(strings.NewReader("data: "), endless{})))
	if !errors.As(err, &failure) || failure.Kind != pawl.ErrorMalformed {
		t.Errorf("a line without an end: %v, want a malformed reply", err)
	}
	broken := errors.New("the line is cut")
	if _, err := readAll(NewReader(io.MultiReader(strings.NewReader("data: a\n"), iotest.ErrReader(broken)))); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

// endless is a line without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// A delta costs no memory but that of its text.
func TestReaderAllocates(t *testing.T) { //nolint:paralleltest // it counts allocations
	r := NewReader(strings.NewReader(strings.Repeat("event: content_block_delta\ndata: {\"delta\":\"word\"}\n\n", 2000)))
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(1000, func() {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations an event, want none", n)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("event: x\ndata: a\n\ndata: b\r\n\r\n: c\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		whole, err1 := readAll(NewReader(strings.NewReader(string(data))))
		pieces, err2 := readAll(NewReader(iotest.OneByteReader(strings.NewReader(string(data)))))
		if diff := cmp.Diff(whole, pieces); diff != "" || (err1 == nil) != (err2 == nil) {
			t.Errorf("whole and in pieces differ: %v, %v, %s", err1, err2, diff)
		}
	})
}
