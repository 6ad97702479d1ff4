// Package protocol is what the clients of the providers' protocols share: one
// reader of server-sent events, one way to send a request, one reading of errors.
package protocol

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// maxLine bounds a line of a stream. An image in a reply is the largest thing that comes in one.
const maxLine = 16 << 20

// Event is one server-sent event. Its bytes are the reader's own and hold until
// the next one is read.
type Event struct {
	Name []byte // of its event field; empty if it has none
	Data []byte // of its data fields, joined by line feeds
}

// Reader reads server-sent events. It allocates nothing per event once its
// buffers have grown.
type Reader struct {
	r          *bufio.Reader
	line       []byte
	name, data []byte
}

// NewReader returns a reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 16<<10)} }

// Next returns the next event that has data, or io.EOF at the stream's end. An
// event that the stream's end cut off before its data was whole is not returned.
func (r *Reader) Next() (Event, error) {
	r.name, r.data = r.name[:0], r.data[:0]
	hasData := false
	for {
		line, err := r.readLine()
		switch {
		case errors.Is(err, io.EOF) && hasData && len(line) == 0:
			return Event{r.name, r.data}, nil // the last blank line is missing: some servers leave it out
		case err != nil:
			return Event{}, err
		case len(line) == 0 && hasData:
			return Event{r.name, r.data}, nil
		case len(line) == 0:
			r.name = r.name[:0]
			continue
		}
		field, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(field) {
		case "event":
			r.name = append(r.name[:0], value...)
		case "data":
			if hasData {
				r.data = append(r.data, '\n')
			}
			r.data = append(r.data, value...)
			hasData = true
		default: // id, retry and comments mean nothing here
		}
	}
}

// readLine returns the next line without its end, LF or CR LF. At the stream's
// end it returns what is left with io.EOF.
func (r *Reader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		piece, err := r.r.ReadSlice('\n')
		if err == nil && len(r.line) == 0 {
			return trimEnd(piece), nil // the usual case: no copy
		}
		r.line = append(r.line, piece...)
		switch {
		case err == nil:
			return trimEnd(r.line), nil
		case len(r.line) > maxLine:
			return nil, &model.ProviderError{Kind: pawl.ErrorMalformed, Message: fmt.Sprintf("a line of the stream has more than %d bytes", maxLine)}
		case !errors.Is(err, bufio.ErrBufferFull):
			return r.line, err
		}
	}
}

func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
}
