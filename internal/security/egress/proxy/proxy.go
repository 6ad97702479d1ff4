// Package proxy gives sandboxes network access: it is an HTTP proxy on a unix socket
// that connects to an allowlist of hosts only.
//
// Assume that clients are hostile. The proxy parses requests strictly and within
// bounds, resolves no name that is not allowed, and connects through an egress.Guard
// to checked public addresses. It carries TLS for the requested host only, and plain
// HTTP only to hosts that are listed with port 80.
package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/security/egress"
)

const (
	maxConns  = 256              // open at a time; further ones wait
	headWait  = 10 * time.Second // for a request's head, from the connection on
	helloWait = 10 * time.Second // for the first TLS message, from our answer on
	replyWait = 10 * time.Second // for a client to take a refusal
	idleWait  = 5 * time.Minute  // without a byte in either direction
)

// Config configures a proxy. Only Guard is required.
type Config struct {
	// Dir is where a private directory for the socket is created; "" means the
	// directory for temporary files. A socket's path is limited to about 100 bytes.
	Dir string

	// Guard makes the connections. Its Ports are ignored in favor of those of Hosts.
	Guard *egress.Guard

	// Hosts are the hosts that may be reached: a name or an address, *.domain for all
	// names below it, or * for all names. Without a port, 443 is meant. If empty, no
	// host may be reached.
	Hosts []string

	// Decided, if not nil, is called for every request, by one goroutine at a time. It
	// must not call Close.
	Decided func(Decision)
}

// Decision is the outcome of a request.
type Decision struct {
	Host    string // in the spelling of egress.Host; "" if the request could not be parsed
	Port    uint16
	Allowed bool
	Addr    string // the address that was connected to, or tried last; "" if none was
	Why     string // why it was refused, or failed though it was allowed
}

// Proxy is a running proxy.
type Proxy struct {
	hosts     hosts
	guard     egress.Guard
	decided   func(Decision)
	reporting sync.Mutex
	dir       string
	listener  net.Listener
	cancel    context.CancelFunc
	running   sync.WaitGroup
	closed    func() error
}

// Open starts a proxy, which runs until Close. An invalid host is an error.
func Open(c Config) (*Proxy, error) {
	p, err := newProxy(c)
	if err != nil {
		return nil, err
	}
	if p.dir, err = os.MkdirTemp(c.Dir, "pawl-proxy-"); err != nil { // 0700, and new
		return nil, fmt.Errorf("create a directory for the proxy socket: %w", err)
	}
	if p.listener, err = net.Listen("unix", p.Socket()); err != nil {
		return nil, errors.Join(fmt.Errorf("open the proxy socket (the path is limited to about 100 bytes): %w", err), os.Remove(p.dir))
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel, p.closed = cancel, sync.OnceValue(p.close)
	p.running.Go(func() { p.serve(ctx) })
	return p, nil
}

// newProxy returns a proxy that does not listen yet.
func newProxy(c Config) (*Proxy, error) {
	if c.Guard == nil {
		return nil, errors.New("open a proxy: the guard is missing")
	}
	list, err := parseHosts(c.Hosts)
	if err != nil {
		return nil, err
	}
	p := &Proxy{hosts: list, guard: *c.Guard, decided: c.Decided}
	p.guard.Ports = list.ports()
	return p, nil
}

// Socket returns the path of the unix socket.
func (p *Proxy) Socket() string { return filepath.Join(p.dir, "proxy.sock") }

// Close ends all connections and removes the socket.
func (p *Proxy) Close() error { return p.closed() }

func (p *Proxy) close() error {
	p.cancel()
	err := p.listener.Close() // which removes the socket
	p.running.Wait()
	return errors.Join(err, os.Remove(p.dir))
}

// serve accepts connections until Close.
func (p *Proxy) serve(ctx context.Context) {
	places := make(chan struct{}, maxConns)
	for {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return
		}
		conn, err := p.listener.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			<-places
			time.Sleep(10 * time.Millisecond) // out of files, say, which passes
			continue
		}
		p.running.Go(func() {
			defer func() { <-places }()
			p.handle(ctx, conn)
		})
	}
}

// handle serves the single request of a connection.
func (p *Proxy) handle(ctx context.Context, conn net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	idle := time.AfterFunc(idleWait, cancel)
	defer idle.Stop()
	client := &live{Conn: conn, idle: idle}
	defer client.Close()
	defer closeWith(ctx, client)()

	_ = client.SetReadDeadline(time.Now().Add(headWait)) // it cannot fail on a socket
	in := bufio.NewReaderSize(client, maxHead)
	req, err := readRequest(in)
	if errors.Is(err, errNothing) {
		return
	}
	d := &Decision{}
	if req != nil {
		d.Host, d.Port = req.host, req.port
	}
	if err == nil {
		err = p.hosts.check(req.host, req.port, req.url != nil)
	}
	if err != nil {
		p.refuse(client, d, err)
		return
	}
	d.Allowed = true
	upstream, err := p.dial(ctx, d, idle)
	if err != nil {
		p.refuse(client, d, err)
		return
	}
	defer upstream.Close()
	defer closeWith(ctx, upstream)()
	if req.url == nil {
		p.tunnel(client, in, upstream, d)
	} else {
		p.forward(ctx, client, in, upstream, req, d)
	}
}

// report reports a decision to Config.Decided.
func (p *Proxy) report(d *Decision) {
	if p.decided == nil {
		return
	}
	p.reporting.Lock()
	defer p.reporting.Unlock()
	p.decided(*d)
}

// dial connects to the host of a decision and records the address.
func (p *Proxy) dial(ctx context.Context, d *Decision, idle *time.Timer) (net.Conn, error) {
	guard := p.guard
	next := guard.Dial
	if next == nil {
		next = new(net.Dialer).DialContext
	}
	guard.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		d.Addr = address
		return next(ctx, network, address)
	}
	conn, err := guard.DialContext(ctx, "tcp", net.JoinHostPort(d.Host, fmt.Sprint(d.Port)))
	var refused *egress.Refused
	switch {
	case err == nil:
		return &live{Conn: conn, idle: idle}, nil
	case errors.As(err, &refused):
		d.Allowed = false
		return nil, &refusal{status: http.StatusForbidden, why: strings.TrimPrefix(refused.Error(), "denied: "), advice: "Only public addresses can be reached from the sandbox."}
	default:
		return nil, &refusal{status: http.StatusBadGateway, why: fmt.Sprintf("%s cannot be reached: %v", d.Host, err), advice: "The host is allowed. Check its name, or try again later."}
	}
}

// live is a connection that resets the idle timer on every read and write.
type live struct {
	net.Conn
	idle *time.Timer
}

func (l *live) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	l.moved(n)
	return n, err
}

func (l *live) Write(b []byte) (int, error) {
	n, err := l.Conn.Write(b)
	l.moved(n)
	return n, err
}

func (l *live) moved(n int) {
	if n > 0 {
		l.idle.Reset(idleWait)
	}
}

// CloseWrite shuts down the writing side.
func (l *live) CloseWrite() error {
	if c, ok := l.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return l.Close()
}

// closeWith closes a connection when a context ends, unless it is stopped.
func closeWith(ctx context.Context, c io.Closer) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = c.Close() }) // pending reads fail
}
