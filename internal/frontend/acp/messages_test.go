package acp

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLines: messages come through as they are, in order; all else is refused,
// and what is too long takes nothing with it.
func TestLines(t *testing.T) {
	t.Parallel()
	long := `{"x":"` + strings.Repeat("y", maxLine) + `"}`
	in := "{\"a\":1}\nnope\n\n[1]\n" + long + "\n{\"b\":2}\r\n" + `{"last":true}`
	var order []string
	var out bytes.Buffer
	m := &messageWriter{out: &out, watchers: map[string]chan struct{}{}}
	l := &messageReader{in: bufio.NewReaderSize(strings.NewReader(in), 16), reject: m.reject, afterMessage: func(line []byte) { order = append(order, string(line)) }}
	got, err := io.ReadAll(l)
	if err != nil {
		t.Fatal(err)
	}
	want := "{\"a\":1}\n{\"b\":2}\r\n{\"last\":true}\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("handed on (-want):\n%s", diff)
	}
	if diff := cmp.Diff(want, strings.Join(order, "")); diff != "" {
		t.Errorf("in order (-want):\n%s", diff)
	}
	codes := []string{}
	for line := range strings.Lines(out.String()) {
		codes = append(codes, line[strings.Index(line, `"code":`):strings.Index(line, `,"message"`)])
	}
	if diff := cmp.Diff([]string{`"code":-32700`, `"code":-32600`, `"code":-32600`}, codes); diff != "" {
		t.Errorf("refused (-want):\n%s\n%s", diff, out.String())
	}
}

// TestSaid: a mark is seen once its message is written, not before.
func TestSaid(t *testing.T) {
	t.Parallel()
	m := &messageWriter{out: io.Discard, watchers: map[string]chan struct{}{}}
	seen := m.written("abc")
	for _, line := range []string{"x", "ab", "c"} {
		_, _ = m.Write([]byte(line))
	}
	select {
	case <-seen:
		t.Error("seen in pieces")
	default:
	}
	_, _ = m.Write([]byte(`{"id":"abc"}`))
	<-seen
}

// TestOutput checks that the end of an output is shown, in complete characters.
func TestOutput(t *testing.T) {
	t.Parallel()
	if got := output("c", "ab").content[0].text; got != "```\nab\n```" {
		t.Errorf("got %q", got)
	}
	got := output("c", strings.Repeat("ü", maxOutput)+"end").content[0].text
	if len(got) > maxOutput+10 || !strings.HasSuffix(got, "üend\n```") || strings.Contains(got, "\ufffd") {
		t.Errorf("got %d bytes, %q…%q", len(got), got[:8], got[len(got)-10:])
	}
}
