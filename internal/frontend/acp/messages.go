package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// messageReader reads the editor's messages. It answers what is not a message with an
// error, and skips messages that are too long: the SDK would ignore the former
// silently and close the connection for the latter.
type messageReader struct {
	in           *bufio.Reader
	reject       func(code int, why string) error // sends an error response
	afterMessage func(line []byte)                // called with a message before the next one is read
	last         []byte                           // the message that was returned last
	rest         []byte
}

func (l *messageReader) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		if l.last != nil {
			l.afterMessage(l.last)
			l.last = nil
		}
		line, err := l.next()
		if err != nil {
			return 0, err
		}
		l.last, l.rest = line, line
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next returns the next line that is a message.
func (l *messageReader) next() ([]byte, error) {
	for {
		line, long, err := l.readLine()
		switch {
		case err != nil:
			return nil, err
		case long:
			err = l.reject(-32600, fmt.Sprintf("the message is larger than %d bytes", maxLine))
		case len(bytes.TrimSpace(line)) == 0:
			continue
		case !json.Valid(line):
			err = l.reject(-32700, "invalid JSON: write one message per line")
		case bytes.TrimSpace(line)[0] != '{':
			err = l.reject(-32600, "a message must be a JSON object")
		default:
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// readLine reads the next line. A line that is too long is read to its end and discarded.
func (l *messageReader) readLine() (line []byte, long bool, err error) {
	for {
		piece, err := l.in.ReadSlice('\n')
		if len(line)+len(piece) > maxLine {
			line, long = nil, true
		}
		if !long {
			line = append(line, piece...)
		}
		switch {
		case err == nil:
			return line, long, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return append(line, '\n'), long, nil // the last line has no newline
		default:
			return nil, long, err
		}
	}
}

// messageWriter writes pawl's messages.
type messageWriter struct {
	mu       sync.Mutex
	out      io.Writer
	watchers map[string]chan struct{}
}

// Write writes one message.
func (m *messageWriter) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.out.Write(p)
	for mark, seen := range m.watchers {
		if bytes.Contains(p, []byte(mark)) {
			close(seen)
			delete(m.watchers, mark)
		}
	}
	return n, err
}

// written returns a channel that is closed once a message containing mark has been
// written.
func (m *messageWriter) written(mark string) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := make(chan struct{})
	m.watchers[mark] = seen
	return seen
}

// reject sends an error response with a null id.
func (m *messageWriter) reject(code int, why string) error {
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": why}})
	if err != nil {
		return err
	}
	_, err = m.Write(append(text, '\n'))
	return err
}
