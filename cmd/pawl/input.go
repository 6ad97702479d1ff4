package main

import (
	"fmt"
	"io"
	"os"
)

// maxInput bounds what is read from standard input and of each attachment.
const maxInput = 10 << 20

// readPiped returns what is piped in; a terminal is not read.
func readPiped(in io.Reader) (string, error) {
	if f, ok := in.(*os.File); ok {
		info, err := f.Stat()
		if err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return "", nil //nolint:nilerr // closed: nothing is piped in
		}
	}
	data, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if len(data) > maxInput {
		return "", fmt.Errorf("standard input has more than %d bytes", maxInput)
	}
	return string(data), nil
}
