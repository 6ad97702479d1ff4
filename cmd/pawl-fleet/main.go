// Command pawl-fleet runs and operates a fleet, which runs Pawl's sessions on many hosts. It is a separate program
// because the fleet's dependencies would make pawl larger and slower to start.
package main

import (
	"os"

	"github.com/pawl-dev/pawl/fleet/command"
)

func main() { os.Exit(command.Main()) }
