// Package protocol contains what the clients of all wire protocols share: server-sent events, HTTP requests and
// error classification.
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

// maxLine bounds a line of a stream, in bytes. The largest are images.
const maxLine = 16 << 20

// Event is a server-sent event. Its bytes are valid until the next one is read.
type Event struct {
	Name []byte // event field; may be empty
	Data []byte // data fields, joined by line feeds
}

// Reader reads server-sent events. It does not allocate per event once its buffers have grown.
type Reader struct {
	r          *bufio.Reader
	line       []byte
	name, data []byte
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 16<<10)} }

// Next returns the next event with data, or io.EOF at the end of the stream. It does not return an event with
// incomplete data.
func (r *Reader) Next() (Event, error) {
	r.name, r.data = r.name[:0], r.data[:0]
	hasData := false
	for {
		line, err := r.readLine()
		switch {
		case errors.Is(err, io.EOF) && hasData && len(line) == 0:
			return Event{r.name, r.data}, nil // some servers leave out the last blank line
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
		default: // id, retry and comments are ignored
		}
	}
}

// readLine returns the next line without its LF or CR LF. At the end of the stream it returns the rest with
// io.EOF.
func (r *Reader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		piece, err := r.r.ReadSlice('\n')
		if err == nil && len(r.line) == 0 {
			return trimEnd(piece), nil // the common case: no copy
		}
		r.line = append(r.line, piece...)
		switch {
		case err == nil:
			return trimEnd(r.line), nil
		case len(r.line) > maxLine:
			return nil, &model.ProviderError{Kind: pawl.ErrorMalformed, Message: fmt.Sprintf("a line of the stream is longer than %d bytes", maxLine)}
		case !errors.Is(err, bufio.ErrBufferFull):
			return r.line, err
		}
	}
}

func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
}
