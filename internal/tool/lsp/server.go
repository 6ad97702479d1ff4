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

// server is a language server that runs.
type server struct {
	spec    Spec
	dir     string // the workspace
	root    string // the project's directory in it
	process *proc.Process
	pid     any    // pawl's number, as the server knows it; nil if it does not
	leave   func() // its sandbox
	conn    *conn
	gone    chan struct{} // closed when all that it started has ended
	err     error         // why, once gone is closed

	// turn is held by the one who brings the server up to date.
	turn  chan struct{}
	watch watch
	save  bool // it wants to know of saved files
	full  bool // with their text

	mu        sync.Mutex
	change    chan struct{} // closed and replaced at every piece of news
	docs      map[string]*document
	versions  int // of documents, given out so far
	changes   int // that it was told of
	verdicts  map[string]*verdict
	news      uint64       // publications so far
	newsAt    time.Time    // of the last one
	askedAt   time.Time    // of the first question since it was last heard of; zero if there is none
	answered  bool         // it has answered a Check at least once
	versioned bool         // it says for which version it publishes
	pull      *pullOptions // how it answers questions for a file's faults; nil if it does not
	revision  int          // grows when such answers may not hold any more: it took them back, or has done some work
	work      map[string]bool
	shown     map[shownFault]bool
}

// startServer starts the program and greets it. ctx is for the greeting only.
func startServer(ctx context.Context, box boxing, spec Spec, dir, root, program, path string) (*server, error) {
	s := &server{
		spec: spec, dir: dir, root: root,
		gone:     make(chan struct{}),
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
	if err := s.enter(ctx, box, &command); err != nil {
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
	if err := s.greet(ctx, options); err != nil {
		s.conn.fail(err)
		<-s.gone
		if why := log.line(); why != "" {
			return nil, fmt.Errorf("%w: %s", s.err, why)
		}
		return nil, s.err
	}
	return s, nil
}

type boxing = func(ctx context.Context, dir, root string, args, env []string) (sandbox.Wrapped, error)

// enter puts the command into a sandbox, if there is one.
func (s *server) enter(ctx context.Context, box boxing, c *proc.Command) error {
	s.pid, s.leave = os.Getpid(), func() {}
	if box == nil {
		return nil
	}
	w, err := box(ctx, s.dir, s.root, c.Args, c.Env)
	if err != nil {
		return err
	}
	s.pid, s.leave = nil, w.Close // in there pawl has no number, and a server that misses it ends
	c.Args, c.Env, c.Bare, c.Files = w.Args, w.Env, true, w.Files
	return nil
}

// attend sees the server to its end and takes all with it that it started.
func (s *server) attend(in, out io.Closer) {
	select {
	case <-s.conn.failed:
		if pipeEnded(s.conn.err) {
			select { // it may be about to exit with a reason
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
	close(s.gone)
}

// pipeEnded reports whether nobody is at the other end any more.
func pipeEnded(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE)
}

// greet does the handshake.
func (s *server) greet(ctx context.Context, options any) error {
	s.watch.look(ctx) // what changes from here on is told
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

// wantsSaves reads the capability, which has three shapes.
func wantsSaves(sync json.RawMessage) (save, full bool) {
	var options struct {
		Save json.RawMessage `json:"save"`
	}
	if json.Unmarshal(sync, &options) != nil {
		return true, false // a number: the old way, in which all is told
	}
	var text struct {
		IncludeText bool `json:"includeText"`
	}
	if json.Unmarshal(options.Save, &save) == nil {
		return save, false
	}
	return json.Unmarshal(options.Save, &text) == nil, text.IncludeText
}

// end asks the server to end and makes it end if it does not. It returns when
// nothing of it is left.
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
	<-s.gone
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

// line is the first line that says something.
func (h *head) line() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	line, _, _ := strings.Cut(strings.TrimSpace(string(h.text)), "\n")
	return oneLine(line)
}
