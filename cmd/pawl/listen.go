package main

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/config/userfile"
	"github.com/pawl-dev/pawl/internal/weak"
)

// place is where a server listens: a socket's path, or an address.
type place struct {
	socket  string
	address string
}

// parseListen reads where to listen: unix, unix:PATH or HOST:PORT.
func parseListen(text string) (place, error) {
	path, isSocket := strings.CutPrefix(text, "unix")
	if text == "" || isSocket && (path == "" || path[0] == ':') {
		path = strings.TrimPrefix(strings.TrimPrefix(path, ":"), "//")
		if path == "" {
			var err error
			if path, err = socketPath(); err != nil {
				return place{}, err
			}
		}
		path, err := filepath.Abs(path)
		return place{socket: path}, err
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" || port == "" {
		return place{}, fmt.Errorf("--listen %q: write unix, unix:PATH or HOST:PORT, e.g. 127.0.0.1:4747", text)
	}
	return place{address: text}, nil
}

// socketPath is where the socket is when no other place is named.
func socketPath() (string, error) {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && os.Getenv("PAWL_DATA") == "" {
		return filepath.Join(dir, "pawl", "pawl.sock"), nil
	}
	data, err := config.Data()
	return filepath.Join(data, "pawl.sock"), err
}

// loopback reports whether only programs of this machine reach the address.
func (p place) loopback() bool {
	host, _, _ := net.SplitHostPort(p.address) // it was split before
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// hosts are the names that a server on an address may be asked by. A page on the
// web that has its own name point here is thus refused.
func (p place) hosts(more []string) []string {
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

// open begins to listen.
func (p place) open(cert, key string) (net.Listener, error) {
	l, err := p.listen()
	if err != nil || cert == "" {
		return l, err
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the certificate: %w", err), l.Close())
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}), nil
}

func (p place) listen() (net.Listener, error) {
	if p.socket == "" {
		return net.Listen("tcp", p.address)
	}
	if err := os.MkdirAll(filepath.Dir(p.socket), 0o700); err != nil {
		return nil, err
	}
	if conn, err := net.Dial("unix", p.socket); err == nil {
		_ = conn.Close()
		return nil, fmt.Errorf("another pawl serves on %s: use it, end it, or choose another place with --listen: %w", p.socket, pawl.ErrBusy)
	}
	if info, err := os.Lstat(p.socket); err == nil && info.Mode()&fs.ModeSocket != 0 {
		if err := os.Remove(p.socket); err != nil { // of a pawl that was killed
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

// of is the place with the port that was chosen, if it was left open by a 0.
func (p place) of(l net.Listener) place {
	if at, ok := l.Addr().(*net.TCPAddr); ok {
		host, _, _ := net.SplitHostPort(p.address) // it was split before
		p.address = net.JoinHostPort(host, strconv.Itoa(at.Port))
	}
	return p
}

// welcome says how the server is reached.
func (p place) welcome(g door) string {
	if p.socket != "" {
		return fmt.Sprintf("pawl serves on unix://%s\n", p.socket)
	}
	text := fmt.Sprintf("pawl serves on http://%s\n", p.address)
	if g.file != "" {
		text += fmt.Sprintf("the token is in %s: PAWL_TOKEN=$(cat %[1]s) pawl run --attach http://%s …\n", g.file, p.address)
	}
	return text
}

// minToken is how many characters a token of the user's must have.
const minToken = 16

// serverToken is the token that requests on an address need: the user's or, where
// only this machine can ask, one that pawl makes once. Where users have tokens it
// can do without.
func serverToken(p place, users bool) (token, file string, err error) {
	token = strings.TrimSpace(os.Getenv("PAWL_SERVER_TOKEN"))
	switch {
	case token != "" && len(token) < minToken:
		return "", "", fmt.Errorf("PAWL_SERVER_TOKEN has less than %d characters: make one with 'openssl rand -hex 32'", minToken)
	case token != "":
		return token, "", nil
	case !p.loopback() && users:
		return "", "", nil
	case !p.loopback() && !weak.On("server.bind"):
		return "", "", fmt.Errorf("others can reach %s: make a token with 'pawl token create', or set PAWL_SERVER_TOKEN to a secret, e.g. from 'openssl rand -hex 32', or listen on 127.0.0.1: %w", p.address, pawl.ErrDenied)
	}
	data, err := config.Data()
	if err != nil {
		return "", "", err
	}
	file = filepath.Join(data, "server-token")
	unlock, err := userfile.Lock(file) // another server may begin at the same time
	if err != nil {
		return "", "", err
	}
	defer unlock()
	text, err := userfile.Read(file, 1<<10)
	if err == nil && len(text) == 0 {
		text = []byte(rand.Text() + "\n")
		err = userfile.ReplaceText(file, text)
	}
	if token = strings.TrimSpace(string(text)); err == nil && len(token) < minToken {
		err = fmt.Errorf("%s holds no token: remove it, and a new one is made", file)
	}
	return token, file, err
}

// sameSecret compares without telling by the time it takes how much is right.
func sameSecret(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && want != ""
}
