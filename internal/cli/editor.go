package cli

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// OpenEditor runs the user's editor on a file, without a shell.
func OpenEditor(path string) error {
	words := strings.Fields(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR")))
	if len(words) == 0 {
		return fault.New(pawl.ErrInvalid, "no editor configured").Hint("Set EDITOR, or edit %s directly.", path)
	}
	c := exec.Command(words[0], append(words[1:], path)...) //nolint:gosec // the user's own editor is the job
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("edit %s with %s: %w", path, words[0], err)
	}
	return nil
}
