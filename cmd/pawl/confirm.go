package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// confirm asks a person at the terminal. Without one it refuses.
func confirm(cmd *cobra.Command, question string) (bool, error) {
	out := outputFlags{format: "text"}
	if !out.attended(cmd) {
		return false, usageError(cmd, errors.New("nobody is there to be asked: --yes does it, --dry-run only shows it"))
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
	fmt.Fprintln(cmd.ErrOrStderr(), "nothing was changed")
	return false, nil
}
