package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// server is a running language server.
type server struct {
	spec    Spec
	dir     string // the workspace
	root    string // the project's directory within the workspace
	process *proc.Process
	pid     any    // pawl's process id in the server's namespace; nil if it has none there
	leave   func() // leaves the sandbox
	conn    *conn
	ended   chan struct{} // closed when all its processes have ended
	err     error         // the cause; valid once ended is closed

	// turn is a lock that the sender of updates holds.
	turn  chan struct{}
	watch watch
	save  bool // it wants notifications of saved files
	full  bool // with their text

	mu        sync.Mutex
	change    chan struct{} // closed and replaced at every event
	docs      map[string]*document
	versions  int // document versions used so far
	changes   int // changes sent to it so far
	verdicts  map[string]*verdict
	news      uint64       // publications so far
	newsAt    time.Time    // time of the last publication
	askedAt   time.Time    // time of the first request since the last message; zero without an open request
	answered  bool         // it has answered a Check at least once
	versioned bool         // it names versions in publications
	pull      *pullOptions // pull diagnostics; nil if it does not support them
	revision  int          // grows when pulled diagnostics may be outdated: they were invalidated, or work has ended
	work      map[string]bool
	shown     map[shownFault]bool
}

// startServer starts the program and does the LSP handshake, for which ctx is
// used.
func startServer(ctx context.Context, wrap wrapper, spec Spec, dir, root, program, path string) (*server, error) {
	s := &server{
		spec: spec, dir: dir, root: root,
		ended:    make(chan struct{}),
		turn:     make(chan struct{}, 1),
		watch:    watch{root: root, reads: spec.reads},
		change:   make(chan struct{}),
		docs:     map[string]*document{},
		verdicts: map[string]*verdict{},
		work:     map[string]bool{},
	}
	var options any
	if spec.Options != nil {
		var err error
		if options, err = spec.Options(program); err != nil {
			return nil, err
		}
	}
	log := &head{limit: stderrBytes}
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirIn.Close()
	out, theirOut, err := os.Pipe()
	if err != nil {
		_ = in.Close()
		return nil, err
	}
	defer theirOut.Close()
	command := proc.Command{
		Args: append([]string{program}, spec.Args...), Dir: root, Env: append([]string{"PATH=" + safePath(dir, path)}, spec.Env...),
		Stdin: theirIn, Output: theirOut, Stderr: log,
	}
	if err := s.enter(ctx, wrap, &command); err != nil {
		_, _ = in.Close(), out.Close()
		return nil, err
	}
	s.process, err = proc.Start(command)
	if err != nil {
		s.leave()
		_, _ = in.Close(), out.Close()
		return nil, err
	}
	s.conn = newConn(in, out, s, floodBytes)
	go s.attend(in, out)
	if err := s.handshake(ctx, options); err != nil {
		s.conn.fail(err)
		<-s.ended
		if why := log.line(); why != "" {
			return nil, fmt.Errorf("%w: %s", s.err, why)
		}
		return nil, s.err
	}
	return s, nil
}

type wrapper = func(ctx context.Context, dir, root string, args, env []string) (sandbox.Wrapped, error)

// enter wraps the command in a sandbox, if there is one.
func (s *server) enter(ctx context.Context, wrap wrapper, c *proc.Command) error {
	s.pid, s.leave = os.Getpid(), func() {}
	if wrap == nil {
		return nil
	}
	w, err := wrap(ctx, s.dir, s.root, c.Args, c.Env)
	if err != nil {
		return err
	}
	s.pid, s.leave = nil, w.Close // pawl's process id does not exist in the sandbox, and servers exit if the client's process is missing
	c.Args, c.Env, c.Bare, c.Files, c.Attr = w.Args, w.Env, true, w.Files, w.Attr
	return nil
}

// attend waits for the end of the server and kills all processes that it has
// started.
func (s *server) attend(in, out io.Closer) {
	select {
	case <-s.conn.failed:
		if pipeEnded(s.conn.err) {
			select { // wait for an exit code that explains the failure
			case <-s.process.Done():
			case <-time.After(endGrace):
			}
		}
	case <-s.process.Done():
		s.conn.fail(io.EOF)
	}
	s.process.Kill()
	s.leave()
	_, _ = in.Close(), out.Close()
	s.conn.busy.Wait()
	s.err = s.conn.err
	if exit, _ := s.process.Wait(); pipeEnded(s.err) && exit.Signal != "" {
		s.err = fmt.Errorf("it ended (%s)", exit.Signal)
	} else if pipeEnded(s.err) {
		s.err = fmt.Errorf("it ended (exit code %d)", exit.Code)
	}
	close(s.ended)
}

// pipeEnded reports whether the other end of the pipe is closed.
func pipeEnded(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE)
}

// handshake does the LSP handshake (initialize, initialized).
func (s *server) handshake(ctx context.Context, options any) error {
	s.watch.look(ctx) // the baseline for later changes
	var hello initializeResult
	err := s.conn.call(ctx, "initialize", map[string]any{
		"processId":             s.pid,
		"clientInfo":            map[string]any{"name": "pawl"},
		"rootUri":               toURI(s.root),
		"rootPath":              s.root,
		"workspaceFolders":      s.folders(),
		"capabilities":          capabilities,
		"initializationOptions": options,
	}, &hello)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.pull = hello.Capabilities.Pull
	s.mu.Unlock()
	s.save, s.full = wantsSaves(hello.Capabilities.Sync)
	return s.conn.notify(ctx, "initialized", struct{}{})
}

func (s *server) folders() any {
	return []any{map[string]any{"uri": toURI(s.root), "name": filepath.Base(s.root)}}
}

// wantsSaves decodes the save capability, which has three forms.
func wantsSaves(sync json.RawMessage) (save, full bool) {
	var options struct {
		Save json.RawMessage `json:"save"`
	}
	if json.Unmarshal(sync, &options) != nil {
		return true, false // a number: the old form, which includes save notifications
	}
	var text struct {
		IncludeText bool `json:"includeText"`
	}
	if json.Unmarshal(options.Save, &save) == nil {
		return save, false
	}
	return json.Unmarshal(options.Save, &text) == nil, text.IncludeText
}

// end shuts the server down and kills it if it does not exit. It returns when
// all its processes have ended.
func (s *server) end() {
	ctx, cancel := context.WithTimeout(context.Background(), endGrace)
	defer cancel()
	if err := s.conn.call(ctx, "shutdown", nil, nil); err == nil {
		_ = s.conn.notify(ctx, "exit", nil)
		select {
		case <-s.process.Done():
		case <-ctx.Done():
		}
	}
	s.conn.fail(errEnded)
	<-s.ended
}

var errEnded = errors.New("it was ended")

// head keeps the beginning of what is written to it.
type head struct {
	limit int
	mu    sync.Mutex
	text  []byte
}

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = append(h.text, p[:min(len(p), h.limit-len(h.text))]...)
	return len(p), nil
}

// line returns the first line that is not empty.
func (h *head) line() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	line, _, _ := strings.Cut(strings.TrimSpace(string(h.text)), "\n")
	return oneLine(line)
}
