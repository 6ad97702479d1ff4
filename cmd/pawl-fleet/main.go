// Command pawl-fleet runs and operates a fleet: pawl's sessions on many hosts. It is a
// program of its own because the fleet's dependencies would make pawl larger and slower
// to start.
package main

import (
	"os"

	"github.com/pawl-dev/pawl/fleet/cli"
)

func main() { os.Exit(cli.Main()) }
