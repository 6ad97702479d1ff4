package cli

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// DiscardInput discards unread terminal input, including an incomplete line.
func DiscardInput(in io.Reader) {
	if f, ok := in.(*os.File); ok {
		_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) // fails if in is not a terminal
	}
}
