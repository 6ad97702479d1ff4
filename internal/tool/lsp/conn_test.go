package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadMessage(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want, error string }{
		{"plain", "Content-Length: 2\r\n\r\n{}", "{}", ""},
		{"other headers", "content-type: x\r\ncontent-length:2\r\n\r\n{}more", "{}", ""},
		{"bare line ends", "Content-Length: 2\n\n{}", "{}", ""},
		{"empty", "Content-Length: 0\r\n\r\n", "", ""},
		{"the end", "", "", "EOF"},
		{"cut in the header", "Content-Length: 2\r\n", "", "EOF"},
		{"cut in the body", "Content-Length: 3\r\n\r\n{}", "", "unexpected EOF"},
		{"no length", "Content-Type: x\r\n\r\n{}", "", "without Content-Length"},
		{"no header", "hello\r\n\r\n{}", "", `"hello" where a header should be`},
		{"negative", "Content-Length: -1\r\n\r\n", "", `a message of " -1" bytes`},
		{"not a number", "Content-Length: x\r\n\r\n", "", `a message of " x" bytes`},
		{"too long", fmt.Sprintf("Content-Length: %d\r\n\r\n", messageBytes+1), "", "a message of"},
		{"far too long", "Content-Length: 99999999999999999999999999\r\n\r\n", "", "a message of"},
		{"a line without an end", strings.Repeat("x", 2*headerBytes), "", "a header without an end"},
		{"a header without an end", strings.Repeat("a: b\r\n", headerLines+1), "", "more than 16 lines"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := readMessage(bufio.NewReaderSize(strings.NewReader(test.in), headerBytes))
			if test.error == "" && (err != nil || string(got) != test.want) {
				t.Errorf("got %q, %v", got, err)
			}
			if test.error != "" && (err == nil || !strings.Contains(err.Error(), test.error)) {
				t.Errorf("got the error %v, want %q", err, test.error)
			}
		})
	}
}

// echo is a peer that answers a request with its parameters.
type echo struct{ noted chan string }

func (e echo) request(method string, params json.RawMessage) (any, *rpcError) {
	if method != "echo" {
		return nil, &rpcError{Code: codeMethodNotFound, Message: "no"}
	}
	return params, nil
}

func (e echo) notification(method string, params json.RawMessage) {
	e.noted <- method + string(params)
}

// pair is two connections that talk to each other.
func pair(t *testing.T) (a, b *conn, noted chan string) {
	t.Helper()
	noted = make(chan string, 10)
	readA, writeB := io.Pipe()
	readB, writeA := io.Pipe()
	a, b = newConn(writeA, readA, echo{noted}, 1<<20), newConn(writeB, readB, echo{noted}, 1<<20)
	t.Cleanup(func() {
		a.fail(io.EOF)
		b.fail(io.EOF)
		_ = errors.Join(readA.Close(), readB.Close(), writeA.Close(), writeB.Close())
	})
	return a, b, noted
}

func TestConn(t *testing.T) {
	t.Parallel()
	a, b, noted := pair(t)
	var got map[string]int
	if err := a.call(t.Context(), "echo", map[string]int{"x": 1}, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"x": 1}, got); diff != "" {
		t.Error(diff)
	}
	err := b.call(t.Context(), "other", nil, nil)
	var refusal *rpcError
	if !errors.As(err, &refusal) || refusal.Code != codeMethodNotFound || err.Error() != "other: no" {
		t.Errorf("got %v", err)
	}
	if err := a.call(t.Context(), "echo", "text", &got); err == nil {
		t.Error("a reply of another type was taken")
	}
	if err := a.notify(t.Context(), "hello", 1); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("hello1", <-noted); diff != "" {
		t.Error(diff)
	}
	why := errors.New("why")
	a.fail(why)
	a.fail(errors.New("later"))
	for _, err := range []error{a.notify(t.Context(), "hello", 1), a.call(t.Context(), "echo", 1, nil)} {
		if !errors.Is(err, why) {
			t.Errorf("got %v, want why it failed", err)
		}
	}
	if len(a.pending) > 0 {
		t.Errorf("%d requests are still waited for", len(a.pending))
	}
}

// Nobody reads, nobody answers: sending and asking end with their context, and
// leave nothing behind.
func TestConnToTheDeaf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		read, write := io.Pipe()
		quiet, never := io.Pipe()
		c := newConn(write, quiet, echo{}, 1<<20)
		for range 2 * queuedSends {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := c.call(ctx, "echo", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			cancel()
		}
		if n := len(c.pending); n > 0 {
			t.Errorf("%d requests are still waited for", n)
		}
		c.fail(io.EOF)
		_ = errors.Join(read.Close(), write.Close(), quiet.Close(), never.Close())
	})
}

// A connection fails rather than hold more than its bounds.
func TestConnBounds(t *testing.T) {
	t.Parallel()
	request := func(id string) string {
		body := `{"id":` + id + `,"method":"echo","params":1}`
		return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	const flood = 1 << 20
	note := `{"method":"x","params":"` + strings.Repeat("x", flood/4) + `"}`
	tests := []struct{ name, in, error string }{
		{"replies that are not read", strings.Repeat(request("1"), queuedReplies+2), "does not read the replies"},
		{"an endless id", request(`"` + strings.Repeat("x", idBytes) + `"`), "an id of 102 bytes"},
		{"a flood", strings.Repeat(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(note), note), 4), "without a request"},
		{"not JSON", "Content-Length: 3\r\n\r\n{]}", "invalid JSON-RPC"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			read, write := io.Pipe()
			noted := make(chan string, 4)
			c := newConn(write, strings.NewReader(test.in), echo{noted}, flood)
			<-c.failed
			if !strings.Contains(c.err.Error(), test.error) {
				t.Errorf("got %v, want %q", c.err, test.error)
			}
			_ = errors.Join(read.Close(), write.Close())
		})
	}
}
