package cli

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// DiscardInput discards unread terminal input, including an incomplete line.
func DiscardInput(in io.Reader) {
	const read = 1 // FREAD: the input queue
	if f, ok := in.(*os.File); ok {
		_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, read) // fails if in is not a terminal
	}
}
