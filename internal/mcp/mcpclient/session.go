package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// session is one connection to a server.
type session struct {
	client  *sdk.ClientSession
	program *program // nil for a server on the network
	cut     func()   // cancels all requests and kills the program
	meter   meter
	changed chan struct{}
	broken  chan struct{} // closed when the connection must end because of an error
	closed  chan struct{} // closed when the connection has failed or ended
	err     error         // the cause; valid once closed is closed

	mu   sync.Mutex
	why  error // the error because of which it must end
	asks int   // forms that the server has sent
}

var (
	errStart = errors.New("no answer in time")
	errEnded = errors.New("the server was stopped")
)

// oldProtocol is offered to a server that did not accept the newest version:
// some do not answer versions that they do not know.
const oldProtocol = "2025-11-25"

// connect connects to the server and fetches its lists. ctx is for the whole
// lifetime of the connection.
func (l *link) connect(ctx context.Context, failures int) (*session, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &session{changed: make(chan struct{}, 1), broken: make(chan struct{}), closed: make(chan struct{}), cut: func() { cancel(errEnded) }}
	s.meter.onViolation = s.fail
	late := time.AfterFunc(l.config.times.start, func() { cancel(errStart) })
	defer late.Stop()
	to, err := l.dial(ctx, s)
	if err != nil {
		s.cut()
		return nil, err
	}
	var options *sdk.ClientSessionOptions
	if failures%2 == 1 {
		options = &sdk.ClientSessionOptions{ProtocolVersion: oldProtocol}
	}
	s.client, err = l.client(s).Connect(ctx, to, options)
	if err != nil {
		err = l.explain(ctx, s, err)
		s.cut()
		if to.conn != nil {
			_ = to.conn.Close()
		}
		l.forget(s)
		return nil, err
	}
	go func() {
		s.err = s.client.Wait()
		close(s.closed)
	}()
	err = l.look(ctx, s)
	if err == nil && !late.Stop() {
		err = errStart
	}
	if err != nil {
		err = l.explain(ctx, s, err)
		s.end()
		l.forget(s)
		return nil, err
	}
	return s, nil
}

// kept is a transport whose connection can be closed even if the SDK has lost
// it.
type kept struct {
	sdk.Transport
	conn sdk.Connection
}

func (k *kept) Connect(ctx context.Context) (sdk.Connection, error) {
	var err error
	k.conn, err = k.Transport.Connect(ctx)
	return k.conn, err
}

// dial starts the program, or prepares the network transport.
func (l *link) dial(ctx context.Context, s *session) (*kept, error) {
	m, stop := &s.meter, s.cut
	if l.server.Transport == Stdio {
		p, err := l.config.startProgram(ctx, l.dir, l.server)
		if err != nil {
			return nil, err
		}
		s.program, s.cut = p, func() { stop(); p.end() }
		l.mu.Lock()
		l.program = p
		l.mu.Unlock()
		return &kept{Transport: p.transport(m)}, nil
	}
	a, err := l.server.address()
	if err != nil {
		return nil, err
	}
	// Not canceled with ctx: at the end, the server gets a goodbye first.
	cut, end := context.WithCancel(context.WithoutCancel(ctx))
	s.cut = func() { stop(); end() }
	client := l.config.client(cut, l.server, a, m)
	if l.server.Transport == SSE {
		client.Transport = bearer(client.Transport, l.tokens(a))
		return &kept{Transport: &sdk.SSEClientTransport{Endpoint: a.url.String(), HTTPClient: client, MaxEventSize: messageBytes}}, nil
	}
	return &kept{Transport: &sdk.StreamableClientTransport{
		Endpoint: a.url.String(), HTTPClient: client, MaxEventSize: messageBytes, OAuthHandler: l.tokens(a),
	}}, nil
}

// client handles the requests of a server. The only client capability that it
// offers is forms for the user.
func (l *link) client(s *session) *sdk.Client {
	changed := func() {
		select {
		case s.changed <- struct{}{}:
		default:
		}
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "pawl", Version: "1"}, &sdk.ClientOptions{
		Logger:       slog.New(slog.DiscardHandler),
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}}},
		ElicitationHandler: func(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return l.elicit(ctx, s, req.Params)
		},
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { changed() },
		PromptListChangedHandler:    func(context.Context, *sdk.PromptListChangedRequest) { changed() },
		ResourceListChangedHandler:  func(context.Context, *sdk.ResourceListChangedRequest) { changed() },
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) { l.progress(req.Params) },
	})
	c.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method == "roots/list" || method == "sampling/createMessage" {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "pawl does not offer " + method}
			}
			return next(ctx, method, req)
		}
	})
	return c
}

// attend keeps the lists up to date until the connection or ctx ends.
func (s *session) attend(ctx context.Context, l *link) {
	for {
		select {
		case <-s.closed:
			return
		case <-s.broken:
			return
		case <-ctx.Done():
			return
		case <-s.changed:
		}
		if err := l.lookAgain(ctx, s); err != nil {
			s.fail(err)
			return
		}
		l.set(Ready, "")
		select { // limit the rate of updates
		case <-time.After(l.config.times.refresh):
		case <-s.closed:
		case <-s.broken:
		case <-ctx.Done():
		}
	}
}

// lookAgain is look with the timeout of a start.
func (l *link) lookAgain(ctx context.Context, s *session) error {
	ctx, cancel := context.WithTimeoutCause(ctx, l.config.times.start, errStart)
	defer cancel()
	err := l.look(ctx, s)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// fail ends the connection because of an error.
func (s *session) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why == nil {
		s.why = err
		close(s.broken)
		go s.cut()
	}
}

// end closes the connection and waits until all its processes have ended.
func (s *session) end() {
	done := make(chan struct{})
	go func() {
		_ = s.client.Close() // the error is already known, or too late
		close(done)
	}()
	grace := time.NewTimer(endGrace)
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C:
	}
	if p := s.program; p != nil {
		select { // its input is closed: it may exit by itself
		case <-p.process.Done():
		case <-grace.C:
		}
	}
	s.cut()
	<-done
	<-s.closed
}

// reason returns why the connection has ended.
func (s *session) reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why != nil {
		return s.why
	}
	return s.exit(s.err)
}

// exit returns how the program has ended, if that is the most useful error.
func (s *session) exit(err error) error {
	if fault := s.meter.violation(); fault != nil {
		return fault
	}
	switch {
	case s.program == nil && err == nil:
		return errors.New("the server closed the connection")
	case s.program == nil || err != nil && !pipeEnded(err):
		return err
	}
	select {
	case <-s.program.process.Done():
	case <-time.After(endGrace):
		return errors.New("the server closed its output")
	}
	exit, _ := s.program.process.Wait()
	how := fmt.Sprintf("the server exited with code %d", exit.Code)
	if exit.Signal != "" {
		how = fmt.Sprintf("the server was killed (%s)", exit.Signal)
	}
	if last := s.program.stderr.last(); last != "" {
		how += ": " + last
	}
	return errors.New(how)
}

// pipeEnded reports whether an error only says that the other end is closed.
// The SDK preserves only the text of such errors.
func pipeEnded(err error) bool {
	text := err.Error()
	return strings.HasSuffix(text, io.EOF.Error()) || strings.HasSuffix(text, os.ErrClosed.Error()) || strings.HasSuffix(text, syscall.EPIPE.Error())
}

// explain returns why the connection could not be made.
func (l *link) explain(ctx context.Context, s *session, err error) error {
	switch {
	case errors.Is(err, errLogin):
		return errLogin
	case s.meter.violation() != nil:
		return s.meter.violation()
	case ctx.Err() != nil:
		if last := s.lastWords(); last != "" {
			return fmt.Errorf("%w: %s", context.Cause(ctx), last)
		}
		return context.Cause(ctx)
	}
	return s.exit(err)
}

func (s *session) lastWords() string {
	if s.program == nil {
		return ""
	}
	return s.program.stderr.last()
}
