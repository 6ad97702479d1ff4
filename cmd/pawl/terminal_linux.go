package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// flushTyped drops what was typed and not read yet, the beginning of a line too.
func flushTyped(in io.Reader) {
	if f, ok := in.(*os.File); ok {
		_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) // no terminal has nothing to drop
	}
}
