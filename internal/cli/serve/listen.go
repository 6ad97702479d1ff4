package serve

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/fault"
)

// listenAddress is where a server listens: the path of a Unix socket, or host:port.
type listenAddress struct {
	socket  string
	address string
}

// parseListen parses the value of --listen: unix, unix:PATH or HOST:PORT.
func parseListen(text string) (listenAddress, error) {
	path, isSocket := strings.CutPrefix(text, "unix")
	if text == "" || isSocket && (path == "" || path[0] == ':') {
		path = strings.TrimPrefix(strings.TrimPrefix(path, ":"), "//")
		if path == "" {
			var err error
			if path, err = app.SocketPath(); err != nil {
				return listenAddress{}, err
			}
		}
		path, err := filepath.Abs(path)
		return listenAddress{socket: path}, err
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" || port == "" {
		return listenAddress{}, fmt.Errorf("invalid --listen %q: use unix, unix:PATH or HOST:PORT, e.g. 127.0.0.1:4747", text)
	}
	return listenAddress{address: text}, nil
}

// loopback reports whether the address can be reached from this machine only.
func (p listenAddress) loopback() bool {
	host, _, _ := net.SplitHostPort(p.address) // parseListen has checked it
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// hosts returns the host names that requests may use. Others are rejected, as protection from DNS rebinding.
func (p listenAddress) hosts(more []string) []string {
	if p.socket != "" {
		return nil
	}
	host, _, _ := net.SplitHostPort(p.address)
	names := append([]string{host}, more...)
	if p.loopback() {
		names = append(names, "localhost", "127.0.0.1", "::1")
	}
	return names
}

// open starts to listen, with TLS if cert is set.
func (p listenAddress) open(cert, key string) (net.Listener, error) {
	l, err := p.listen()
	if err != nil || cert == "" {
		return l, err
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the certificate: %w", err), l.Close())
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}), nil
}

func (p listenAddress) listen() (net.Listener, error) {
	if p.socket == "" {
		return net.Listen("tcp", p.address)
	}
	if err := os.MkdirAll(filepath.Dir(p.socket), 0o700); err != nil {
		return nil, err
	}
	if conn, err := net.Dial("unix", p.socket); err == nil {
		_ = conn.Close()
		return nil, fault.New(pawl.ErrBusy, "another server is listening on %s", p.socket).Hint("Use it, stop it, or choose another address with --listen.")
	}
	if info, err := os.Lstat(p.socket); err == nil && info.Mode()&fs.ModeSocket != 0 {
		if err := os.Remove(p.socket); err != nil { // left by a process that was killed
			return nil, err
		}
	}
	l, err := net.Listen("unix", p.socket)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(p.socket, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// withPort returns the address with the actual port of the listener, which differs if port 0 was requested.
func (p listenAddress) withPort(l net.Listener) listenAddress {
	if at, ok := l.Addr().(*net.TCPAddr); ok {
		host, _, _ := net.SplitHostPort(p.address) // parseListen has checked it
		p.address = net.JoinHostPort(host, strconv.Itoa(at.Port))
	}
	return p
}

// banner returns the startup message, which says how to reach the server.
func (p listenAddress) banner(g authenticator, tls bool) string {
	if p.socket != "" {
		return fmt.Sprintf("pawl: listening on unix://%s\n", p.socket)
	}
	url := p.url(tls)
	text := fmt.Sprintf("pawl: listening on %s\n", url)
	if g.file != "" {
		text += fmt.Sprintf("pawl: the token is in %s. To connect: PAWL_TOKEN=$(cat %[1]s) pawl run --attach %s …\n", g.file, url)
	}
	return text
}

// url returns the address as a URL.
func (p listenAddress) url(tls bool) string {
	if tls {
		return "https://" + p.address
	}
	return "http://" + p.address
}

// parseOrigin parses the value of --origin or --url: a scheme and a host, in the form in which browsers send origins.
func parseOrigin(flag, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err == nil && u.Path == "/" {
		u.Path = ""
	}
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Contains(u.Host, "*") || (&url.URL{Scheme: u.Scheme, Host: u.Host}).String() != u.String() {
		return nil, fmt.Errorf("invalid --%s %q: use a scheme and a host, e.g. https://pawl.example.com", flag, text)
	}
	u.Host = strings.ToLower(u.Host)
	if port := u.Port(); port == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	return u, nil
}
