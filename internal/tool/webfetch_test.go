package tool

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/japanese"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/egress/egresstest"
)

// served serves one thing.
type served struct {
	status int
	header map[string]string
	body   string
}

func (a served) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	for key, value := range a.header {
		w.Header().Set(key, value)
	}
	if a.header["Content-Type"] == "" {
		w.Header()["Content-Type"] = nil // or the server guesses
	}
	if a.status == 0 {
		a.status = http.StatusOK
	}
	w.WriteHeader(a.status)
	_, _ = w.Write([]byte(a.body))
}

func typed(kind, body string) served {
	return served{header: map[string]string{"Content-Type": kind}, body: body}
}

// fetched returns what webfetch makes of an answer at https://a.test/dir/page.
func fetched(t *testing.T, a http.Handler, format string) (pawl.Result, error) {
	t.Helper()
	n := egresstest.New(t)
	n.Site("a.test", a)
	return try(t.Context(), WebFetch(n.Guard()), call("", input(t, fields{"url": "https://a.test/dir/page", "format": format})))
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// samplePDF is a file with one page.
const samplePDF = "%PDF-1.4\n1 0 obj<</Pages 2 0 R>>endobj 2 0 obj<</Kids[3 0 R]>>endobj 3 0 obj<</Contents 4 0 R/Resources<</Font<</F<</Subtype/Type1>>>>>>>>endobj\n" +
	"4 0 obj<<>>stream\nBT /F 10 Tf (Hello PDF) Tj ET\nendstream endobj trailer<</Root 1 0 R>>"

func TestDocuments(t *testing.T) {
	t.Parallel()
	const page = `<title>T</title><h1>Head</h1><p>See <a href="other">this</a>.`
	tests := []struct {
		name   string
		answer served
		format string
		kind   string
		want   string
		error  string
	}{
		{"page", typed("text/html; charset=utf-8", page), "", "text/html", "Title: T\n\n# Head\n\nSee [this](https://a.test/dir/other).", ""},
		{"page as Markdown", typed("text/html", page), "markdown", "text/html", "Title: T\n\n# Head\n\nSee [this](https://a.test/dir/other).", ""},
		{"page as text", typed("text/html", page), "text", "text/html", "Title: T\n\nHead\nSee this.", ""},
		{"page as HTML", typed("text/html", page), "html", "text/html", page, ""},
		{"XHTML", typed("application/xhtml+xml", page), "", "application/xhtml+xml", "Title: T\n\n# Head\n\nSee [this](https://a.test/dir/other).", ""},
		{"page without type", typed("", "<!doctype html>"+page), "text", "text/html", "Title: T\n\nHead\nSee this.", ""},
		{"text", typed("text/plain", "a <b>\n"), "", "text/plain", "a <b>", ""},
		{"text without type", typed("", "plain"), "", "text/plain", "plain", ""},
		{"text with a wrong type", typed("application/octet-stream", "plain"), "", "text/plain", "plain", ""},
		{"text with a broken type", typed("text/<plain>; x", "plain"), "", "text/plain", "plain", ""},
		{"Markdown", typed("text/markdown", "# A"), "text", "text/markdown", "# A", ""},
		{"JSON", typed("application/json", `{"a":[1, 2]}`), "", "application/json", `{"a":[1, 2]}`, ""},
		{"JSON of a kind", typed("application/problem+json", `{}`), "", "application/problem+json", `{}`, ""},
		{"XML", typed("application/xml", `<a/>`), "", "application/xml", `<a/>`, ""},
		{"a picture made of text", typed("image/svg+xml", `<svg/>`), "", "image/svg+xml", `<svg/>`, ""},
		{"JavaScript", typed("application/javascript", `1`), "", "application/javascript", `1`, ""},
		{"YAML", typed("application/x-yaml", `a: 1`), "", "application/x-yaml", `a: 1`, ""},
		{"nothing", typed("text/plain", ""), "", "text/plain", "(it is empty)", ""},
		{"nothing but scripts", typed("text/html", "<script>1</script>"), "", "text/html", "(it is empty)", ""},
		{"PDF", typed("application/pdf", samplePDF), "", "application/pdf", "Hello PDF", ""},
		{"PDF with a wrong type", typed("application/octet-stream", samplePDF), "", "application/pdf", "Hello PDF", ""},
		{"no PDF", typed("application/pdf", "<html>"), "", "", "", "read PDF: it is not a PDF"},
		{"image", typed("image/png", "\x89PNG\r\n\x1a\n\x00"), "", "image/png", "(an image, image/png, 9 bytes)", ""},
		{"image without type", typed("", "\x89PNG\r\n\x1a\n\x00"), "", "image/png", "(an image, image/png, 9 bytes)", ""},
		{"archive", typed("application/zip", "PK\x03\x04"), "", "", "", "it is application/zip, which cannot be shown as text"},
		{"archive without type", typed("", "PK\x03\x04"), "", "", "", "it is application/zip, which cannot be shown"},
		{"video", typed("video/mp4", "x"), "", "", "", "it is video/mp4, which"},
		{"program", typed("application/octet-stream", "\x7fELF\x00\x01"), "", "", "", "it is application/octet-stream, which"},
		{"binary that is called text", typed("text/plain", "a\x00b"), "", "", "", "it is binary"},
		{"packed", served{header: map[string]string{"Content-Type": "text/plain", "Content-Encoding": "gzip"}, body: zipped(t, "packed")}, "", "text/plain", "packed", ""},
		{"packed in another way", served{header: map[string]string{"Content-Type": "text/plain", "Content-Encoding": "br"}, body: "x"}, "", "", "", `it is packed with "br"`},
		{"packed twice", served{header: map[string]string{"Content-Type": "text/plain", "Content-Encoding": "gzip, gzip"}, body: "x"}, "", "", "", `it is packed with "gzip, gzip"`},
		{"badly packed", served{header: map[string]string{"Content-Type": "text/plain", "Content-Encoding": "gzip"}, body: "x"}, "", "", "", "read page: "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := fetched(t, test.answer, test.format)
			checkError(t, err, test.error)
			if err != nil {
				return
			}
			head, source, text := untrusted(t, got.Content)
			if diff := cmp.Diff(test.want, text); diff != "" {
				t.Error(diff)
			}
			if want := "https://a.test/dir/page: 200 OK, " + test.kind; head != want || source != "https://a.test/dir/page" || got.IsError {
				t.Errorf("%q, %q, %v", head, source, got.IsError)
			}
			if got.Meta["type"] != test.kind || got.Meta["status"] != "200" || got.Meta["url"] != "https://a.test/dir/page" {
				t.Errorf("meta %v", got.Meta)
			}
		})
	}
}

func TestCharsets(t *testing.T) {
	t.Parallel()
	sjis, err := japanese.ShiftJIS.NewEncoder().String("日本語")
	if err != nil {
		t.Fatal(err)
	}
	eucjp, err := japanese.EUCJP.NewEncoder().String("日本語のページ")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, kind, body, want string }{
		{"UTF-8", "text/plain; charset=utf-8", "größe", "größe"},
		{"UTF-8, unsaid", "text/plain", "größe", "größe"},
		{"UTF-8 with a mark", "text/plain", "\xef\xbb\xbfgröße", "größe"},
		{"Latin-1", "text/plain; charset=iso-8859-1", "gr\xf6\xdfe", "größe"},
		{"Latin-1, unsaid", "text/plain", "gr\xf6\xdfe", "größe"},
		{"Shift JIS", "text/plain; charset=shift_jis", sjis, "日本語"},
		{"Shift JIS by its page", "text/html", "<meta charset=shift_jis><p>" + sjis, "日本語"},
		{"EUC-JP, the old way", "text/html", `<meta http-equiv="Content-Type" content="text/html; charset=euc-jp"><p>` + eucjp, "日本語のページ"},
		{"the server wins over the page", "text/html; charset=shift_jis", "<meta charset=iso-8859-1><p>" + sjis, "日本語"},
		{"what is UTF-8 wins over the server", "text/html; charset=iso-8859-1", "<meta charset=utf-8><p>größe", "größe"},
		{"what is UTF-8 wins over the page", "text/html", "<meta charset=iso-8859-1><p>größe", "größe"},
		{"UTF-16", "text/plain", "\xff\xfeg\x00r\x00\xf6\x00", "grö"},
		{"UTF-16, the other way", "text/plain; charset=utf-8", "\xfe\xff\x00g\x00r\x00\xf6", "grö"},
		{"UTF-16 without a mark", "text/plain; charset=utf-16le", "g\x00r\x00\xf6\x00", "grö"},
		{"7 bits", "text/plain; charset=iso-2022-jp", "\x1b$BF|K\\8l\x1b(B", "日本語"},
		{"unknown", "text/plain; charset=klingon", "gr\xf6\xdfe", "größe"},
		{"broken", "text/plain; charset=utf-8", "gr\xf6\xdfe", "gr\uFFFDe"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := fetched(t, typed(test.kind, test.body), "")
			checkError(t, err, "")
			if _, _, text := untrusted(t, got.Content); text != test.want {
				t.Errorf("got %q", text)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		answer served
		head   string
		want   string
	}{
		{"missing", served{404, map[string]string{"Content-Type": "text/html"}, "<h1>Not here</h1>"}, "404 Not Found, text/html", "# Not here"},
		{"down", served{503, nil, strings.Repeat("x", 10_000)}, "503 Service Unavailable, text/plain", strings.Repeat("x", faultChars) + "…"},
		{"forbidden, with an archive", served{403, map[string]string{"Content-Type": "application/zip"}, "PK"}, "403 Forbidden, application/zip", "(it is application/zip, which cannot be shown as text)"},
		{"odd", served{599, nil, ""}, "599 , text/plain", "(it is empty)"},
		{"a redirect to nowhere", served{302, nil, "x"}, "302 Found, text/plain", "x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := fetched(t, test.answer, "")
			checkError(t, err, "")
			head, _, text := untrusted(t, got.Content)
			if head != "https://a.test/dir/page: "+test.head || text != test.want || !got.IsError {
				t.Errorf("%q, %q, %v", head, short(text, 600), got.IsError)
			}
		})
	}
}

func TestWebFetchInput(t *testing.T) {
	t.Parallel()
	tool := WebFetch(egresstest.New(t).Guard())
	for in, want := range map[string]string{
		`{"url":"https://Example.TEST:443/x"}`:             "example.test",
		`{"url":"http://example.test"}`:                    "example.test",
		`{"url":"http://example.test:8080/"}`:              "example.test:8080",
		`{"url":"https://аpple.test/"}`:                    "xn--pple-43d.test", // a Cyrillic а
		`{"url":"http://[::ffff:127.0.0.1]/"}`:             "127.0.0.1",
		`{"url":"http://[2606:2800::1]/","format":"text"}`: "[2606:2800::1]",
	} {
		got, err := tool.Access(t.Context(), call("", in))
		if diff := cmp.Diff([]pawl.Access{{Kind: pawl.AccessNet, Target: want}}, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", in, err, diff)
		}
	}
	for in, want := range map[string]string{
		`{"url":"example.test"}`:                         "only http and https",
		`{"url":"file:///etc/passwd"}`:                   "only http and https",
		`{"url":"https://u:secret@example.test"}`:        "a user name or password",
		`{"url":"https://0x7f.1/"}`:                      "an unusual spelling of an IP address",
		`{"url":""}`:                                     "only http and https",
		`{"url":"https://a.test","format":"pdf"}`:        "format must be markdown, text or html",
		`{"url":"https://a.test","timeout":-1}`:          "timeout must be between 0 and 120 seconds",
		`{"url":"https://a.test","prompt":"summarize"}`:  "prompt",
		`{"url":"https://a.test","timeout":99999999999}`: "timeout must be between",
	} {
		for _, f := range []func() error{
			func() error { _, err := tool.Access(t.Context(), call("", in)); return err },
			func() error { _, err := tool.Run(t.Context(), call("", in)); return err },
		} {
			checkError(t, f(), want)
		}
	}
}

func TestWebFetchRequest(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Site("a.test", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s %s %v", r.Method, r.URL, r.Host, r.Header)
	}))
	got, err := try(t.Context(), WebFetch(n.Guard()), call("", `{"url":"http://a.test/x y?q=a%20b#part"}`))
	checkError(t, err, "")
	_, _, text := untrusted(t, got.Content)
	want := "GET /x%20y?q=a%20b a.test map[Accept:[text/markdown, text/html, text/plain;q=0.9, */*;q=0.5] Accept-Encoding:[gzip] Connection:[close] User-Agent:[pawl]]"
	if diff := cmp.Diff(want, text); diff != "" {
		t.Error(diff)
	}
}
