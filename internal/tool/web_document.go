package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/pawl-dev/pawl/internal/tool/pdftext"
	"github.com/pawl-dev/pawl/internal/tool/webpage"
)

// The formats of webfetch.
const (
	formatMarkdown = "markdown"
	formatText     = "text"
	formatHTML     = "html"
)

// document is a response to webfetch.
type document struct {
	url     *url.URL
	kind    string // media type
	charset string // from the Content-Type header; may be wrong
	data    []byte
	size    int64 // of an image, which is not read; -1 if unknown
	cut     bool  // data is only the beginning
}

var (
	// textual matches media types that are text.
	textual = regexp.MustCompile(`^text/|[/+](json|xml|yaml|toml|javascript|ecmascript|typescript|sql|graphql|ndjson|jsonl|json-seq)$|^application/(x-(yaml|javascript|sh|httpd-php|tex|latex|ndjson|perl|python|ruby|subrip)|rtf|pgp-signature|x-www-form-urlencoded)$`)
	// plainType matches a well-formed media type without parameters.
	plainType = regexp.MustCompile(`^[a-z0-9]+/[a-z0-9.+_-]{1,80}$`)
)

// unknownType is the media type that servers send when they do not know it.
const unknownType = "application/octet-stream"

// readDocument reads a response that can be shown, up to FetchBytes after
// decompression.
func readDocument(resp *http.Response) (document, error) {
	doc := document{url: resp.Request.URL, size: -1}
	kind, params, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || !plainType.MatchString(kind) {
		kind = unknownType
	}
	doc.kind, doc.charset = kind, params["charset"]
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return doc, fmt.Errorf("it is packed with %q, which was not asked for", short(encoding, 40))
	}
	if doc.image() {
		doc.size = resp.ContentLength
		return doc, nil
	}
	if err := doc.unreadable(); err != nil && kind != unknownType {
		return doc, err
	}
	if doc.data, err = io.ReadAll(io.LimitReader(resp.Body, FetchBytes+1)); err != nil {
		return doc, fmt.Errorf("read page: %w", err)
	}
	if len(doc.data) > FetchBytes {
		doc.data, doc.cut = doc.data[:FetchBytes], true
	}
	switch {
	case bytes.HasPrefix(doc.data, []byte("%PDF-")):
		doc.kind = "application/pdf"
	case kind == unknownType:
		doc.kind, _, _ = strings.Cut(http.DetectContentType(doc.data), ";")
	}
	if doc.image() && !doc.cut {
		doc.size = int64(len(doc.data))
	}
	return doc, doc.unreadable()
}

// unreadable returns an error if a document of this type cannot be shown.
func (d document) unreadable() error {
	if d.image() || d.kind == "application/pdf" || textual.MatchString(d.kind) {
		return nil
	}
	return fmt.Errorf("it is %s, which cannot be shown as text", d.kind)
}

// image reports whether the document is a binary image. SVG is text.
func (d document) image() bool {
	return strings.HasPrefix(d.kind, "image/") && !textual.MatchString(d.kind)
}

// render returns the document as text in the given format.
func (d document) render(ctx context.Context, format string) (string, error) {
	switch {
	case d.image() && d.size >= 0:
		return fmt.Sprintf("(an image, %s, %d bytes)", d.kind, d.size), nil
	case d.image():
		return fmt.Sprintf("(an image, %s)", d.kind), nil
	case d.kind == "application/pdf" && d.cut:
		return "", fmt.Errorf("it is a PDF of more than %d bytes", FetchBytes)
	case d.kind == "application/pdf":
		return pdftext.Text(ctx, bytes.NewReader(d.data), int64(len(d.data)), FetchBytes)
	}
	text, err := d.decode()
	if err != nil {
		return "", err
	}
	if d.kind == "text/html" || d.kind == "application/xhtml+xml" {
		switch format {
		case formatHTML:
		case formatText:
			text, err = webpage.Text(ctx, text, d.url)
		default:
			text, err = webpage.Markdown(ctx, text, d.url)
		}
	}
	switch {
	case err != nil:
		return "", err
	case text == "":
		return "(it is empty)", nil
	case len(text) > FetchBytes: // Markdown can be longer than its HTML
		return fmt.Sprintf("%s\n\n(cut: its text is longer than %d bytes)", text[:FetchBytes], FetchBytes), nil
	}
	return text, nil
}

// decode converts the text to UTF-8. A byte order mark decides the encoding;
// without one, valid UTF-8 with a non-ASCII character is UTF-8, whatever the
// headers say; then the server's charset counts, then the page's.
func (d document) decode() (string, error) {
	data := d.data
	if d.cut { // perhaps within a character
		for range utf8.UTFMax - 1 {
			if r, n := utf8.DecodeLastRune(data); r == utf8.RuneError && n == 1 {
				data = data[:len(data)-1]
			}
		}
	}
	_, name, _ := charset.DetermineEncoding(data[:min(len(data), 1024)], mime.FormatMediaType(d.kind, map[string]string{"charset": d.charset}))
	marked := bytes.HasPrefix(data, []byte("\xfe\xff")) || bytes.HasPrefix(data, []byte("\xff\xfe"))
	if !marked && utf8.Valid(data) && (name == "utf-8" || bytes.ContainsFunc(data, func(r rune) bool { return r >= utf8.RuneSelf })) {
		name = "utf-8"
	}
	text := string(data)
	if name != "utf-8" {
		encoding, _ := charset.Lookup(name)
		decoded, err := encoding.NewDecoder().Bytes(data)
		if err != nil {
			return "", fmt.Errorf("decode %s: %w", name, err)
		}
		text = string(decoded)
	}
	if strings.ContainsRune(text, 0) {
		return "", errors.New("it is binary, which cannot be shown as text")
	}
	return text, nil
}
