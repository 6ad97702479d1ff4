package cli

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// DiscardInput drops what was typed and not read yet, including an incomplete line.
func DiscardInput(in io.Reader) {
	const read = 1 // FREAD: of what comes in
	if f, ok := in.(*os.File); ok {
		_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, read) // no terminal has nothing to drop
	}
}
