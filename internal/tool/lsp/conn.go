package lsp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// message is a JSON-RPC request, notification or response.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// rpcError is a JSON-RPC error.
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return oneLine(e.Message) }

const codeMethodNotFound = -32601

// peer handles the messages of the other side. Its methods are called one at a
// time, in the order of the messages, and must not block.
type peer interface {
	request(method string, params json.RawMessage) (any, *rpcError)
	notification(method string, params json.RawMessage)
}

// conn is a JSON-RPC connection to a server. It fails as a whole, once: when
// the other side exits, breaks the protocol or does not read.
type conn struct {
	peer    peer
	sends   chan []byte
	replies chan []byte
	flood   int64        // bytes that may arrive without a request
	unasked atomic.Int64 // bytes that have arrived since the last request

	failed chan struct{}
	once   sync.Once
	err    error          // the cause; valid once failed is closed
	busy   sync.WaitGroup // the reading and the writing goroutine

	mu      sync.Mutex
	lastID  int64
	pending map[int64]chan message
}

// newConn serves the connection until it fails. The caller then closes w and
// r, which ends blocked reads and writes, and may wait for busy.
func newConn(w io.Writer, r io.Reader, p peer, flood int64) *conn {
	c := &conn{
		peer:    p,
		flood:   flood,
		sends:   make(chan []byte, queuedSends),
		replies: make(chan []byte, queuedReplies),
		failed:  make(chan struct{}),
		pending: map[int64]chan message{},
	}
	c.busy.Go(func() { c.writeAll(w) })
	c.busy.Go(func() { c.readAll(r) })
	return c
}

func (c *conn) fail(err error) {
	c.once.Do(func() {
		c.err = err
		close(c.failed)
	})
}

func (c *conn) writeAll(w io.Writer) {
	for {
		var body []byte
		select {
		case body = <-c.replies:
		case body = <-c.sends:
		case <-c.failed:
			return
		}
		head := "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n"
		if _, err := w.Write(append([]byte(head), body...)); err != nil {
			c.fail(fmt.Errorf("write: %w", err))
			return
		}
	}
}

func (c *conn) readAll(r io.Reader) {
	in := bufio.NewReaderSize(r, headerBytes)
	for {
		body, err := readMessage(in)
		if err != nil {
			c.fail(err)
			return
		}
		if c.unasked.Add(int64(len(body))) > c.flood {
			c.fail(fmt.Errorf("it sent more than %d bytes without a request", c.flood))
			return
		}
		var m message
		if err := json.Unmarshal(body, &m); err != nil {
			c.fail(fmt.Errorf("it sent invalid JSON-RPC: %w", err))
			return
		}
		c.receive(m)
	}
}

// readMessage returns the body of the next message.
func readMessage(r *bufio.Reader) ([]byte, error) {
	size := -1
	for range headerLines {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return nil, errors.New("it sent a header without an end")
		}
		if err != nil {
			return nil, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 && size < 0 {
			return nil, errors.New("it sent a header without Content-Length")
		}
		if len(line) == 0 {
			body := make([]byte, size)
			_, err := io.ReadFull(r, body)
			return body, err
		}
		name, value, ok := strings.Cut(string(line), ":")
		if !ok {
			return nil, fmt.Errorf("it sent %.40q where a header should be", line)
		}
		if !strings.EqualFold(name, "Content-Length") {
			continue
		}
		size, err = strconv.Atoi(strings.TrimSpace(value))
		if err != nil || size < 0 || size > messageBytes {
			return nil, fmt.Errorf("it announced a message of %.40q bytes", value)
		}
	}
	return nil, fmt.Errorf("it sent a header of more than %d lines", headerLines)
}

func (c *conn) receive(m message) {
	switch {
	case len(m.ID) > idBytes:
		c.fail(fmt.Errorf("it sent an id of %d bytes", len(m.ID)))
	case m.Method != "" && m.ID == nil:
		c.peer.notification(m.Method, m.Params)
	case m.Method != "":
		reply := message{JSONRPC: "2.0", ID: m.ID}
		result, refusal := c.peer.request(m.Method, m.Params)
		body, err := json.Marshal(result)
		if err != nil {
			refusal = &rpcError{Code: codeMethodNotFound, Message: err.Error()}
		}
		if reply.Error = refusal; refusal == nil {
			reply.Result = body
		}
		select {
		case c.replies <- encode(reply):
		default:
			c.fail(errors.New("it does not read the replies to its requests"))
		}
	default:
		id, err := strconv.ParseInt(string(m.ID), 10, 64)
		if err != nil {
			return // no response to one of our requests
		}
		c.mu.Lock()
		waiting := c.pending[id]
		delete(c.pending, id)
		c.mu.Unlock()
		if waiting != nil {
			waiting <- m
		}
	}
}

// notify queues a notification. An error means that it was not sent.
func (c *conn) notify(ctx context.Context, method string, params any) error {
	return c.send(ctx, nil, method, params)
}

// call sends a request and decodes its response into result.
func (c *conn) call(ctx context.Context, method string, params, result any) error {
	c.mu.Lock()
	if len(c.pending) >= pendingCalls {
		c.mu.Unlock()
		return fmt.Errorf("%s: %d requests wait for a reply already", method, pendingCalls)
	}
	c.lastID++
	id, reply := c.lastID, make(chan message, 1)
	c.pending[id] = reply
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.pending, id)
		c.mu.Unlock()
	}()

	if err := c.send(ctx, []byte(strconv.FormatInt(id, 10)), method, params); err != nil {
		return err
	}
	select {
	case m := <-reply:
		if m.Error != nil {
			return fmt.Errorf("%s: %w", method, m.Error)
		}
		if result == nil || len(m.Result) == 0 {
			return nil
		}
		if err := json.Unmarshal(m.Result, result); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		return nil
	case <-c.failed:
		return c.err
	case <-ctx.Done():
		c.drop(id)
		return context.Cause(ctx)
	}
}

// drop cancels a request at the server. If the server does not read, the
// message is dropped.
func (c *conn) drop(id int64) {
	params, _ := json.Marshal(map[string]any{"id": id}) // cannot fail
	select {
	case c.sends <- encode(message{JSONRPC: "2.0", Method: "$/cancelRequest", Params: params}):
	default:
	}
}

func (c *conn) send(ctx context.Context, id []byte, method string, params any) error {
	m := message{JSONRPC: "2.0", ID: id, Method: method}
	if params != nil {
		text, err := json.Marshal(params)
		if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		m.Params = text
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	select {
	case <-c.failed:
		return c.err
	default:
	}
	select {
	case c.sends <- encode(m):
		c.unasked.Store(0)
		return nil
	case <-c.failed:
		return c.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// encode cannot fail: all raw values in a message are valid JSON.
func encode(m message) []byte {
	body, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return body
}
