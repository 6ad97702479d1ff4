package gateway

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/script"
	"github.com/pawl-dev/pawl/internal/proc"
)

func TestMain(m *testing.M) {
	if at := os.Getenv(executorVar); at != "" {
		executor(at)
		return
	}
	// Start the keeper of this process's commands, which lives as long as the process: goleak must ignore it.
	if _, err := proc.Run(context.Background(), proc.Command{Args: []string{"true"}, Output: io.Discard}); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

const token = "a token of this test's"

// served is a gateway on a real connection, with a client.
type served struct {
	*Client
	server *http.Server
	addr   string
}

// serve starts a gateway, with the token of the tests unless c has one.
func serve(t testing.TB, c Config) *served {
	t.Helper()
	return serveAt(t, "127.0.0.1:0", c)
}

func serveAt(t testing.TB, addr string, c Config) *served {
	t.Helper()
	if c.Token == "" {
		c.Token = token
	}
	s := &served{server: Server(Handler(c))}
	s.addr = listen(t, addr, s.server)
	s.Client = connect(t, s.addr, Transport())
	return s
}

// listen serves until the test ends, and returns the address.
func listen(t testing.TB, addr string, server *http.Server) string {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return l.Addr().String()
}

func connect(t testing.TB, addr string, via *http.Transport) *Client {
	t.Cleanup(via.CloseIdleConnections)
	return &Client{URL: "http://" + addr, Token: token, HTTP: &http.Client{Transport: via}}
}

// model opens a model of the gateway.
func (s *served) model(ref string) model.Model {
	m, _ := s.Open(ref)
	return m
}

// only returns a function that opens m under every name.
func only(m model.Model) func(string) (model.Model, error) {
	return func(string) (model.Model, error) { return m, nil }
}

func openScript(t testing.TB, lines ...string) *script.Model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := script.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// stream implements model.Model with a function.
type stream func(ctx context.Context, req model.Request, yield func(model.Chunk, error) bool)

func (s stream) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) { s(ctx, req, yield) }
}

// says returns a model whose i-th reply has these chunks, followed by err if it is not nil.
func says(err error, replies ...[]model.Chunk) model.Model {
	return stream(func(_ context.Context, req model.Request, yield func(model.Chunk, error) bool) {
		for _, c := range replies[min(req.Replies, len(replies)-1)] {
			if !yield(c, nil) {
				return
			}
		}
		if err != nil {
			yield(model.Chunk{}, err)
		}
	})
}

func text(s string) model.Chunk { return model.Chunk{Kind: model.ChunkText, Text: s} }

var finish = model.Chunk{Kind: model.ChunkFinish, Finish: pawl.FinishEndTurn}

// seen holds the properties of an error that a client can see.
type seen struct {
	Text  string
	Code  pawl.Code
	Model *model.ProviderError
}

// read reads a stream to its end.
func read(ctx context.Context, m model.Model, req model.Request) (chunks []model.Chunk, err error) {
	for c, e := range m.Stream(ctx, req) {
		if e != nil {
			return chunks, e
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

// receive waits for a value.
func receive[T any](t testing.TB, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		panic(fmt.Sprintf("never came: %s", what))
	}
}
