package chat

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/humanize"
)

// size formats a size in bytes.
func size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	return strings.NewReplacer("k", " kB", "M", " MB").Replace(humanize.Short(n))
}
