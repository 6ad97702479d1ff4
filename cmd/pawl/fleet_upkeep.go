//go:build fleet

package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/fleet/runner"
)

// promotion is what 'pawl fleet promote --json' prints.
type promotion struct {
	Version string   `json:"version"`
	Left    []string `json:"left"`    // versions that no worker has any more
	Rescued int      `json:"rescued"` // workflows of those that were begun anew
}

func (f *fleetFlags) promote(cmd *cobra.Command, version string) error {
	return withOperator(cmd, func(ctx context.Context, o *operator) error {
		known, cancel := context.WithTimeout(ctx, f.wait)
		defer cancel()
		if err := runner.WaitForVersion(known, o.parts.engine, version); err != nil {
			return err
		}
		if err := runner.Promote(ctx, o.parts.engine, version); err != nil {
			return err
		}
		p := promotion{Version: version, Left: []string{}}
		left, err := runner.StrandedVersions(ctx, o.parts.engine)
		if err != nil {
			return err
		}
		for _, v := range left {
			n, err := runner.Rescue(ctx, o.parts.engine, v)
			p.Left, p.Rescued = append(p.Left, v), p.Rescued+n
			if err != nil {
				return err
			}
		}
		if f.json {
			return writeJSON(cmd.OutOrStdout(), p)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "new work begins with %s; %d workflows of versions without workers were begun anew\n", version, p.Rescued)
		return err
	})
}

func (f *fleetFlags) drain(cmd *cobra.Command, host string) error {
	return withOperator(cmd, func(ctx context.Context, o *operator) error {
		if err := o.roster.Drain(ctx, host, !f.undo); err != nil {
			return fmt.Errorf("%w: 'pawl fleet status' lists the hosts", err)
		}
		m, err := o.machine(ctx, host)
		if err == nil && !f.undo && f.wait > 0 {
			m, err = o.awaitEmpty(ctx, host, f)
		}
		if err != nil {
			return err
		}
		if f.json {
			return writeJSON(cmd.OutOrStdout(), m)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is %s, %d workspaces are worked in\n", host, hostState(m), m.Busy)
		return err
	})
}

// awaitEmpty waits until nobody works on a host. One that is not there any more has
// nobody.
func (o *operator) awaitEmpty(ctx context.Context, host string, f *fleetFlags) (m fleet.Host, err error) {
	ctx, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	late := until(ctx, func() bool {
		m, err = o.machine(ctx, host)
		return err != nil || m.Busy == 0 || !m.Live
	})
	if late != nil {
		return m, fmt.Errorf("%d workspaces of %s are still worked in after %s: it goes on draining, wait longer with --wait: %w", m.Busy, host, f.wait, pawl.ErrUnavailable)
	}
	return m, err
}

func (o *operator) machine(ctx context.Context, host string) (fleet.Host, error) {
	hosts, err := o.roster.Hosts(ctx)
	if err != nil {
		return fleet.Host{}, err
	}
	i := slices.IndexFunc(hosts, func(m fleet.Host) bool { return m.Name == host })
	if i < 0 {
		return fleet.Host{}, fmt.Errorf("host %s was not seen for a day: %w", host, pawl.ErrNotFound)
	}
	return hosts[i], nil
}
