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
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// undoFlags are the flags of undo, redo and rewind. Redo has no scope.
type undoFlags struct {
	files, conversation bool
	aside, leave        bool
	yes, dry, asJSON    bool
	diff                bool
}

// addScope adds the flags for what to restore.
func (f *undoFlags) addScope(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.files, "files", false, "restore files only; keep the conversation")
	cmd.Flags().BoolVar(&f.conversation, "conversation", false, "restore the conversation only; keep the files")
	cmd.MarkFlagsMutuallyExclusive("files", "conversation")
}

func (f *undoFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.aside, "keep-aside", false, "save a copy of files that have changed since, then restore them")
	cmd.Flags().BoolVar(&f.leave, "leave", false, "leave files that have changed since as they are")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask for confirmation")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "show what would change, without changing it")
	cmd.Flags().BoolVar(&f.diff, "diff", false, "show the file changes as a diff")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print the result as JSON or, with --dry-run, the plan")
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
		Short: "Undo the last turn, including its file changes",
		Long: `Undo the last turn of a session: its messages, and the file changes of its tool calls,
including shell commands. Pawl shows what will change and asks for confirmation.

If a file has changed since the turn, Pawl changes nothing unless you pass --keep-aside
or --leave. Files without snapshots stay as they are: ignored files, very large files and
files outside the project. 'pawl session redo' restores what was undone, until the
session continues.`,
		Example: `  pawl session undo
  pawl session undo --files --diff
  pawl session undo 8Q4Z7K --yes --keep-aside`,
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.WithSession(cmd, sessionName(args), func(ctx context.Context, a *app.App, s pawl.Session) error {
				return f.run(ctx, cmd, a, s, f.order())
			})
		},
	}
	f.addScope(cmd)
	f.add(cmd)
	return cmd
}

func sessionRedoCommand() *cobra.Command {
	var f undoFlags
	cmd := &cobra.Command{
		Use:     "redo [id|last]",
		Short:   "Redo what was undone or rewound",
		Long:    "Restore what the last undo or rewind removed. This is possible until the session continues.",
		Example: "  pawl session redo\n  pawl session redo last --dry-run --diff",
		Args:    cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
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
		Short: "Rewind a session to before a message",
		Long: `Rewind a session to before a message: undo that message, everything after it, and the file
changes of the tool calls since then. Without a message number, list the messages. As
with undo, Pawl shows what will change and asks; 'pawl session redo' restores it.`,
		Example: `  pawl session rewind last            # list the messages and their numbers
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
	f.addScope(cmd)
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
		return fault.New(pawl.ErrConflict, "%s also changed outside of the session", humanize.Plural(len(way), "file")).
			Hint("Pass --keep-aside to save a copy before restoring, or --leave to leave changed files as they are.")
	}
	if f.dry {
		return nil
	}
	if !f.yes {
		ok, err := cli.Confirm(cmd, "Continue?")
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
			return none, turn.InterruptedError(id, errors.New(s.Message))
		}
	}
	var none B
	return none, context.Cause(ctx)
}

// show prints the plan.
func (f *undoFlags) show(w io.Writer, p pawl.UndoPlan) {
	verb := "undone"
	if p.Redo != 0 {
		verb = "restored"
	}
	if p.Scope.Conversation() {
		fmt.Fprintf(w, "%s will be %s\n", humanize.Plural(p.Messages, "message"), verb)
		if text := p.Prompt.Text(); text != "" {
			fmt.Fprintf(w, "  from: %s\n", humanize.FirstLine(text, 100))
		}
	}
	if p.Scope.Files() {
		fmt.Fprintf(w, "%s will change\n", humanize.Plural(len(p.Files), "file"))
	}
	for _, c := range p.Files {
		fmt.Fprintf(w, "  %-7s %s%s\n", c.Kind, sanitize.Line(c.Path), inTheWay(c))
	}
	if n := len(p.Blind); n > 0 && p.Scope.Files() {
		fmt.Fprintf(w, "  without snapshots, cannot be %s: the changes of %s\n", verb, humanize.Plural(n, "tool call"))
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
	verb := "Undid"
	if p.Redo != 0 {
		verb = "Restored"
	}
	var what []string
	if p.Scope.Conversation() {
		what = append(what, humanize.Plural(p.Messages, "message"))
	}
	if p.Scope.Files() {
		what = append(what, humanize.Plural(len(done.Changed), "file change"))
	}
	fmt.Fprintf(w, "%s %s\n", verb, humanize.Join(what, "and"))
	for path, kept := range done.Aside {
		fmt.Fprintf(w, "  %s: the previous version was saved as %s\n", sanitize.Line(path), sanitize.Line(kept))
	}
	for _, path := range done.Left {
		fmt.Fprintf(w, "  %s: left unchanged\n", sanitize.Line(path))
	}
}
