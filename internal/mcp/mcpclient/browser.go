package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os/exec"
	"runtime"
	"strings"

	"github.com/pawl-dev/pawl/internal/security/egress"
	"github.com/pawl-dev/pawl/internal/weak"
)

// pageURL reads an address that a server wants a person to see, or that secrets
// are to be sent to: https, or http on this machine if the entry is for that.
func pageURL(raw string, local bool) (*url.URL, error) {
	if weak.On("mcp.opener") {
		return url.Parse(raw)
	}
	if strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'`\\<>^{}|", r) }) {
		return nil, errors.New("it has characters that no address has")
	}
	u, err := egress.ParseURL(raw)
	switch {
	case err != nil:
		return nil, err
	case u.Scheme == "https":
		return u, nil
	case local && loopback(u):
		return u, nil
	}
	return nil, errors.New("it is not https")
}

func loopback(u *url.URL) bool {
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
}

// OpenBrowser shows an address in the person's browser. The address is one
// argument of a program: no shell reads it.
func OpenBrowser(ctx context.Context, address string) error {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return fmt.Errorf("open a browser: %w: open this address yourself: %s", err, address)
	}
	if err := exec.CommandContext(ctx, path, address).Start(); err != nil { //nolint:gosec // the address was checked by pageURL and is an argument, no command
		return fmt.Errorf("open a browser: %w: open this address yourself: %s", err, address)
	}
	return nil
}
