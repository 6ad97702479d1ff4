package cli

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// DiscardInput drops what was typed and not read yet, including an incomplete line.
func DiscardInput(in io.Reader) {
	if f, ok := in.(*os.File); ok {
		_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) // no terminal has nothing to drop
	}
}
