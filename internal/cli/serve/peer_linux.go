package serve

import "golang.org/x/sys/unix"

// peerOf returns the user id of the peer of a Unix socket.
func peerOf(fd int) (int, error) {
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(peer.Uid), nil
}
