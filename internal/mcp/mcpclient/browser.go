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
)

// pageURL parses a URL that a server wants a person to open or that secrets
// are sent to: https, or http on this machine if local is set.
func pageURL(raw string, local bool) (*url.URL, error) {
	if strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'`\\<>^{}|", r) }) {
		return nil, errors.New("the URL contains invalid characters")
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
	return nil, errors.New("the URL does not use https")
}

func loopback(u *url.URL) bool {
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
}

// OpenBrowser opens a URL in the user's browser. The URL is passed as one
// argument, without a shell.
func OpenBrowser(ctx context.Context, address string) error {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return fmt.Errorf("open a browser: %w; open this URL yourself: %s", err, address)
	}
	if err := exec.CommandContext(ctx, path, address).Start(); err != nil { //nolint:gosec // the address was checked by pageURL and is an argument, no command
		return fmt.Errorf("open a browser: %w; open this URL yourself: %s", err, address)
	}
	return nil
}
