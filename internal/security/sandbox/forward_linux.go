package sandbox

import (
	"io"
	"net"
)

// Where the forwarder and the proxy's socket are in a sandbox. The port is below the
// kernel's range of ephemeral ports.
const (
	forwarderSocket  = "/run/pawl/proxy.sock"
	forwarderAddress = "127.0.0.1:19128"
)

// forwarderConns bounds the connections that are open at a time.
const forwarderConns = 256

// serveNetwork relays the connections that the command and its children make to the
// proxy.
func serveNetwork() error {
	listener, err := net.Listen("tcp", forwarderAddress)
	if err != nil {
		return err
	}
	go serve(listener)
	return nil
}

// serve relays connections until the sandbox ends.
func serve(listener net.Listener) {
	places := make(chan struct{}, forwarderConns)
	for {
		places <- struct{}{}
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { <-places }()
			relay(conn)
		}()
	}
}

// relay copies in both directions until both sides have closed.
func relay(conn net.Conn) {
	defer conn.Close()
	proxy, err := net.Dial("unix", forwarderSocket)
	if err != nil {
		return
	}
	defer proxy.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(proxy, conn) // the reason of the end does not matter
		_ = proxy.(*net.UnixConn).CloseWrite()
	}()
	_, _ = io.Copy(conn, proxy)
	_ = conn.(*net.TCPConn).CloseWrite()
	<-done
}
