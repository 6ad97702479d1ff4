package sandbox

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
)

// Where the forwarder and the proxy's socket are in a sandbox. The port is below the
// kernel's range of ephemeral ports.
const (
	forwarderPath    = "/run/pawl/helper"
	forwarderSocket  = "/run/pawl/proxy.sock"
	forwarderAddress = "127.0.0.1:19128"
)

// forwarderConns bounds the connections that are open at a time.
const forwarderConns = 256

// forward runs a command and relays the connections that it and its children
// make to the proxy. It returns the command's exit code.
func forward(argv []string) int {
	listener, err := net.Listen("tcp", forwarderAddress)
	if err != nil {
		return fail(exitCannot, err)
	}
	go serve(listener)
	if len(argv) == 0 {
		return fail(exitCannot, errors.New("no command"))
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal())
		}
		return exit.ExitCode()
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist):
		return fail(exitNotFound, err)
	}
	return fail(exitCannot, err)
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
