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

// tunnel answers CONNECT and carries TLS until both sides have closed.
func (p *Proxy) tunnel(client *live, in *bufio.Reader, upstream net.Conn, d *Decision) {
	_ = client.SetDeadline(time.Now().Add(helloWait))
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		d.Why = "the client disconnected"
		p.report(d)
		return
	}
	hello, err := vetHello(in, d.Host)
	if err != nil {
		// The client expects TLS: it would not understand an HTTP answer.
		d.Allowed, d.Why = false, err.Error()
		p.report(d)
		return
	}
	p.report(d)
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

// carry copies until from ends, then closes the writing side of to.
func carry(to io.Writer, from io.Reader) {
	_, _ = io.Copy(to, from) // the reason of the end does not matter
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

const (
	maxHello        = 32 << 10 // bytes of the first TLS message
	recordHandshake = 22       // the first byte of it
	encryptedHello  = 0xfe0d   // the extension that hides another name
)

// hello is the ClientHello of a TLS connection.
type hello struct {
	raw    []byte // all bytes that were read
	name   string // the server name (SNI); "" if it is missing
	hidden bool   // it has an encrypted ClientHello with another name
}

var (
	errSeen   = errors.New("seen")
	errNoTLS  = errors.New("the data after CONNECT is not TLS")
	errHidden = errors.New("the TLS handshake hides the server name (ECH)")
)

// vetHello returns the bytes of the ClientHello if it is for the host.
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

// readHello reads the ClientHello with the parser of the standard library, which
// rejects duplicate names and reads no further than necessary.
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

// fits returns nil if the handshake is for the requested host. Many hosts share an
// address, and the name selects one of them.
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

// listening is a connection that reads only.
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
