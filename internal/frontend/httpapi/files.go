package httpapi

import (
	"strconv"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
)

// getDiff returns what a session changed in files.
func getDiff(_ *response, r *request) (any, error) {
	o := pawl.DiffOptions{Path: r.query.Get("path")}
	if text := r.query.Get("turn"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fault.New(pawl.ErrInvalid, "turn must be a positive integer")
		}
		o.Turn = n
	}
	if text := r.query.Get("working_tree"); text != "" {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fault.New(pawl.ErrInvalid, "working_tree must be true or false")
		}
		o.WorkingTree = on
	}
	return r.service.Diff(r.Context(), r.id, o)
}

func listDirectory(_ *response, r *request) (any, error) {
	entries, more, err := r.service.ListDir(r.Context(), r.id, r.query.Get("path"))
	return api.Listing{Entries: orEmpty(entries), More: more}, err
}

// readFile writes a part of a file. It is untrusted: its type is one that no browser runs, and browsers
// save it instead of showing it.
func readFile(w *response, r *request) (any, error) {
	offset, err := r.bytes("offset")
	if err != nil {
		return nil, err
	}
	length, err := r.bytes("length")
	if err != nil {
		return nil, err
	}
	part, size, err := r.service.ReadFile(r.Context(), r.id, r.query.Get("path"), offset, length)
	if err != nil {
		return nil, err
	}
	w.Header().Set(api.FileSizeHeader, strconv.FormatInt(size, 10))
	w.Header().Set("Content-Length", strconv.Itoa(len(part.Data)))
	writeDownloadHeader(w, safeType(part.MediaType))
	_, _ = w.Write(part.Data) // the client may have disconnected
	return nil, errWritten
}

// safeType returns the media type of a file if browsers run nothing of it, else that of unknown bytes.
func safeType(kind string) string {
	switch kind {
	case "text/plain; charset=utf-8", "image/png", "image/jpeg", "image/gif", "image/webp":
		return kind
	}
	return string(api.FormBytes)
}

// bytes returns a number of bytes in the query; 0 if it has none.
func (r *request) bytes(name string) (int64, error) {
	text := r.query.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fault.New(pawl.ErrInvalid, "%s must be a number of bytes", name)
	}
	return n, nil
}
