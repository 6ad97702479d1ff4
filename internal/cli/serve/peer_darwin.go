package serve

import "golang.org/x/sys/unix"

// peerOf returns the user id of the peer of a Unix socket.
func peerOf(fd int) (int, error) {
	peer, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(peer.Uid), nil
}
