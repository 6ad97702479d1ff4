// Command pawl is a coding agent that only moves forward.
package main

import (
	"os"

	"github.com/pawl-dev/pawl/internal/cli/root"
)

func main() { os.Exit(root.Main()) }
