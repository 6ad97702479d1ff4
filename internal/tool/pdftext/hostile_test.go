package pdftext

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hostile are files that ask for endless work or memory.
func hostile(t testing.TB) map[string][]byte {
	deep := strings.Repeat("[", 1<<20)
	return map[string][]byte{
		"deep arrays":              onePage(deep),
		"a deep object":            plain(map[int]string{1: deep}, ""),
		"a deep dictionary":        plain(map[int]string{1: strings.Repeat("<</a", 1<<20)}, ""),
		"stray marks":              onePage(strings.Repeat(")", 1<<20)),
		"stray marks of an object": plain(map[int]string{1: strings.Repeat("}", 1<<20)}, ""),
		"an open string":           onePage(strings.Repeat("(", 1<<20)),
		"an open number":           onePage("BT <41"),
		"objects without end":      []byte("%PDF-1.4\n" + strings.Repeat("1 0 obj<<", 100_000)),
		"streams without end":      []byte("%PDF-1.4\n" + strings.Repeat("1 0 obj<<>>stream\n", 100_000)),
		"trailers":                 []byte("%PDF-1.4\n" + strings.Repeat("trailer<</Root 1 0 R", 100_000)),
		"many objects":             []byte("%PDF-1.4\n" + strings.Repeat("1 0 obj 1 endobj ", 100_000)),
		"pages that lead back":     plain(map[int]string{1: "<</Pages 2 0 R>>", 2: "<</Type/Pages/Kids[2 0 R 1 0 R 2 0 R]>>"}, ""),
		"pages within pages":       plain(map[int]string{1: "<</Pages 2 0 R>>", 2: "<</Kids[" + strings.Repeat("<</Kids[3 0 R 3 0 R]>>", 10_000) + "]>>", 3: "<</Kids[4 0 R 4 0 R]>>", 4: "<<>>"}, ""),
		"a reference to itself":    plain(map[int]string{1: "1 0 R", 2: "<</Length 2 0 R>>stream\nx\nendstream"}, ""),
		"a length of its own":      plain(map[int]string{1: "<</Pages 2 0 R>>", 2: "<</Contents 3 0 R>>", 3: "<</Length 3 0 R/Filter 3 0 R>>\nstream\nx\nendstream"}, ""),
		"an object stream within itself": []byte("%PDF-1.5\n1 0 obj\n" + streamObject("/Type/ObjStm/N 1/First 4", []byte("1 0 <</Type/ObjStm>>")) +
			"\nendobj\n2 0 obj<</Type/XRef/Root 1 0 R/Size 99999999999/W[1 99999999999 1]>>stream\nendstream"),
		"an object stream of nothing": []byte("%PDF-1.5\n1 0 obj\n" + flateObject(t, "/Type/ObjStm/N 999999999/First 999999999", strings.Repeat("1 1 ", 1<<18))),
		"a huge predictor":            bytes.Replace(onePage("x"), []byte("/Length 1"), []byte("/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 999999999999>>/Length 1"), 1),
		"forms within forms":          plain(laughs(), ""),
		"a bomb": bytes.Replace(onePage("CONTENT"), []byte(streamObject("", []byte("CONTENT"))),
			[]byte(flateObject(t, "", strings.Repeat("q ", 1<<20))), 1),
		"bombs": bytes.Replace(bytes.Replace(onePage("CONTENT"), []byte(streamObject("", []byte("CONTENT"))),
			[]byte(flateObject(t, "", strings.Repeat(" ", 2<<20))), 1), []byte("/Contents 4 0 R"), []byte("/Contents["+strings.Repeat("4 0 R ", 1000)+"]"), 1),
		"a huge table": table("<0000> <FFFF> <0000>", 10_000),
		"huge widths": plain(map[int]string{1: "<</Pages 2 0 R>>", 2: "<</Contents 3 0 R/Resources<</Font<</F1 5 0 R>>>>>>", 3: streamObject("", []byte("/F1 1 Tf (x) Tj")),
			5: "<</Subtype/Type0/DescendantFonts[<</W[" + strings.Repeat("0 65535 1 ", 100_000) + "]>>]>>"}, ""),
		"a font each time": bytes.Replace(onePage(strings.Repeat("/F1 1 Tf ", 100_000)), []byte("/Encoding/WinAnsiEncoding"),
			[]byte("/Encoding<</Differences[0"+strings.Repeat("/a", 10_000)+"]>>"), 1),
	}
}

// laughs is a file whose form shows a thousand forms, each of which shows a
// thousand, and so on.
func laughs() map[int]string {
	objects := map[int]string{
		1: "<</Type/Catalog/Pages 2 0 R>>", 2: strings.Replace(pageNodes, "/Resources<<", "/Resources<</XObject<</X0 10 0 R/X1 11 0 R/X2 12 0 R/X3 13 0 R/X4 14 0 R>>", 1),
		3: "<</Type/Page/Contents 4 0 R>>", 4: streamObject("", []byte("/X0 Do")), 14: streamObject("/Subtype/Form", []byte("q Q")),
	}
	for i := range 4 {
		objects[10+i] = streamObject("/Subtype/Form", []byte(strings.Repeat(fmt.Sprintf("/X%d Do ", i+1), 1000)))
	}
	return objects
}

// table is a file with a font whose table of characters maps a range many times.
func table(line string, times int) []byte {
	return plain(map[int]string{
		1: "<</Pages 2 0 R>>", 2: "<</Contents 3 0 R/Resources<</Font<</F1 5 0 R>>>>>>", 3: streamObject("", []byte("/F1 1 Tf (xxxx) Tj")),
		5: "<</Subtype/Type0/ToUnicode 6 0 R>>", 6: streamObject("", []byte(strings.Repeat("1 beginbfrange "+line+" endbfrange ", times))),
	}, "")
}

// Whatever a file asks for, it ends soon and within bounds. What comes out does
// not matter. The work is bounded lower than that of real files, to save time.
func TestHostileFiles(t *testing.T) { //nolint:paralleltest // it measures memory
	for name, data := range hostile(t) {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := read(data, &meter{left: maxWork / 16, stop: t.Context().Err}, 1<<20)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			t.Logf("%d bytes: %s, %d MiB allocated in all, %v", len(data), took.Round(time.Millisecond), (after.TotalAlloc-before.TotalAlloc)>>20, err)
			if took > 2*maxTime {
				t.Errorf("it took %s", took)
			}
			if grown := int64(after.StackSys) - int64(before.StackSys); grown > 32<<20 {
				t.Errorf("the stack grew by %d MiB: where that ends, the program does", grown>>20)
			}
			if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > 100<<20 {
				t.Errorf("%d MiB are held", held>>20)
			}
		})
	}
}

func TestPagesThatLeadBack(t *testing.T) {
	t.Parallel()
	data := bytes.Replace(onePage("BT /F1 10 Tf (once) Tj ET"), []byte("/Kids[3 0 R]"), []byte("/Kids[2 0 R 3 0 R 2 0 R 3 0 R]"), 1)
	if got, err := textOf(t.Context(), data, 1000); got != "once" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// A file that was cut or damaged anywhere gives some text or an error.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	for _, whole := range [][]byte{onePage("BT /F1 10 Tf [(a) -300 (b)] TJ ET"), modern(t)} {
		for n := range whole {
			_, err := textOf(t.Context(), whole[:n], 1000)
			if err != nil && strings.Contains(err.Error(), "it is broken") {
				t.Fatalf("cut at %d: %v", n, err)
			}
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range 1000 {
			data := bytes.Clone(whole)
			for range 1 + random.IntN(5) {
				data[random.IntN(len(data))] = byte(random.Uint32())
			}
			if _, err := textOf(t.Context(), data, 1000); err != nil && strings.Contains(err.Error(), "it is broken") {
				t.Fatalf("%v in %q", err, data)
			}
		}
	}
}

func TestContract_R14_TextIsCanceled(t *testing.T) {
	t.Parallel()
	data := plain(laughs(), "")
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	cancel(why)
	start := time.Now()
	if _, err := textOf(ctx, data, 1000); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond) // in the middle of it
	defer stop()
	start = time.Now()
	if _, err := textOf(ctx, data, 1000); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}

func FuzzText(f *testing.F) {
	f.Add(onePage("BT /F1 10 Tf [(a) -300 (b)] TJ ET"))
	f.Add(modern(f))
	f.Add(table("<0000> <0100> <0041>", 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := textOf(ctx, data, 10_000)
		if errors.Is(err, context.DeadlineExceeded) || err != nil && strings.Contains(err.Error(), "it is broken") {
			t.Fatal(err)
		}
	})
}
