package serve

import (
	"errors"
	"net"
	"os"
)

// checkPeer returns an error if the peer of a Unix socket is another user.
func checkPeer(c net.Conn) error {
	socket, ok := c.(*net.UnixConn)
	if !ok {
		return errors.New("not a Unix socket")
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var peer int
	var wrong error
	if err := raw.Control(func(fd uintptr) { peer, wrong = peerOf(int(fd)) }); err != nil || wrong != nil {
		return errors.Join(err, wrong)
	}
	if peer != os.Getuid() {
		return errors.New("the peer is another user")
	}
	return nil
}
