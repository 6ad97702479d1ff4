package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
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
		return "", fault.New(pawl.ErrInvalid, "standard input is larger than %s", humanize.IBytes(MaxInput))
	}
	return string(data), nil
}
