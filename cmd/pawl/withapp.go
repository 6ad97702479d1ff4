package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
)

// withApp runs f with everything wired together.
func withApp(cmd *cobra.Command, f func(ctx context.Context, a *app) error) error {
	a, err := openApp(cmd.Context())
	if err != nil {
		return err
	}
	return errors.Join(f(cmd.Context(), a), a.Close())
}

// withSession runs f with the session that the argument names.
func withSession(cmd *cobra.Command, name string, f func(ctx context.Context, a *app, s pawl.Session) error) error {
	return withApp(cmd, func(ctx context.Context, a *app) error {
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		s, err := a.session(ctx, name, dir)
		if err != nil {
			return err
		}
		return f(ctx, a, s)
	})
}
