package pdftext

import (
	"bytes"
	"context"
	"encoding/ascii85"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func textOf(ctx context.Context, data []byte, limit int) (string, error) {
	return Text(ctx, bytes.NewReader(data), int64(len(data)), limit)
}

func TestContent(t *testing.T) {
	t.Parallel()
	const begin = "BT /F1 10 Tf 50 700 Td "
	for _, test := range []struct{ name, content, want string }{
		{"a string", begin + "(Hello) Tj ET", "Hello"},
		{"escapes", begin + `(a\(b\)\\ \101\12c\
d (nested)) Tj ET`, "a(b)\\ A\ncd (nested)"},
		{"hexadecimal", begin + "<48 656C6c6F 2> Tj ET", "Hello"},
		{"Windows characters", begin + `(\223caf\351\224 \200) Tj ET`, "“café” €"},
		{"kerning is no blank", begin + "[(Ha) 30 (llo) -20 (!)] TJ ET", "Hallo!"},
		{"a gap is one", begin + "[(two) -300 (words)] TJ ET", "two words"},
		{"a move to the right", begin + "(two) Tj 30 0 Td (words) Tj ET", "two words"},
		{"a move down", begin + "(one) Tj 0 -12 Td (two) Tj ET", "one\ntwo"},
		{"a paragraph", begin + "(one) Tj 0 -30 Td (two) Tj ET", "one\n\ntwo"},
		{"leading", begin + "12 TL (one) Tj T* (two) Tj (three) ' 1 2 (four) \" ET", "one\ntwo\nthree\nfour"},
		{"TD sets it", begin + "(one) Tj 0 -12 TD (two) Tj T* (three) Tj ET", "one\ntwo\nthree"},
		{"a matrix", "BT /F1 1 Tf 10 0 0 10 50 700 Tm (one) Tj 10 0 0 10 50 688 Tm (two) Tj ET", "one\ntwo"},
		{"states", "BT /F1 10 Tf q /None 1 Tf (unseen) Tj Q (seen) Tj ET", "seen"},
		{"an image within", begin + "(a) Tj ET BI /W 1 ID \x00(EIx)\xff EI BT 50 688 Td (b) Tj ET", "a\nb"},
		{"comments", begin + "% (no) Tj\n(yes) Tj ET", "yes"},
		{"a font that is not there", "BT /F9 10 Tf (x) Tj /F1 10 Tf (y) Tj ET", "y"},
		{"too few arguments", "Td Tm Tf Tj TJ cm Do ' \" " + begin + "(x) Tj ET", "x"},
		{"never closed", begin + "(x) Tj [(y) -1 (z", "x"},
		{"stray marks", ")]>>}{ > " + begin + "(x) Tj ET", "x"},
		{"control characters", begin + "(a\x01\x1b[31mb) Tj ET", "a[31mb"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := textOf(t.Context(), onePage(test.content), 1000)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}

func TestModernFile(t *testing.T) {
	t.Parallel()
	got, err := textOf(t.Context(), modern(t), 1000)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("Hello fin\n\nH i\n€😀\n\nform", got); diff != "" {
		t.Error(diff)
	}
}

func TestFonts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, font, text, want string }{
		{"differences", `/Encoding<</Differences[1/fi/ffl 65/alpha/uni20AC/u1F600/Adieresis/nothing]>>`, `(\001\002 ABCDEF)`, "fiffl α€😀ÄEF"},
		{"a base of its own", `/Encoding<</BaseEncoding/MacRomanEncoding/Differences[66/x]>>`, `(\212B)`, "äx"},
		{"Macintosh", `/Encoding/MacRomanEncoding`, `(\212)`, "ä"},
		{"none", ``, `(abc)`, "abc"},
		{"widths", `/FirstChar 97/Widths[1000 1000 1000]`, `(abc) Tj 30 0 Td (abc)`, "abcabc"},
		{"other widths", `/FirstChar 97/Widths[100 100 100]`, `(abc) Tj 30 0 Td (abc)`, "abc abc"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := textOf(t.Context(), plain(map[int]string{
				1: "<</Type/Catalog/Pages 2 0 R>>",
				2: "<</Type/Pages/Kids[3 0 R]>>",
				3: "<</Type/Page/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
				4: streamObject("", []byte("BT /F1 10 Tf "+test.text+" Tj ET")),
				5: "<</Type/Font/Subtype/TrueType" + test.font + ">>",
			}, ""), 1000)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	const content = "BT /F1 10 Tf (packed) Tj ET"
	var a85 bytes.Buffer
	w := ascii85.NewEncoder(&a85)
	_, _ = w.Write([]byte(content))
	_ = w.Close()
	rows := ""
	for _, kind := range []byte{0, 1, 2, 3, 4} { // each row says the same, filtered in another way
		rows += string(filterRow(kind, "% row....\n", "% row....\n"))
	}
	for name, object := range map[string]string{
		"deflate":           flateObject(t, "", content),
		"ASCII85":           streamObject("/Filter/ASCII85Decode", append(a85.Bytes(), "~>"...)),
		"hexadecimal":       streamObject("/Filter/ASCIIHexDecode", []byte(hex.EncodeToString([]byte(content))+">")),
		"two":               streamObject("/Filter[/AHx/Fl]", []byte(hex.EncodeToString(deflate(t, []byte(content))))),
		"a wrong length":    strings.Replace(flateObject(t, "", content), "/Length ", "/Length 9", 1),
		"a length kept off": strings.Replace(flateObject(t, "", content), "/Length ", "/Length 9 0 R/L ", 1),
		"a cut stream":      streamObject("/Filter/FlateDecode", deflate(t, []byte(content+strings.Repeat(" x", 5000)))[:60]),
	} {
		t.Run(name, func(t *testing.T) {
			data := bytes.Replace(onePage("CONTENT"), []byte(streamObject("", []byte("CONTENT"))), []byte(object), 1)
			got, err := textOf(t.Context(), data, 1000)
			if got != "packed" {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	if got := string(unpredict([]byte(rows), 15, 10)); got != strings.Repeat("% row....\n", 5) {
		t.Errorf("the filters of PNG give %q", got)
	}
}

// filterRow does what unpredict undoes.
func filterRow(kind byte, row, above string) []byte {
	if kind == 0 {
		above = strings.Repeat("\x00", len(row))
	}
	out := []byte{kind}
	for i := range len(row) {
		var left, corner byte
		if i > 0 {
			left, corner = row[i-1], above[i-1]
		}
		out = append(out, row[i]-[]byte{0, left, above[i], byte((int(left) + int(above[i])) / 2), paeth(left, above[i], corner)}[kind])
	}
	return out
}

func TestNoText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		data []byte
		want error
	}{
		{"nothing", nil, ErrNotPDF},
		{"text", []byte("hello"), ErrNotPDF},
		{"a head only", []byte("%PDF-1.4\n"), ErrNotPDF},
		{"no text", onePage("0 0 m 1 1 l S"), ErrNoText},
		{"encrypted", plain(map[int]string{1: "<</Type/Catalog>>"}, "/Encrypt 9 0 R"), ErrEncrypted},
		{"encrypted, packed", []byte("%PDF-1.7 1 0 obj<</Type/XRef/Encrypt 9 0 R/Length 0>>stream\n\nendstream"), ErrEncrypted},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, err := textOf(t.Context(), test.data, 1000); !errors.Is(err, test.want) || got != "" {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	if _, err := Text(t.Context(), bytes.NewReader(nil), maxFile+1, 10); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a large file: %v", err)
	}
	if _, err := Text(t.Context(), bytes.NewReader([]byte("%PDF-")), 100, 10); err == nil {
		t.Error("a file shorter than it is said to be is read")
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	objects := map[int]string{1: "<</Type/Catalog/Pages 2 0 R>>"}
	kids := ""
	for i := range 20 {
		objects[10+2*i] = fmt.Sprintf("<</Type/Page/Contents %d 0 R>>", 11+2*i)
		objects[11+2*i] = streamObject("", fmt.Appendf(nil, "BT /F1 10 Tf (page %02d of the book) Tj ET", i+1))
		kids += fmt.Sprintf("%d 0 R ", 10+2*i)
	}
	objects[2] = strings.Replace(pageNodes, "3 0 R", kids, 1)
	got, err := textOf(t.Context(), plain(objects, ""), 50)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("page 01 of the book\n\npage 02 of the book\n\npage 03\n\n(cut: page 3 of 20 is reached)", got); diff != "" {
		t.Error(diff)
	}
	if !utf8.ValidString(got) {
		t.Error("a character was cut in two")
	}
}
