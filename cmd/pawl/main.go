// Command pawl is a coding agent for the terminal.
package main

import (
	"os"

	"github.com/pawl-dev/pawl/internal/cli/root"
)

func main() { os.Exit(root.Main()) }
