package webpage

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hostile are pages that ask for endless work or memory. They are smaller than
// a page may be, to save time.
func hostile() map[string]string {
	const size = 100_000
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	var fonts strings.Builder
	for i := range 400 {
		fmt.Fprintf(&fonts, "<b id=%d><i id=%d><code id=%d>", i, i, i)
	}
	return map[string]string{
		"depth":                   strings.Repeat("<div>", 100_000) + "x" + strings.Repeat("</div>", 100_000),
		"depth of quotes":         strings.Repeat("<blockquote>", 5_000) + fill("x<br>"),
		"depth of lists":          strings.Repeat("<ul><li>", 5_000) + fill("x<br>"),
		"depth of tables":         fill("<table><tr><td>"),
		"depth of links":          fill("<a href=x>x"),
		"depth of emphasis":       fill("<b><i>"),
		"depth of code":           fill("<pre><code>"),
		"depth of headings":       fill("<h1>x<h2>"),
		"copies of emphasis":      "<p>" + fonts.String() + "</p>" + fill("<p>x</p>"),
		"lines in a quote":        "<pre>" + strings.Repeat("<blockquote>", 20) + fill("\n"),
		"lines of code in a list": strings.Repeat("<ol start=999999><li>", 20) + "<pre>" + fill("\n"),
		"a wide table":            "<table><tr>" + strings.Repeat("<td>", 40_000) + strings.Repeat("<tr>", 40_000),
		"a wide cell":             "<table><tr><td>" + strings.Repeat("x", 1<<20) + strings.Repeat("<tr><td>y", 10_000),
		"rows of links":           fill("<tr><td><a href=/x>x</a></td></tr>"),
		"end tags":                strings.Repeat("<b><p>", 90) + fill("</i>"),
		"attributes":              "<p " + fill("a=b ") + ">x",
		"one attribute":           `<a href="` + fill("x") + `">x</a>`,
		"styles":                  fill(`<b style="display : : : :">`),
		"no end of a tag":         fill("<a "),
		"no end of a comment":     "<!--" + fill("<!-- -"),
		"no end of a script":      "<script>" + fill("</scrip"),
		"entities":                fill("&lt;&NotEqualTilde;"),
		"brackets":                fill("["),
		"backquotes":              "<code>" + fill("`"),
		"blanks":                  fill(" \n"),
		"blanks in elements":      fill("<b> </b>"),
		"empty elements":          fill("<p></p>"),
		"lists":                   fill("<ul></ul>"),
		"list items without list": fill("<li>x"),
		"titles":                  fill("<title>x</title>"),
		"bases":                   fill("<base href=/x/>"),
		"relative links":          "<base href=https://a.test/" + strings.Repeat("x/", 500) + ">" + fill("<a href=../y>y</a>"),
		"hidden":                  fill("<p hidden>x"),
		"zero bytes":              fill("\x00<\x00b>"),
		"broken characters":       fill("\xff\xfe<p>\xc3"),
	}
}

// Whatever a page is made of, it ends soon and within bounds.
func TestHostilePages(t *testing.T) { //nolint:paralleltest // it measures memory
	for name, source := range hostile() {
		t.Run(name, func(t *testing.T) {
			for form, convert := range map[string]func() (string, error){
				"Markdown": func() (string, error) { return Markdown(t.Context(), source, address(t)) },
				"text":     func() (string, error) { return Text(t.Context(), source, address(t)) },
			} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				start := time.Now()
				got, err := convert()
				took := time.Since(start)
				runtime.ReadMemStats(&after)
				allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
				t.Logf("%s: %d bytes to %d in %s, %d MiB allocated in all", form, len(source), len(got), took.Round(time.Millisecond), allocated)
				if err != nil {
					t.Error(err)
				}
				if took > 2*time.Minute || len(got) > 20<<20 || allocated > 1<<10 {
					t.Errorf("%s: %d bytes in %s, %d MiB", form, len(got), took, allocated)
				}
			}
		})
	}
}

func TestContract_R14_ConversionIsCanceled(t *testing.T) {
	t.Parallel()
	source := hostile()["copies of emphasis"]
	why := errors.New("why")
	convert := map[string]func(context.Context) (string, error){
		"Markdown": func(ctx context.Context) (string, error) { return Markdown(ctx, source, address(t)) },
		"text":     func(ctx context.Context) (string, error) { return Text(ctx, source, address(t)) },
	}
	for form, f := range convert {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		if got, err := f(ctx); !errors.Is(err, why) || got != "" {
			t.Errorf("%s: %d bytes, %v", form, len(got), err)
		}
	}
	for _, after := range []time.Duration{time.Millisecond, 50 * time.Millisecond, 200 * time.Millisecond} { // in the middle of it
		ctx, cancel := context.WithTimeout(t.Context(), after)
		start := time.Now()
		_, err := Markdown(ctx, source, address(t))
		if took := time.Since(start); took > after+30*time.Second {
			t.Errorf("canceled after %s, it took %s (%v)", after, took, err)
		}
		cancel()
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add("<table><tr><td>a<p hidden>b<ul><li><pre><code>x</table><a href=x><b>")
	f.Fuzz(func(t *testing.T, source string) {
		if _, err := Markdown(t.Context(), source, address(t)); err != nil {
			t.Error(err)
		}
		if _, err := Text(t.Context(), source, address(t)); err != nil {
			t.Error(err)
		}
	})
}
