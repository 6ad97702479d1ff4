package sanitize

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"go test ./...", "go test ./..."},
		{"größe 日本 👍", "größe 日本 👍"},
		{"a\n\tb", `a\n\tb`},
		{"a\x1b[2Kb\r", `a\u{1b}[2Kb\u{d}`},
		{"a\u202eb\u200b\u00a0", `a\u{202e}b\u{200b}\u{a0}`},
		{"\U000e0041\ufe0f\u2800\u3164", `\u{e0041}\u{fe0f}\u{2800}\u{3164}`},
		{"\x9b\xff", `\u{fffd}\u{fffd}`},
	} {
		if got := Line(c.in); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

// hostile are texts and what is shown of them.
var hostile = []struct{ name, in, want string }{
	{"plain", "a\tb\nc\n", "a\tb\nc\n"},
	{"other scripts", "größe 日本 नमस्ते עברית", "größe 日本 नमस्ते עברית"},
	{"color", "a\x1b[1;31mred\x1b[0mb", "aredb"},
	{"title by bell", "a\x1b]0;fake\x07b", "ab"},
	{"title by ST", "a\x1b]0;fake\x1b\\b", "ab"},
	{"clipboard", "\x1b]52;c;cm0gLXJmIC8=\x07ok", "ok"},
	{"hyperlink", "\x1b]8;;http://evil.test/\x1b\\good\x1b]8;;\x1b\\", "good"},
	{"device control", "a\x1bP1$r0m\x1b\\b", "ab"},
	{"APC, PM, SOS", "a\x1b_x\x1b\\b\x1b^y\x1b\\c\x1bXz\x1b\\d", "abcd"},
	{"C1, as UTF-8", "a\u009b31mb\u009d0;t\u009cc\u0090q\u009cd\u0084e", "abcde"},
	{"C1, as bytes", "a\x9b31m\x9d0;t\x9c", "a\ufffd31m\ufffd0;t\ufffd"},
	{"next line", "a\u0085b\u2028c\u2029d", "a\nb\nc\nd"},
	{"character set", "a\x1b(0b\x1b#8c\x1bcd", "abcd"},
	{"a title without an end hides its line only", "a\x1b]0;x\nb", "a\nb"},
	{"a title that a sequence ends", "\x1b]0;x\x1b[1mb", "b"},
	{"a void sequence", "a\x1b[31\x18mb\x1b]x\x1ac", "ambc"},
	{"a cut sequence", "a\x1b[31", "a"},
	{"a lone escape", "a\x1b", "a"},
	{"an escape before a letter of two bytes", "a\x1bé\x1b[é\x1b(é", "aééé"},
	{"C0", "a\x00\x01\x07\x08b\x7f", "ab"},
	{"form feed", "a\fb\vc", "a\nb\nc"},
	{"DOS", "a\r\nb\r\n\r\nc\r\r\n", "a\nb\n\nc\n"},
	{"nothing is shown over a line", "rm -rf /\rls      \n", "rm -rf /\nls      \n"},
	{"progress", "\r10%\r\x1b[K50%\r\x1b[K100%\r\x1b[K\n", "10%\n50%\n100%\n"},
	{"bidi", "a\u202eb\u2066c\u2069\u200f\u061cd", "abcd"},
	{"zero width", "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg", "abcdefg"},
	{"tags", "hi\U000e0001\U000e0069\U000e0067\U000e007f", "hi"},
	{"fillers", "a\u3164b\u115fc\u034fd\uffa0e", "abcde"},
	{"variants", "a\ufe0fb\U000e0101c\ufe01+\ufe0f", "abc+"},
	{"emoji", "👩‍💻 ❤️ 🏳️‍🌈 👍🏽 ™️", "👩‍💻 ❤️ 🏳️‍🌈 👍🏽 ™️"},
	{"a message behind an emoji", "👍\ufe0f\ufe0e\ufe0f\u200d\u200d\U000e0041", "👍\ufe0f\u200d"},
	{"spelling", "می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"},
	{"not UTF-8", "a\xffb\xe2\x82", "a\ufffdb\ufffd\ufffd"},
	{"surrogates", "\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
	{"numbers of Arabic", "\u0600١", "\u0600١"},
	{"private use", "\ue0b0", "\ue0b0"},
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			if got := Text(c.in); got != c.want {
				t.Errorf("%q: got %q, want %q", c.in, got, c.want)
			}
		})
	}
}

// fault says what in a text could act on a terminal, or hide.
func fault(s string) string {
	before := rune(0)
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			return "a byte that is not UTF-8"
		case r < 0x20 && r != '\n' && r != '\t', r == 0x7f, r >= 0x80 && r < 0xa0:
			return "a control character"
		case unicode.Is(unicode.Bidi_Control, r):
			return "a character that turns the text"
		case r >= 0xe0000 && r < 0xf0000, r == '\u200b', r == '\u2060', r == '\ufeff':
			return "a character without width"
		case unicode.Is(unicode.Variation_Selector, r) && (before < 0x80 || unicode.Is(unicode.Variation_Selector, before)):
			return "a variant of nothing"
		}
		before = r
	}
	return ""
}

// pieces are what the texts of the laws are made of.
var pieces = []string{
	"a", "Z", "0", ";", "[", "]", "\\", "P", "_", "^", "X", "(", " ", "\n", "\t", "\r", "\x1b", "\x07", "\x18", "\x00", "\x7f", "\b",
	"\u009b", "\u009c", "\u009d", "\u0090", "\u0085", "\x9b", "\x9c", "\xe2", "\x82", "\xff", "é", "👩", "\u200d", "\ufe0f", "\u200c", "ک",
	"\u202e", "\u2066", "\U000e0041", "\U000e0100", "\u2028", "\u200b", "\u00ad", "\x1b[31m", "\x1b]0;t\x07", "\r\n",
}

func texts() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), "")
	})
}

func laws(t interface{ Errorf(string, ...any) }, s string) {
	text := Text(s)
	if f := fault(text); f != "" {
		t.Errorf("Text(%q) has %s: %q", s, f, text)
	}
	if again := Text(text); again != text {
		t.Errorf("Text(%q) is %q, and again %q", s, text, again)
	}
	marked := Marked(s)
	if f := fault(marked); f != "" {
		t.Errorf("Marked(%q) has %s: %q", s, f, marked)
	}
	if Text(marked) != marked || Marked(marked) != marked {
		t.Errorf("Marked(%q) is %q, which is not plain", s, marked)
	}
	if line := Line(s); Text(line) != line || strings.ContainsAny(line, "\n\t") {
		t.Errorf("Line(%q) is %q, which is not plain", s, line)
	}
}

func TestLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { laws(t, texts().Draw(t, "text")) })
}

// split writes a text in the given pieces.
func split(t interface{ Errorf(string, ...any) }, pieces ...string) string {
	var b bytes.Buffer
	w := NewWriter(&b)
	for _, p := range pieces {
		if n, err := w.Write([]byte(p)); n != len(p) || err != nil {
			t.Errorf("write %q: %d, %v", p, n, err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Errorf("flush: %v", err)
	}
	return b.String()
}

// TestWriter: whatever the pieces, the whole is what Text says.
func TestWriter(t *testing.T) {
	t.Parallel()
	for _, c := range hostile {
		for i := range len(c.in) + 1 {
			for j := i; j <= len(c.in); j++ {
				if got := split(t, c.in[:i], c.in[i:j], c.in[j:]); got != c.want {
					t.Fatalf("%s in pieces %q %q %q: got %q, want %q", c.name, c.in[:i], c.in[i:j], c.in[j:], got, c.want)
				}
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := texts().Draw(t, "text")
		if got := split(t, strings.Split(s, "")...); got != Text(s) {
			t.Errorf("%q rune by rune: got %q, want %q", s, got, Text(s))
		}
		var bytewise []string
		for i := range len(s) {
			bytewise = append(bytewise, s[i:i+1])
		}
		if got := split(t, bytewise...); got != Text(s) {
			t.Errorf("%q byte by byte: got %q, want %q", s, got, Text(s))
		}
	})
}

func TestMarked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"a\tb\r\nc\n", "a\tb\nc\n"},
		{"read this\U000e0069\U000e0067", `read this\u{e0069}\u{e0067}`},
		{"if admin\u202e{ \u2066begin\u2069", `if admin\u{202e}{ \u{2066}begin\u{2069}`},
		{"rm -rf /\rls", `rm -rf /\u{d}ls`},
		{"\x1b[8mhidden\x1b[0m", `\u{1b}[8mhidden\u{1b}[0m`},
		{"a\u200b\ufeff\u009b", `a\u{200b}\u{feff}\u{9b}`},
		{"👩\u200d💻 می\u200cخواهم", "👩\u200d💻 می\u200cخواهم"},
		{"a\xff", "a\ufffd"},
	} {
		if got := Marked(c.in); got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

// TestJSON: the printed value cannot act on a terminal, and means the same.
func TestJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]string{"a": strings.ToValidUTF8(texts().Draw(t, "text"), "\ufffd")}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "\t")
		if err := enc.Encode(want); err != nil {
			t.Fatal(err)
		}
		printed := JSON(b.Bytes())
		if f := fault(string(printed)); f != "" || Text(string(printed)) != string(printed) {
			t.Errorf("it has %s: %q", f, printed)
		}
		var got map[string]string
		if err := json.Unmarshal(printed, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	raw := "{\"a\":\"\x7f\u009b\u202e\U000e0041\u2028\xff\"}\r\n"
	if got, want := string(JSON([]byte(raw))), `{"a":"\u007f\u009b\u202e\udb40\udc41\u2028\ufffd"}`+" \n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzText(f *testing.F) {
	for _, c := range hostile {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, s string) {
		laws(t, s)
		half := len(s) / 2
		if got := split(t, s[:half], s[half:]); got != Text(s) {
			t.Errorf("%q in two pieces: got %q, want %q", s, got, Text(s))
		}
	})
}

func BenchmarkText(b *testing.B) {
	text := strings.Repeat("func main() { fmt.Println(\"größe\") }\n", 800)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Text(text)
	}
}
