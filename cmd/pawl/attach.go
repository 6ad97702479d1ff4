package main

import (
	"context"
	"os"
	"strings"

	"github.com/pawl-dev/pawl/client"
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
