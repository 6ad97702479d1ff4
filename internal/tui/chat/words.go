package chat

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/tui/words"
)

// size is how big a file is.
func size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	return strings.NewReplacer("k", " kB", "M", " MB").Replace(words.Short(n))
}

// took is how long something was under way.
func took(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d m %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d m", int(d.Hours()), int(d.Minutes())%60)
}
