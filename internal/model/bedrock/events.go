package bedrock

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
)

// contentType is the content type of a framed response.
const contentType = "application/vnd.amazon.eventstream"

// events converts frames to server-sent events.
type events struct {
	body    io.ReadCloser
	frames  *bufio.Reader
	decoder *eventstream.Decoder
	payload []byte // buffer of the decoder, reused for each frame
	unread  bytes.Buffer
}

func newEvents(body io.ReadCloser) *events {
	return &events{body: body, frames: bufio.NewReader(body), decoder: eventstream.NewDecoder()}
}

// Close implements [io.Closer].
func (e *events) Close() error { return e.body.Close() }

// Read implements [io.Reader].
func (e *events) Read(p []byte) (int, error) {
	for e.unread.Len() == 0 {
		if err := e.next(); err != nil {
			return 0, err
		}
	}
	return e.unread.Read(p)
}

// next reads a frame.
func (e *events) next() error {
	if _, err := e.frames.Peek(1); err != nil {
		return err // io.EOF between two frames
	}
	frame, err := e.decoder.Decode(e.frames, e.payload[:0])
	if err != nil {
		return fmt.Errorf("read frame: %w", err)
	}
	e.payload = frame.Payload
	data, err := eventOf(frame)
	if err != nil {
		return fmt.Errorf("read frame: %w", err)
	}
	if data != nil {
		e.unread.WriteString("data: ")
		e.unread.Write(data)
		e.unread.WriteString("\n\n")
	}
	return nil
}

// eventOf returns the event in a frame, or nil.
func eventOf(frame eventstream.Message) ([]byte, error) {
	header := func(name string) string {
		if v := frame.Headers.Get(name); v != nil {
			return v.String()
		}
		return ""
	}
	switch header(":message-type") {
	case "exception":
		var said struct {
			Message string `json:"message"`
		}
		if err := json.Unmarshal(frame.Payload, &said); err != nil {
			said.Message = string(frame.Payload)
		}
		return failure(header(":exception-type"), said.Message)
	case "error":
		return failure(header(":error-code"), header(":error-message"))
	}
	var chunk struct {
		Bytes []byte `json:"bytes"`
	}
	if header(":event-type") != "chunk" {
		return nil, nil
	}
	err := json.Unmarshal(frame.Payload, &chunk)
	return chunk.Bytes, err
}

// failures maps AWS exceptions to Anthropic's error types.
var failures = map[string]string{
	"throttlingException":         "rate_limit_error",
	"serviceUnavailableException": "overloaded_error",
	"validationException":         "invalid_request_error",
}

// failure encodes an exception as an Anthropic error event.
func failure(kind, message string) ([]byte, error) {
	known, ok := failures[kind]
	if !ok {
		known = "api_error"
	}
	return json.Marshal(map[string]any{"type": "error", "error": map[string]string{"type": known, "message": kind + ": " + message}})
}
