// Package session implements 'pawl session' and its subcommands.
package session

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Command returns 'pawl session' with its subcommands.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "List, show, undo, fork, export and import sessions",
		Long: `List, show, undo, fork, export and import sessions.

A session is named by its id, by a unique beginning or end of the id with at least 4
characters, or by the word last: the newest session of the working directory. Lists show
the last 6 characters of an id.`,
		Example: `  pawl session list
  pawl session show last
  pawl session undo last`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(sessionListCommand(), sessionShowCommand(), sessionDiffCommand(), sessionUndoCommand(), sessionRedoCommand(), sessionRewindCommand(), sessionForkCommand(),
		sessionQueueCommand(), sessionCompactCommand(), sessionShellCommand(), sessionRenameCommand(), sessionExportCommand(), sessionImportCommand(), sessionDeleteCommand(),
		sessionChangesCommand(), sessionApplyCommand(), sessionBranchCommand(), sessionDiscardCommand())
	return cmd
}

func sessionListCommand() *cobra.Command {
	var f pawl.Filter
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "list [words…]",
		Short: "List the sessions of this directory, newest first",
		Example: `  pawl session list
  pawl session list --all fix parser     # match the beginnings of words in titles and first prompts
  pawl session list --search 'lexer.go "out of range"'   # search the conversations
  pawl session list --json | jq -r '.[].id'`,
		RunE: func(cmd *cobra.Command, words []string) error {
			return cli.WithApp(cmd, func(ctx context.Context, a *app.App) error {
				dir, err := os.Getwd()
				if err != nil {
					return err
				}
				if !all {
					f.Dir = dir
				}
				for _, w := range words {
					f.Query += " " + w
				}
				page, err := a.List(ctx, f)
				if err != nil {
					return err
				}
				if asJSON {
					return cli.WriteJSON(cmd.OutOrStdout(), append([]pawl.Session{}, page.Sessions...))
				}
				return PrintSessions(cmd.OutOrStdout(), page.Sessions)
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list the sessions of all directories")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&f.Search, "search", "", "list sessions with a message or title that contains all of these `words`; quote \"phrases\"")
	cmd.Flags().IntVar(&f.Limit, "limit", 20, "list at most `n` sessions")
	return cmd
}

// PrintSessions prints sessions as a table, with their owners if any has one, and below
// each what a search found in it.
func PrintSessions(w io.Writer, sessions []pawl.Session) error {
	if len(sessions) == 0 {
		_, err := fmt.Fprintln(w, "no sessions")
		return err
	}
	var table strings.Builder
	if err := writeTable(&table, sessions); err != nil {
		return err
	}
	lines := strings.SplitAfter(table.String(), "\n") // the first has the headings
	for i, s := range sessions {
		if s.Match == nil {
			continue
		}
		lines[i+1] += "        "
		for _, part := range s.Match.Snippet {
			lines[i+1] += sanitize.Line(part.Text)
		}
		lines[i+1] += "\n"
	}
	_, err := io.WriteString(w, strings.Join(lines, ""))
	return err
}

func writeTable(w io.Writer, sessions []pawl.Session) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	owned := slices.ContainsFunc(sessions, func(s pawl.Session) bool { return s.Owner != "" })
	owner := func(text string) string {
		if !owned {
			return ""
		}
		return humanize.FirstLine(text, 30) + "\t"
	}
	fmt.Fprintf(t, "ID\tUPDATED\t%sSTATE\tTURNS\tNAME\n", owner("OWNER"))
	short := cli.ShortIDs(sessions)
	for _, s := range sessions {
		fmt.Fprintf(t, "%s\t%s\t%s%s\t%d\t%s\n",
			short(s.ID), s.Updated.Local().Format("2006-01-02 15:04"), owner(string(s.Owner)), s.State(), s.Turns, humanize.FirstLine(s.Name(), 60))
	}
	return t.Flush()
}

func sessionShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "show id|last",
		Short:   "Show the conversation of a session",
		Example: "  pawl session show last\n  pawl session show 8Q4Z7K | less",
		Args:    cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.WithSession(cmd, args[0], func(ctx context.Context, a *app.App, s pawl.Session) error {
				out := bufio.NewWriter(cmd.OutOrStdout())
				if err := Show(ctx, out, a, s); err != nil {
					return err
				}
				return out.Flush()
			})
		},
	}
}

func sessionDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "delete id…",
		Short: "Delete sessions",
		Long: `Delete sessions with their logs and outputs. This cannot be undone. 'pawl gc' deletes the
snapshots and caches of deleted sessions.`,
		Example: `  pawl session delete 8Q4Z7K
  pawl session delete 8Q4Z7K M2T9WD`,
		Args: cli.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return cli.WithApp(cmd, func(ctx context.Context, a *app.App) error {
				dir, err := os.Getwd()
				if err != nil {
					return err
				}
				for _, id := range ids {
					s, err := cli.FindSession(ctx, a.Service, id, dir)
					if err != nil {
						return err
					}
					if err := a.Delete(ctx, s.ID); err != nil {
						return fmt.Errorf("delete session %s: %w", id, err)
					}
				}
				return nil
			})
		},
	}
}
