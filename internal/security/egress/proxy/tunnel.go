package proxy

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"
)

// tunnel answers CONNECT and carries TLS until both sides are done.
func (p *Proxy) tunnel(client *live, in *bufio.Reader, upstream net.Conn, d *Decision) {
	_ = client.SetDeadline(time.Now().Add(helloWait))
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		d.Why = "the client has gone"
		p.tell(d)
		return
	}
	hello, err := vetHello(in, d.Host)
	if err != nil {
		// The client waits for TLS: it would not understand words.
		d.Allowed, d.Why = false, err.Error()
		p.tell(d)
		return
	}
	p.tell(d)
	_ = client.SetDeadline(time.Time{})
	if _, err := upstream.Write(hello); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		carry(upstream, in)
	}()
	carry(client, upstream)
	<-done
}

// carry copies until the end of one direction, and passes the end on.
func carry(to io.Writer, from io.Reader) {
	_, _ = io.Copy(to, from) // an end is an end, whatever the reason
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

const (
	maxHello        = 32 << 10 // bytes of the first TLS message
	recordHandshake = 22       // the first byte of it
	encryptedHello  = 0xfe0d   // the extension that hides another name
)

// hello is how a TLS client begins.
type hello struct {
	raw    []byte // all that was read
	name   string // the server's; "" if it is not told
	hidden bool   // another name is encrypted in it
}

var (
	errSeen   = errors.New("seen")
	errNoTLS  = errors.New("what came after CONNECT is not TLS")
	errHidden = errors.New("the TLS handshake hides the name of its server (ECH)")
)

// vetHello returns the bytes of the first message if it is for the host.
func vetHello(in *bufio.Reader, host string) ([]byte, error) {
	h, err := readHello(in)
	if err == nil {
		err = h.fits(host)
	}
	if err != nil {
		return nil, err
	}
	return h.raw, nil
}

// readHello reads the first message. The standard library's parser does it: it
// refuses names that come twice, and reads no further than it must.
func readHello(in *bufio.Reader) (*hello, error) {
	if first, err := in.Peek(1); err != nil || first[0] != recordHandshake {
		return nil, errNoTLS
	}
	conn := &listening{in: io.LimitReader(in, maxHello)}
	var h *hello
	server := tls.Server(conn, &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(info *tls.ClientHelloInfo) (*tls.Config, error) {
			h = &hello{name: info.ServerName, hidden: slices.Contains(info.Extensions, encryptedHello)}
			return nil, errSeen
		},
	})
	if err := server.Handshake(); h == nil {
		return nil, fmt.Errorf("%w: %w", errNoTLS, err)
	}
	h.raw = conn.seen.Bytes()
	return h, nil
}

// fits returns nil if the handshake is for the host that was asked for. Many
// hosts share an address, and the name is what leads to one of them.
func (h *hello) fits(host string) error {
	want := host
	if isAddress(host) {
		want = ""
	}
	switch {
	case h.hidden:
		return errHidden
	case strings.ContainsFunc(h.name, func(r rune) bool { return r > '~' }) || strings.ToLower(h.name) != want:
		return fmt.Errorf("CONNECT was for %s, but the TLS handshake is for %q", host, h.name)
	}
	return nil
}

// listening is a connection that hears and says nothing.
type listening struct {
	net.Conn
	in   io.Reader
	seen bytes.Buffer
}

func (l *listening) Read(b []byte) (int, error) {
	n, err := l.in.Read(b)
	l.seen.Write(b[:n])
	return n, err
}

func (l *listening) Write(b []byte) (int, error) { return len(b), nil }
