package pdftext

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// object spells a stream with what its dictionary holds besides the length.
func streamObject(dict string, data []byte) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dict, len(data), data)
}

func deflate(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func flateObject(t testing.TB, dict string, data string) string {
	return streamObject(dict+"/Filter/FlateDecode", deflate(t, []byte(data)))
}

// plain writes a file with a table of contents at its end, as of old.
func plain(objects map[int]string, trailer string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	offsets := map[int]int{}
	nums := make([]int, 0, len(objects))
	for n := range objects {
		nums = append(nums, n)
	}
	slices.Sort(nums)
	for _, n := range nums {
		offsets[n] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", n, objects[n])
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n")
	for _, n := range nums {
		fmt.Fprintf(&b, "%d 1\n%010d 00000 n \n", n, offsets[n])
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n", len(nums)+1, trailer, at)
	return b.Bytes()
}

const (
	latin     = `/F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>`
	pageNodes = `<</Type/Pages/Count 1/Kids[3 0 R]/Resources<</Font<<` + latin + `>>>>>>`
)

// onePage is a file with one page of the given content.
func onePage(content string) []byte {
	return plain(map[int]string{
		1: "<</Type/Catalog/Pages 2 0 R>>",
		2: pageNodes,
		3: "<</Type/Page/Parent 2 0 R/Contents 4 0 R>>",
		4: streamObject("", []byte(content)),
	}, "")
}

// modern is a file as word processors write it: the objects are packed into a
// stream, and so is the table of contents.
func modern(t testing.TB) []byte {
	packed := map[int]string{
		1: "<</Type/Catalog/Pages 2 0 R>>",
		2: "<</Type/Pages/Count 2/Kids[3 0 R 4 0 R]>>",
		3: "<</Type/Page/Parent 2 0 R/Contents 10 0 R/Resources 5 0 R>>",
		4: "<</Type/Page/Parent 2 0 R/Contents[11 0 R 12 0 R]/Resources 5 0 R>>",
		5: "<</Font<</F1 6 0 R>>/XObject<</X1 14 0 R>>>>",
		6: "<</Type/Font/Subtype/Type0/BaseFont/Calibri/Encoding/Identity-H/DescendantFonts[7 0 R]/ToUnicode 13 0 R>>",
		7: "<</Type/Font/Subtype/CIDFontType2/DW 1000/W[1[500 500 250]4 30 500]>>",
	}
	var head, body strings.Builder
	for n := 1; n <= len(packed); n++ {
		fmt.Fprintf(&head, "%d %d ", n, body.Len())
		body.WriteString(packed[n] + "\n")
	}
	table := `/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def
1 begincodespacerange <0000> <FFFF> endcodespacerange
3 beginbfchar <0001> <0048> <0002> <00660069> <0003> <0020> endbfchar
2 beginbfrange <0004> <001D> <0061> <001E> <001F> [<20AC> <D83DDE00>] endbfrange
endcmap end end`
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	for n, object := range []string{
		8:  flateObject(t, fmt.Sprintf("/Type/ObjStm/N %d/First %d", len(packed), head.Len()), head.String()+body.String()),
		10: flateObject(t, "", "/F1 12 Tf BT 50 700 Td <0001 0008 000F 000F 0012> Tj <0003> Tj <0002 0011> Tj ET"),
		11: flateObject(t, "", "BT /F1 12 Tf 50 700 Td [<0001> -600 <000C>] TJ 0 -14 Td"),
		12: flateObject(t, "", "<001E 001F> Tj ET q 1 0 0 1 0 300 cm /X1 Do Q"),
		13: flateObject(t, "", table),
		14: flateObject(t, "/Type/XObject/Subtype/Form/Matrix[1 0 0 1 0 0]", "BT /F1 12 Tf <0009 0012 0015 0010> Tj ET"),
	} {
		if object != "" {
			fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", n, object)
		}
	}
	fmt.Fprintf(&b, "15 0 obj\n%s\nendobj\nstartxref\n0\n%%%%EOF\n", flateObject(t, "/Type/XRef/Root 1 0 R/Size 16/W[1 2 1]", "\x00"))
	return b.Bytes()
}
