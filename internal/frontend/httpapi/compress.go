package httpapi

import (
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"

	"github.com/pawl-dev/pawl/internal/api"
)

const (
	minCompressed = 1 << 10  // bytes; smaller responses are not compressed
	maxPadding    = 32       // bytes that are added to a compressed response
	paddedPart    = 64 << 10 // bytes whose checksum determines the padding
)

// compress wraps a handler: it compresses text with gzip. The padding depends on the
// contents, so that the size does not tell whether one part of a response repeats
// another (the BREACH attack).
func compress(h http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(
		gzhttp.EnableZstd(false), gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.MinSize(minCompressed),
		gzhttp.ContentTypeFilter(isText), gzhttp.RandomJitter(maxPadding, paddedPart, false))
	if err != nil {
		panic(err) // the options are constant
	}
	return wrap(h)
}

// compresses reports whether the response of a request may be compressed. Secrets are not,
// because they share the response with names that others may have chosen. Event streams
// are not: each would need a compressor's memory as long as it is open, and its own copy
// of events that are encoded once for all.
func (s *Server) compresses(r *http.Request) bool {
	route := s.routes[s.pattern(r)]
	return route.OutForm != api.FormStream && route.OutForm != api.FormBytes && route.Name != "createLink" && manageHandlers[route.Name] == nil && !strings.HasPrefix(r.URL.Path, signInPath)
}

// isText reports whether a media type is one of text that the server sends.
func isText(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	switch kind {
	case string(api.FormJSON), string(api.FormLines), string(api.FormHTML), string(api.FormMarkdown), string(api.FormStatement), "text/plain":
		return true
	}
	return false
}
