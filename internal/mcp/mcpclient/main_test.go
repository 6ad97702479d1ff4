package mcpclient

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

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
	if dir := os.Getenv(smallPawlVar); dir != "" {
		smallPawl(dir)
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
	in := gate{os.Stdin, server.stop}
	if err := server.Run(context.Background(), &sdk.IOTransport{Reader: in, Writer: os.Stdout}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// gate is an input that is not read any more once it is shut.
type gate struct {
	io.ReadCloser
	shut chan struct{}
}

func (g gate) Read(p []byte) (int, error) {
	select {
	case <-g.shut:
		time.Sleep(time.Hour) // it hangs; the runtime would report select {} as a deadlock
		return 0, io.EOF
	default:
		return g.ReadCloser.Read(p[:min(len(p), 4096)])
	}
}

// smallPawlVar makes this binary a pawl that has a server, says its number, and
// is then killed.
const smallPawlVar = "PAWL_TEST_SMALL_MCP"

func smallPawl(dir string) {
	self, _ := os.Executable()
	set := New(Config{times: quick})
	_ = set.Start(dir, []Server{{Name: "fake", Transport: Stdio, Command: self, Args: []string{serveArg + "good"}}})
	for {
		l, _ := set.find(dir, "fake")
		s, news := l.status()
		if s.State == Ready {
			fmt.Println(s.PID)
			time.Sleep(time.Hour) // it hangs; the runtime would report select {} as a deadlock
		}
		<-news
	}
}
