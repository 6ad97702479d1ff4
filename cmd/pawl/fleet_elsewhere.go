//go:build !fleet

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
)

// fleetProgram is the pawl that knows the engine of a fleet. It is another program,
// so that this one stays small and starts at once.
const fleetProgram = "pawl-fleet"

// handOver goes on as the program that can do it. It returns only if there is none.
func handOver() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	path := filepath.Join(filepath.Dir(self), fleetProgram)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if path, err = exec.LookPath(fleetProgram); err != nil {
			return fmt.Errorf("a fleet needs the program %s, beside %s or on the PATH ('make fleet-build' makes it): %w", fleetProgram, self, pawl.ErrNotFound)
		}
	}
	return syscall.Exec(path, append([]string{path}, os.Args[1:]...), os.Environ()) //nolint:gosec // it is part of pawl
}

func openNode(context.Context, *slog.Logger) (*app, error) { return nil, handOver() }

func (f *workerFlags) run(*cobra.Command) error { return handOver() }

func (f *fleetFlags) status(*cobra.Command) error { return handOver() }

func (f *fleetFlags) check(*cobra.Command) error { return handOver() }

func (f *fleetFlags) promote(*cobra.Command, string) error { return handOver() }

func (f *fleetFlags) drain(*cobra.Command, string) error { return handOver() }

// adoptFleet is for the program that openNode has handed over to.
func (a *app) adoptFleet(context.Context, *slog.Logger) {}
