package mcp

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveArg makes this test binary a server that behaves in the way that follows it.
const serveArg = "-serve-mcp="

func TestMain(m *testing.M) {
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // or each server takes a second to end
	if len(os.Args) == 2 && strings.HasPrefix(os.Args[1], serveArg) {
		serveStdio(strings.TrimPrefix(os.Args[1], serveArg))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serveStdio is a server on the standard input and output. The raw ways do not
// speak the protocol.
func serveStdio(way string) {
	if raw := rawWays[way]; raw != nil {
		raw()
		return
	}
	server := newServer(way, func() { os.Exit(7) })
	if err := server.Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
