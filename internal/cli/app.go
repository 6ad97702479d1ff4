package cli

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
)

// WithApp opens an App, calls f and closes the App.
func WithApp(cmd *cobra.Command, f func(ctx context.Context, a *app.App) error) error {
	a, err := app.Open(cmd.Context(), app.Options{})
	if err != nil {
		return err
	}
	return errors.Join(f(cmd.Context(), a), a.Close())
}

// WithSession is like WithApp, and passes f the session that name names; see FindSession.
func WithSession(cmd *cobra.Command, name string, f func(ctx context.Context, a *app.App, s pawl.Session) error) error {
	return WithApp(cmd, func(ctx context.Context, a *app.App) error {
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		s, err := FindSession(ctx, a.Service, name, dir)
		if err != nil {
			return err
		}
		return f(ctx, a, s)
	})
}
