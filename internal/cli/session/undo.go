package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/turn"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// undoFlags are the flags of undo, redo and rewind.
type undoFlags struct {
	files, conversation bool
	aside, leave        bool
	yes, dry, asJSON    bool
	diff                bool
}

func (f *undoFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.files, "files", false, "only the files: the conversation stays as it is")
	cmd.Flags().BoolVar(&f.conversation, "conversation", false, "only the conversation: the files stay as they are")
	cmd.Flags().BoolVar(&f.aside, "keep-aside", false, "files that somebody else changed since are kept in another place, and put back")
	cmd.Flags().BoolVar(&f.leave, "leave", false, "files that somebody else changed since stay as they are")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do it without asking")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "only show what would be done")
	cmd.Flags().BoolVar(&f.diff, "diff", false, "show the changes line by line")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON: what would be done (--dry-run) or what was done")
	cmd.MarkFlagsMutuallyExclusive("files", "conversation")
	cmd.MarkFlagsMutuallyExclusive("keep-aside", "leave")
	cmd.MarkFlagsMutuallyExclusive("yes", "dry-run")
}

func (f *undoFlags) order() pawl.Undo {
	var r pawl.Undo
	switch {
	case f.files:
		r.Scope = pawl.ScopeFiles
	case f.conversation:
		r.Scope = pawl.ScopeConversation
	}
	switch {
	case f.aside:
		r.Conflicts = pawl.ConflictsAside
	case f.leave:
		r.Conflicts = pawl.ConflictsLeave
	}
	return r
}

func sessionUndoCommand() *cobra.Command {
	var f undoFlags
	cmd := &cobra.Command{
		Use:   "undo [id|last]",
		Short: "Take back the newest turn, its changes to files included",
		Long: `Take back the newest turn of a session: what was said, and what its calls did to
files, commands included. It shows first what would change, and asks. Files that
somebody else has changed since are in the way: nothing is done then, unless you say
what becomes of them. What no snapshot covers (ignored and very large files, other
folders) stays as it is. 'pawl session redo' brings it back, until the session goes on.`,
		Example: `  pawl session undo
  pawl session undo --files --diff
  pawl session undo 01JD3V5M8Q0000000000000000 --yes --keep-aside`,
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.WithSession(cmd, sessionName(args), func(ctx context.Context, a *app.App, s pawl.Session) error {
				return f.run(ctx, cmd, a, s, f.order())
			})
		},
	}
	f.add(cmd)
	return cmd
}

func sessionRedoCommand() *cobra.Command {
	var f undoFlags
	cmd := &cobra.Command{
		Use:     "redo [id|last]",
		Short:   "Bring back what undo or rewind took back",
		Long:    "Bring back what the last undo or rewind took back, as long as the session has not gone on.",
		Example: "  pawl session redo",
		Args:    cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.files || f.conversation {
				return cli.UsageError(cmd, errors.New("redo brings back what was taken back: --files and --conversation are for undo and rewind"))
			}
			return cli.WithSession(cmd, sessionName(args), func(ctx context.Context, a *app.App, s pawl.Session) error {
				r := f.order()
				r.Redo = pawl.LastUndo
				return f.run(ctx, cmd, a, s, r)
			})
		},
	}
	f.add(cmd)
	return cmd
}

func sessionRewindCommand() *cobra.Command {
	var f undoFlags
	cmd := &cobra.Command{
		Use:   "rewind id|last [message]",
		Short: "Go back to before any message",
		Long: `Go back to before a message, named by its number: what was said from there on, and
what the calls since then did to files. Without a message, list them. As with undo it
shows first what would change, and redo brings it back.`,
		Example: `  pawl session rewind last            # the messages and their numbers
  pawl session rewind last 42
  pawl session rewind last 42 --conversation`,
		Args: cli.Args(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.WithSession(cmd, args[0], func(ctx context.Context, a *app.App, s pawl.Session) error {
				if len(args) == 1 {
					return listMessages(ctx, cmd.OutOrStdout(), a, s, f.asJSON)
				}
				to, err := messageNumber(args[1])
				if err != nil {
					return cli.UsageError(cmd, err)
				}
				r := f.order()
				r.To = to
				return f.run(ctx, cmd, a, s, r)
			})
		},
	}
	f.add(cmd)
	return cmd
}

// sessionName returns the session that args names; the default is "last".
func sessionName(args []string) string {
	if len(args) == 0 {
		return "last"
	}
	return args[0]
}

// run shows the plan, asks for confirmation, and carries it out.
func (f *undoFlags) run(ctx context.Context, cmd *cobra.Command, a *app.App, s pawl.Session, r pawl.Undo) error {
	plan, err := a.Preview(ctx, s.ID, r)
	if err != nil {
		return err
	}
	if f.dry && f.asJSON {
		return cli.WriteJSON(cmd.OutOrStdout(), plan)
	}
	if !f.asJSON {
		f.show(cmd.OutOrStdout(), plan)
	}
	if way := plan.Conflicting(); len(way) > 0 && r.Conflicts == pawl.ConflictsRefuse {
		return fmt.Errorf("%d files were changed by somebody else since: --keep-aside keeps them in another place, --leave leaves them as they are", len(way))
	}
	if f.dry {
		return nil
	}
	if !f.yes {
		ok, err := cli.Confirm(cmd, "Do it?")
		if err != nil || !ok {
			return err
		}
	}
	asked, err := a.Undo(ctx, s.ID, plan.Undo)
	if err != nil {
		return err
	}
	done, err := awaitOrder(ctx, a, s.ID, asked, func(b pawl.Body) (pawl.Undone, bool) {
		r, ok := b.(pawl.Undone)
		return r, ok && r.Asked == asked
	})
	if err != nil {
		return err
	}
	if f.asJSON {
		if err := cli.WriteJSON(cmd.OutOrStdout(), done); err != nil {
			return err
		}
	}
	if done.Refused != "" {
		return fmt.Errorf("nothing was changed: %s", sanitize.Line(done.Refused))
	}
	if !f.asJSON {
		showUndone(cmd.OutOrStdout(), plan, done)
	}
	return nil
}

// awaitOrder waits for the event that completes a request, and returns its body.
func awaitOrder[B pawl.Body](ctx context.Context, svc pawl.Service, id pawl.SessionID, after pawl.Seq, outcome func(pawl.Body) (B, bool)) (B, error) {
	for e, err := range svc.Events(ctx, id, after) {
		if err != nil {
			var none B
			return none, err
		}
		if b, ok := outcome(e.Body); ok {
			return b, nil
		}
		if s, ok := e.Body.(pawl.Status); ok && s.State == "interrupted" {
			var none B
			return none, fmt.Errorf("%w: %s\n'pawl resume %s' goes on", turn.ErrInterrupted, s.Message, id)
		}
	}
	var none B
	return none, context.Cause(ctx)
}

// show prints the plan.
func (f *undoFlags) show(w io.Writer, p pawl.UndoPlan) {
	verb := "taken back"
	if p.Redo != 0 {
		verb = "brought back"
	}
	if p.Scope.Conversation() {
		fmt.Fprintf(w, "conversation: %d messages are %s\n", p.Messages, verb)
		if text := p.Prompt.Text(); text != "" {
			fmt.Fprintf(w, "  from: %s\n", humanize.FirstLine(text, 100))
		}
	}
	if p.Scope.Files() {
		fmt.Fprintf(w, "files: %d\n", len(p.Files))
	}
	for _, c := range p.Files {
		fmt.Fprintf(w, "  %-7s %s%s\n", c.Kind, sanitize.Line(c.Path), inTheWay(c))
	}
	if n := len(p.Blind); n > 0 && p.Scope.Files() {
		fmt.Fprintf(w, "  what %d calls did stays: no snapshot was taken of them\n", n)
	}
	if f.diff && p.Diff != "" {
		fmt.Fprintf(w, "\n%s\n", sanitize.Text(strings.TrimRight(p.Diff, "\n")))
	}
}

func inTheWay(c pawl.FileChange) string {
	if c.Conflict == "" {
		return ""
	}
	return "  (" + sanitize.Line(c.Conflict) + ")"
}

// showUndone prints the result.
func showUndone(w io.Writer, p pawl.UndoPlan, done pawl.Undone) {
	what := "undone"
	if p.Redo != 0 {
		what = "redone"
	}
	fmt.Fprintf(w, "%s: %d files changed\n", what, len(done.Changed))
	for path, kept := range done.Aside {
		fmt.Fprintf(w, "  %s: the version that was here is kept as %s\n", sanitize.Line(path), sanitize.Line(kept))
	}
	for _, path := range done.Left {
		fmt.Fprintf(w, "  %s: left as it is\n", sanitize.Line(path))
	}
}
