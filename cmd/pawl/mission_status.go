package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/plain"
)

// missionStatusFlags are the flags of 'pawl mission status'.
type missionStatusFlags struct {
	json bool
}

func missionStatusCommand() *cobra.Command {
	var f missionStatusFlags
	cmd := &cobra.Command{
		Use:   "status [id]",
		Short: "Show how far a mission has come",
		Args:  usage(cobra.MaximumNArgs(1)),
		RunE:  func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print the board as JSON")
	return cmd
}

func (f *missionStatusFlags) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	a, err := openApp(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	s, err := a.missionOf(ctx, args)
	if err != nil {
		return err
	}
	board, err := a.Mission(ctx, s.ID)
	if err != nil {
		return err
	}
	if f.json {
		return writeJSON(cmd.OutOrStdout(), board)
	}
	return writeBoard(cmd.OutOrStdout(), board)
}

// missionOf is the mission that is named, or the newest one of this folder.
func (a *app) missionOf(ctx context.Context, args []string) (pawl.Session, error) {
	if len(args) > 0 {
		return a.session(ctx, args[0], "")
	}
	dir, err := workingDir()
	if err != nil {
		return pawl.Session{}, err
	}
	list, err := a.List(ctx, pawl.Filter{Dir: dir, Missions: true, Limit: 1})
	if err == nil && len(list) == 0 {
		return pawl.Session{}, errors.New("there is no mission in this folder: 'pawl mission \"goal\"' begins one")
	}
	if err != nil {
		return pawl.Session{}, err
	}
	return list[0], nil
}

func writeBoard(w io.Writer, b pawl.Board) error {
	_, err := fmt.Fprintf(w, "%s  %s  %s\n", b.Session.ID, b.State, plain.Line(b.Mission.Order.Goal))
	for _, t := range b.Mission.Tasks {
		if err == nil {
			_, err = fmt.Fprintf(w, "  %-10s %s: %s\n", t.Phase, t.Task.ID, plain.Line(t.Task.Title))
		}
	}
	return err
}
