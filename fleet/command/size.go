package command

import (
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// sizes are the units of sizes, the longest suffix first.
var sizes = []struct {
	unit  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}, {"", 1}}

// parseSize parses a number of bytes such as 512MiB.
func parseSize(text string) (int64, error) {
	for _, s := range sizes {
		if number, ok := strings.CutSuffix(text, s.unit); ok {
			n, err := strconv.ParseInt(number, 10, 32)
			if err != nil || n < 0 {
				break
			}
			return n * s.bytes, nil
		}
	}
	return 0, fault.New(pawl.ErrInvalid, "invalid size %.40q: use a size such as 512MiB or 2GiB", text)
}
