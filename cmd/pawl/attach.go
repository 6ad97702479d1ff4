package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl/client"
	"github.com/pawl-dev/pawl/internal/config"
)

// attach returns an app whose service is another process.
func attach(url string) (*app, error) {
	if url == "unix" {
		path, err := socketPath()
		if err != nil {
			return nil, err
		}
		url = "unix://" + path
	}
	token := strings.TrimSpace(os.Getenv("PAWL_TOKEN"))
	secrets.Add("PAWL_TOKEN", token)
	c, err := client.New(client.Config{URL: url, Token: token})
	if err != nil {
		return nil, err
	}
	return &app{Service: c}, nil
}

// openAt is openApp, or attach if a server is named.
func openAt(ctx context.Context, url string) (*app, error) {
	if url == "" {
		return openApp(ctx)
	}
	return attach(url)
}

// socketPath is where the socket is when no other place is named.
func socketPath() (string, error) {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && os.Getenv("PAWL_DATA") == "" {
		return filepath.Join(dir, "pawl", "pawl.sock"), nil
	}
	data, err := config.Data()
	return filepath.Join(data, "pawl.sock"), err
}
