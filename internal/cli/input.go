package cli

import (
	"fmt"
	"io"
	"os"
)

// MaxInput is the maximum size in bytes of standard input and of each attachment.
const MaxInput = 10 << 20

// ReadStdin returns the text that is piped into in, or "" if in is a terminal.
func ReadStdin(in io.Reader) (string, error) {
	if f, ok := in.(*os.File); ok {
		info, err := f.Stat()
		if err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return "", nil //nolint:nilerr // closed: nothing is piped in
		}
	}
	data, err := io.ReadAll(io.LimitReader(in, MaxInput+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if len(data) > MaxInput {
		return "", fmt.Errorf("standard input has more than %d bytes", MaxInput)
	}
	return string(data), nil
}
