package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Confirm asks the user a yes-or-no question on the terminal. Without a terminal it returns a usage
// error.
func Confirm(cmd *cobra.Command, question string) (bool, error) {
	if !Attended(cmd) {
		return false, UsageError(cmd, fault.New(pawl.ErrInvalid, "cannot ask for confirmation without a terminal").Hint("Pass --yes to confirm."))
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s [y/N] ", question)
	text, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes":
		return true, nil
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "Canceled. Nothing was changed.")
	return false, nil
}

// Attended reports whether the user can answer questions: standard input and standard error are
// terminals.
func Attended(cmd *cobra.Command) bool {
	in, ok := cmd.InOrStdin().(*os.File)
	return ok && IsTerminal(in) && IsTerminal(cmd.ErrOrStderr())
}
