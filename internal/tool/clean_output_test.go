package tool

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2*escapeBytes)
	tests := []struct {
		name   string
		pieces []string
		want   string
	}{
		{"text", []string{"a\tb\n日本\n"}, "a\tb\n日本\n"},
		{"a rune in pieces", []string{"\xe6", "\x97", "\xa5"}, "日"},
		{"a rune that never ends", []string{"a\xe6\x97"}, "a\uFFFD"},
		{"a rune that goes wrong in the next piece", []string{"\xe6\x97", "x"}, "\uFFFDx"},
		{"not UTF-8", []string{"caf\xe9s"}, "caf\uFFFDs"},
		{"a run of such bytes", []string{"a\xff\xfe\x00\x01b"}, "a\uFFFDb"},
		{"NUL between names", []string{"a\x00b\x00"}, "a\uFFFDb\uFFFD"},
		{"control characters of Unicode", []string{"a\u0085b\u009bc\u00a0"}, "a\uFFFDb\uFFFDc\u00a0"},
		{"delete", []string{"a\x7f"}, "a\uFFFD"},
		{"CRLF", []string{"a\r\nb\r\n"}, "a\nb\n"},
		{"CRLF in pieces", []string{"a\r", "\nb\r", "\n"}, "a\nb\n"},
		{"several returns before the line's end", []string{"a\r\r\n"}, "a\n"},
		{"a progress bar", []string{"x\n10%\r20%\r100%\nafter"}, "x\n100%\nafter"},
		{"one that does not end the line", []string{"10%\r20%\r"}, "20%"},
		{"one in pieces", []string{"10%\r", "20%\r30%", "\r", "40%\n"}, "10%\n30%\n40%\n"},
		{"a return at the beginning", []string{"\rx\n"}, "x\n"},
		{"colors", []string{"\x1b[1;31mred\x1b[0m\x1b[K"}, "red"},
		{"colors in pieces", []string{"\x1b", "[1;3", "1mred\x1b[", "0m"}, "red"},
		{"a title", []string{"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b"}, "ab"},
		{"a title in pieces", []string{"\x1b]0;ti", "tle\x1b", "\\b"}, "b"},
		{"a title that never ends", []string{"\x1b]0;" + long}, "\uFFFD]0;" + long},
		{"a color that never ends", []string{"\x1b[", strings.Repeat("1", 2*escapeBytes)}, "\uFFFD[" + strings.Repeat("1", 2*escapeBytes)},
		{"a character set", []string{"\x1b(Ba\x1b=b\x1b7"}, "ab"},
		{"an escape before something else", []string{"\x1b\na\x1b[\nb\x1b"}, "\uFFFD\na\uFFFD[\nb\uFFFD"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var c cleaner
			var got []byte
			for i, p := range test.pieces {
				got = append(got, c.clean(nil, []byte(p), i == len(test.pieces)-1)...)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

var anything = rapid.SliceOf(rapid.OneOf(
	rapid.Byte(), rapid.SampledFrom([]byte("\x00\x1b[]m;\r\n\t\x07\\ax0")), rapid.SampledFrom([]byte("日é😀")),
))

// Whatever it is given, in whatever pieces, each piece is text.
func TestCleanIsText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c cleaner
		var inPieces []byte
		var whole []byte
		pieces := rapid.SliceOf(anything).Draw(t, "pieces")
		for i, p := range pieces {
			p = bytes.ReplaceAll(p, []byte{'\r'}, nil) // what they replace depends on the pieces
			whole = append(whole, p...)
			text := c.clean(nil, p, i == len(pieces)-1)
			if !utf8.Valid(text) {
				t.Fatalf("%q is not UTF-8", text)
			}
			for _, r := range string(text) {
				if unicode.IsControl(r) && r != '\n' && r != '\t' {
					t.Fatalf("%q holds a control character", text)
				}
			}
			inPieces = append(inPieces, text...)
		}
		squeeze := func(b []byte) string { // a run of bad bytes may be cut by a piece's end
			for bytes.Contains(b, []byte("\uFFFD\uFFFD")) {
				b = bytes.ReplaceAll(b, []byte("\uFFFD\uFFFD"), []byte("\uFFFD"))
			}
			return string(b)
		}
		if diff := cmp.Diff(squeeze(new(cleaner).clean(nil, whole, true)), squeeze(inPieces)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestBinary(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"":                                false,
		"\xe6\x97":                        false,
		"plain text\n":                    false,
		"caf\xe9 in an old encoding":      false,
		"\x1b[31mr\x1b[0m":                false,
		"\x7fELF\x02\x01\x01\x00\x00\x00": true,
		"U\x00T\x00F\x001\x006\x00":       true,
	} {
		var c cleaner
		c.clean(nil, []byte(text), true)
		if got := c.binary(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
