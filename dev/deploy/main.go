// Deploy checks the files in deploy/ for inconsistencies: references to names that do
// not exist, workloads without probes or limits, and a route from the executor to the
// model providers or their keys.
//
// Usage: go run ./dev/deploy [FILE...]
//
// The files are manifests as `kustomize build` prints them. The Docker Compose file
// is always checked.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	faults, err := lint("deploy", os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "deploy:", err)
		os.Exit(1)
	}
	report(os.Stdout, faults, len(os.Args)-1)
	if len(faults) > 0 {
		os.Exit(1)
	}
}

func report(w io.Writer, faults []string, manifests int) {
	for _, f := range faults {
		fmt.Fprintln(w, f)
	}
	fmt.Fprintf(w, "compose and %d builds of the manifests: %d faults\n", manifests, len(faults))
}

// lint returns the faults of a directory's compose file and of built manifests.
func lint(dir string, manifests []string) ([]string, error) {
	root := os.DirFS(dir)
	faults, err := composeFaults(root)
	if err != nil {
		return nil, err
	}
	readme, err := os.ReadFile(dir + "/README.md")
	if err != nil {
		return nil, err
	}
	for _, name := range manifests {
		text, err := os.ReadFile(name) //nolint:gosec // the developer's own file
		if err != nil {
			return nil, err
		}
		c, err := parseCluster(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		c.secretsDoc = string(readme)
		faults = append(faults, c.faults()...)
	}
	return faults, nil
}
