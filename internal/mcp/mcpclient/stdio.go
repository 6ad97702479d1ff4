package mcpclient

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// program is a server that runs on this machine.
type program struct {
	process *proc.Process
	leave   func() // leaves the sandbox
	in, out *os.File
	stderr  *tail
}

// startProgram starts a server, in its sandbox if there is one.
func (c Config) startProgram(ctx context.Context, dir string, s Server) (*program, error) {
	p := &program{leave: func() {}, stderr: &tail{limit: stderrBytes}}
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
	p.in, p.out = in, out
	command := proc.Command{
		Args: append([]string{s.Command}, s.Args...), Dir: s.workDir(dir), Env: environment(s), Bare: true,
		Stdin: theirIn, Output: theirOut, Stderr: p.stderr,
	}
	if err := p.enter(ctx, c.Sandbox, dir, s, &command); err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	if p.process, err = proc.Start(command); err != nil {
		p.leave()
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	return p, nil
}

// enter wraps the command in a sandbox, unless the user's configuration runs
// it without.
func (p *program) enter(ctx context.Context, wrap Wrapper, dir string, s Server, c *proc.Command) error {
	if wrap == nil || s.Unsandboxed {
		return nil
	}
	w, err := wrap(ctx, dir, c.Dir, c.Args, ownEnv(s))
	if err != nil {
		return err
	}
	p.leave = w.Close
	c.Args, c.Env, c.Files, c.Attr = w.Args, w.Env, w.Files, w.Attr
	return nil
}

// transport returns the stdio transport to the program.
func (p *program) transport(m *meter) sdk.Transport {
	return &sdk.IOTransport{Reader: newMessages(p.out, m), Writer: meteredWriter{p.in, m}, MaxLineLength: -1}
}

// end kills the program and all processes that it has started.
func (p *program) end() {
	p.process.Kill()
	p.leave()
	_, _ = p.in.Close(), p.out.Close()
}

// variables are the environment variables that programs inherit. None of them
// contains a key.
var variables = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TMPDIR", "TZ",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
}

// environment returns the environment of a program without a sandbox.
func environment(s Server) []string {
	var env []string
	for _, name := range variables {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, ownEnv(s)...)
}

func ownEnv(s Server) []string {
	var env []string
	for name, value := range s.Env {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// tail keeps the end of what is written to it.
type tail struct {
	limit int
	mu    sync.Mutex
	text  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p[max(0, len(p)-t.limit):]...)
	t.text = slices.Clone(t.text[max(0, len(t.text)-t.limit):])
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(sanitize.Text(string(t.text)))
}

// last returns the last line.
func (t *tail) last() string {
	text := t.String()
	return line(text[strings.LastIndexByte(text, '\n')+1:], whyChars)
}
