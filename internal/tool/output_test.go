package tool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func newOutput(limit int) *output { return &output{limit: limit, progress: func(string) {}} }

func TestOutput(t *testing.T) {
	tests := []struct {
		name   string
		writes []string
		want   string
	}{
		{"nothing", nil, ""},
		{"less than half", []string{"abc"}, "abc"},
		{"to the limit", []string{"abcdefgh"}, "abcdefgh"},
		{"over it", []string{"abcdefghij"}, "abcd\n… 2 bytes dropped …\nghij"},
		{"over it, byte by byte", strings.Split("abcdefghij", ""), "abcd\n… 2 bytes dropped …\nghij"},
		{"far over it", []string{"abcd", strings.Repeat("x", 1000), "wxyz"}, "abcd\n… 1000 bytes dropped …\nwxyz"},
		{"a rune in two writes", []string{"\xe6\x97", "\xa5"}, "日"},
		{"a rune that was cut", []string{"abc日xefgh"}, "abc\uFFFD\n… 3 bytes dropped …\nefgh"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := newOutput(8)
			for _, w := range test.writes {
				if n, err := o.Write([]byte(w)); n != len(w) || err != nil {
					t.Errorf("Write = %d, %v", n, err)
				}
			}
			if diff := cmp.Diff(test.want, o.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// However it is written, it is the head and the tail of the whole.
func TestOutputKeepsHeadAndTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := 2 * rapid.IntRange(1, 20).Draw(t, "half")
		o := newOutput(limit)
		var whole string
		for _, w := range rapid.SliceOf(rapid.StringMatching(`[a-z]{0,30}`)).Draw(t, "writes") {
			whole += w
			_, _ = o.Write([]byte(w))
		}
		want := whole
		if dropped := len(whole) - limit; dropped > 0 {
			want = whole[:limit/2] + dropMark(dropped) + whole[len(whole)-limit/2:]
		}
		if diff := cmp.Diff(want, o.String()); diff != "" {
			t.Fatal(diff)
		}
		if kept := len(o.head) + len(o.tail); kept > limit {
			t.Fatalf("%d bytes are held, the limit is %d", kept, limit)
		}
	})
}

func dropMark(n int) string { return fmt.Sprintf("\n… %d bytes dropped …\n", n) }
