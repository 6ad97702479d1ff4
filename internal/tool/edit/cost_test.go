package edit

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// hardEdits are edits of large files that take long if anything grows with the
// square of something.
func hardEdits(size int) map[string]struct {
	text string
	edit Edit
} {
	fill := func(text string) string { return strings.Repeat(text, size/len(text)) }
	lines := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	type edit = struct {
		text string
		edit Edit
	}
	return map[string]edit{
		"the same line over and over":         {fill("x1\n"), Edit{Old: strings.Repeat("x1\n", 5000) + "y", New: "z"}},
		"one line of one letter":              {fill("a"), Edit{Old: strings.Repeat("a", 5000) + "b", New: "z"}},
		"found everywhere":                    {fill("a"), Edit{Old: strings.Repeat("a", 1<<20), New: "z"}},
		"anchors everywhere":                  {fill("begin\nend\n"), Edit{Old: "begin\n" + lines("line %d\n", 3000) + "end\n", New: "begin\n"}},
		"first anchors everywhere":            {fill("begin\n"), Edit{Old: "begin\n" + lines("line %d\n", 3000) + "end\n", New: "begin\n"}},
		"anchors around long lines":           {fill("begin\n" + strings.Repeat("ab", 1000) + "\nend\n"), Edit{Old: "begin\n" + strings.Repeat("ba", 1000) + "\nend\n", New: "begin\nx\n"}},
		"look-alikes":                         {fill("“one” – two\n"), Edit{Old: "\"one\" - three\nfour", New: "z"}},
		"look-alikes in one line":             {fill("“one” – two"), Edit{Old: "\"one\" - three", New: "z"}},
		"look-alikes found everywhere":        {fill("“one” – two"), Edit{Old: "\"one\" - two", New: "z", All: true}},
		"accents":                             {fill("e\u0301"), Edit{Old: "e", New: "z"}},
		"accents only":                        {fill("\u0301"), Edit{Old: "e\u0301", New: "z"}},
		"not UTF-8":                           {fill("\xff"), Edit{Old: "e\ufffd", New: "z"}},
		"all of very many, with CRLF":         {fill("ab ") + "\r\n", Edit{Old: "ab", New: "x\ny", All: true}},
		"all lines, with CRLF":                {fill("ab\r\ncd\r\n"), Edit{Old: "ab\ncd\n", New: "x\n", All: true}},
		"old and new have nothing alike":      {fill("x\r\n") + lines("old %d\r\n", 5000), Edit{Old: lines("old %d\n", 5000), New: lines("new %d\n", 5000)}},
		"another indentation":                 {fill("begin\n") + lines("\told %d\n", 5000), Edit{Old: lines("  old %d\n", 5000), New: lines("  new %d\n", 5000)}},
		"another indentation, and more lines": {fill("begin\n") + lines("\told %d\n", 5000), Edit{Old: lines("    old %d\n", 5000), New: lines("    new %d\n", 5500)}},
		"many anchors that fit":               {fill("begin one\nx\n" + lines("line %d\n", 500) + "end one\n"), Edit{Old: "begin one\n" + lines("line %d\n", 500) + "end one\n", New: "begin one\n" + lines("line %d \n", 500) + "x\nend one\n"}},
		"empty lines":                         {fill("\n"), Edit{Old: "\nx\n\n", New: "y"}},
		"blanks":                              {fill(" "), Edit{Old: "  x", New: "y"}},
		"CRs":                                 {fill("\r"), Edit{Old: "x\ny", New: strings.Repeat("\r", 1<<20) + "\n"}},
		"escapes":                             {fill("a\n"), Edit{Old: strings.Repeat(`a\n`, 5000) + "b", New: "c"}},
		"line numbers":                        {fill("a\n"), Edit{Old: lines("%6d\tx\n", 5000), New: "c"}},
	}
}

// TestCost holds the time of an edit: a square of something would take minutes.
// The bound is wide, for the race detector and for busy machines; BenchmarkHard
// has the numbers for the largest files.
func TestCost(t *testing.T) {
	t.Parallel()
	for name, hard := range hardEdits(256 << 10) {
		t.Run(name, func(t *testing.T) {
			hard.edit.Limit = 10 << 20
			start := time.Now()
			_, err := Replace(hard.text, hard.edit)
			if d := time.Since(start); d > time.Minute {
				t.Errorf("it took %s", d)
			}
			if err != nil && len(err.Error()) > maxMessage+200 {
				t.Errorf("the reason has %d bytes", len(err.Error()))
			}
		})
	}
}

func BenchmarkHard(b *testing.B) {
	for name, hard := range hardEdits(10 << 20) {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			for b.Loop() {
				_, _ = Replace(hard.text, hard.edit)
			}
		})
	}
}

func BenchmarkReplace(b *testing.B) {
	var text strings.Builder
	for i := 0; text.Len() < 1<<20; i++ {
		fmt.Fprintf(&text, "\tvalue%d := compute(%d, \"name\") // note\n", i, i)
	}
	for name, e := range map[string]Edit{
		"exact":   {Old: "value9999 := compute(9999, \"name\")", New: "value := 1"},
		"shifted": {Old: "value9998 := compute(9998, \"name\") // note\nvalue9999 := compute(9999, \"name\") // note", New: "value := 1"},
		"miss":    {Old: "func f() {\n\tvalue := compute(x, \"name\")\n\tother()\n}", New: "x"},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				done, err := Replace(text.String(), e)
				if (err != nil) != (name == "miss") || err == nil && string(done.Pass) != name {
					b.Fatal(done.Pass, err)
				}
			}
		})
	}
}
