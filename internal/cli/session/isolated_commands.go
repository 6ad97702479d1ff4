package session

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/workspace/isolate"
)

// changesJSON is the output of 'pawl session changes --json'.
type changesJSON struct {
	Session pawl.SessionID `json:"session"`
	Dir     string         `json:"dir"`
	Files   []fileJSON     `json:"files"`
	Refused []refusalJSON  `json:"refused"`
}

type fileJSON struct {
	Path   string `json:"path"`
	Status string `json:"status"` // A, M or D
}

type refusalJSON struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// withView calls f with the view of the session that name names.
func withView(cmd *cobra.Command, name string, f func(s pawl.Session, v isolate.View) error) error {
	return cli.WithSession(cmd, name, func(_ context.Context, _ *app.App, s pawl.Session) error {
		store, err := views()
		if err != nil {
			return err
		}
		v, ok, err := store.Find(s.ID)
		if err != nil {
			return err
		}
		if !ok {
			return fault.New(pawl.ErrInvalid, "session %s has no view: it is not isolated, or it ended without changes", cli.ShortID(s.ID)).
				Hint("Other sessions change the project itself: run `pawl session undo %s --dry-run --diff` to see how.", cli.ShortID(s.ID))
		}
		return f(s, v)
	})
}

func sessionChangesCommand() *cobra.Command {
	var asJSON, patch bool
	cmd := &cobra.Command{
		Use:   "changes id",
		Short: "List what an isolated session has changed",
		Example: `  pawl session changes last
  pawl session changes last --patch
  pawl session changes last --json | jq -r '.files[].path'`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withView(cmd, args[0], func(s pawl.Session, v isolate.View) error {
				changes, refused, err := v.Changes(cmd.Context())
				if err != nil {
					return err
				}
				if patch {
					return printPatch(cmd.OutOrStdout(), v, changes)
				}
				if !asJSON {
					printChanges(cmd.OutOrStdout(), changes, 0)
					return nil
				}
				out := changesJSON{Session: s.ID, Dir: v.Root, Files: []fileJSON{}, Refused: []refusalJSON{}}
				for _, c := range changes {
					if !isDir(c) {
						out.Files = append(out.Files, fileJSON{c.Path, status(c)})
					}
				}
				for _, r := range refused {
					out.Refused = append(out.Refused, refusalJSON{r.Path, r.Reason})
				}
				return cli.WriteJSON(cmd.OutOrStdout(), out)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&patch, "patch", false, "print the changes as a diff")
	cmd.MarkFlagsMutuallyExclusive("json", "patch")
	return cmd
}

func sessionApplyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "apply id",
		Short: "Apply the changes of an isolated session",
		Long: `Apply the changes of an isolated session to the project.

Pawl checks them like those of a command. Files that were changed in the project since
the session began stay as they are; Pawl names them, and keeps the session's versions.`,
		Example: `  pawl session apply last
  pawl session changes last --patch && pawl session apply last`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withView(cmd, args[0], func(_ pawl.Session, v isolate.View) error { return apply(cmd, v) })
		},
	}
}

func sessionBranchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "branch id name",
		Short: "Commit the changes of an isolated session to a branch",
		Long: `Commit the changes of an isolated session to a new branch, on top of HEAD. The files of
the project, its index and the current branch stay as they are, and so does the session.
Files that git ignores are left out.`,
		Example: `  pawl session branch last try-parser
  pawl session branch 8Q4Z7K pawl/try && git diff HEAD pawl/try`,
		Args: cli.Args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withView(cmd, args[0], func(s pawl.Session, v isolate.View) error { return branch(cmd, v, args[1], string(s.ID)) })
		},
	}
}

func sessionDiscardCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "discard id",
		Short:   "Discard the changes of an isolated session",
		Long:    "Discard the changes of an isolated session. This cannot be undone. The session stays.",
		Example: "  pawl session discard last\n  pawl session discard 8Q4Z7K",
		Args:    cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withView(cmd, args[0], func(_ pawl.Session, v isolate.View) error { return v.Discard() })
		},
	}
}
