// Command overlay writes the overlay with which the go command builds weakened
// programs and tests, in which single defenses can be turned off, and prints its
// path:
//
//	go test -tags sectest -overlay $(go run ./internal/test/security/weaken/overlay) ./internal/git
package main

import (
	"fmt"
	"os"

	"github.com/pawl-dev/pawl/internal/test/security/weaken"
)

func main() {
	path, err := weaken.Overlay(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "overlay:", err)
		os.Exit(1)
	}
	fmt.Println(path)
}
