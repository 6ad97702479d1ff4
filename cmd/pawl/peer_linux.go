package main

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// samePeer refuses a connection of another user's.
func samePeer(c net.Conn) error {
	socket, ok := c.(*net.UnixConn)
	if !ok {
		return errors.New("it is no socket")
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var wrong error
	if err := raw.Control(func(fd uintptr) {
		peer, wrong = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil || wrong != nil {
		return errors.Join(err, wrong)
	}
	if int(peer.Uid) != os.Getuid() {
		return errors.New("it is another user's")
	}
	return nil
}
