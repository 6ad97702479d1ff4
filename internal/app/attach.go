package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/client"
	"github.com/pawl-dev/pawl/internal/config"
)

// Attach returns an App whose service is the server at url. The url "unix" means the server on the
// default socket; see SocketPath.
func Attach(url string) (*App, error) {
	if url == "unix" {
		path, err := SocketPath()
		if err != nil {
			return nil, err
		}
		url = "unix://" + path
	}
	token := strings.TrimSpace(os.Getenv("PAWL_TOKEN"))
	Secrets.Add("PAWL_TOKEN", token)
	c, err := client.New(client.Config{URL: url, Token: token})
	if err != nil {
		return nil, err
	}
	a := &App{Service: c}
	a.onClose("client", func() error {
		c.Close()
		return nil
	})
	return a, nil
}

// OpenAt attaches to the server at url, or opens an App in this process if url is "".
func OpenAt(ctx context.Context, url string) (*App, error) {
	if url == "" {
		return Open(ctx, Options{})
	}
	return Attach(url)
}

// SocketPath returns the default path of the server's socket.
func SocketPath() (string, error) {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && os.Getenv("PAWL_DATA") == "" {
		return filepath.Join(dir, "pawl", "pawl.sock"), nil
	}
	data, err := config.Data()
	return filepath.Join(data, "pawl.sock"), err
}
