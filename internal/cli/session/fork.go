package session

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
)

func sessionForkCommand() *cobra.Command {
	var title string
	cmd := &cobra.Command{
		Use:   "fork id|last [message]",
		Short: "Fork a session at its end or before a message",
		Long: `Create a session with the conversation of another one, up to its end or to before a
message, and print its id. The two sessions are independent from there on. Files do not
change. 'pawl session rewind' lists the messages and their numbers.`,
		Example: `  id=$(pawl session fork last) && pawl run --session $id "try another approach"
  pawl session fork last 42 --title "with a cache"`,
		Args: cli.Args(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.WithSession(cmd, args[0], func(ctx context.Context, a *app.App, s pawl.Session) error {
				var at pawl.Seq
				if len(args) == 2 {
					var err error
					if at, err = messageNumber(args[1]); err != nil {
						return cli.UsageError(cmd, err)
					}
				}
				fork, err := a.Fork(ctx, s.ID, at)
				if err != nil {
					return err
				}
				if title != "" {
					if err := a.Rename(ctx, fork.ID, title); err != nil {
						return err
					}
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), fork.ID)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&title, "title", "", "`title` of the new session")
	return cmd
}

func sessionRenameCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rename id|last title…",
		Short: "Rename a session",
		Example: `  pawl session rename last "Rewrite the parser"
  pawl session rename 8Q4Z7K "Fix the build"`,
		Args: cli.Args(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.WithSession(cmd, args[0], func(ctx context.Context, a *app.App, s pawl.Session) error {
				return a.Rename(ctx, s.ID, strings.Join(args[1:], " "))
			})
		},
	}
}

func sessionCompactCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "compact id|last [instructions…]",
		Short: "Replace older messages with a summary",
		Long: `Let the model summarize the older messages, so that the conversation takes less of its
context window. The newest messages stay unchanged, and so does the log: 'pawl session
rewind' can go back to before the summary. The instructions tell the model what the
summary must keep.`,
		Example: `  pawl session compact last
  pawl session compact last "keep the names of the failing tests"`,
		Args: cli.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.WithSession(cmd, args[0], func(ctx context.Context, a *app.App, s pawl.Session) error {
				return compactSession(ctx, cmd, a, s.ID, strings.Join(args[1:], " "))
			})
		},
	}
}

func compactSession(ctx context.Context, cmd *cobra.Command, a *app.App, id pawl.SessionID, instructions string) error {
	asked, err := a.Compact(ctx, id, instructions)
	if err != nil {
		return err
	}
	done, err := awaitOrder(ctx, a, id, asked, func(b pawl.Body) (pawl.Compacted, bool) {
		c, ok := b.(pawl.Compacted)
		return c, ok && c.Asked == asked
	})
	if err != nil {
		return err
	}
	if done.Keep == 0 {
		return fmt.Errorf("not compacted: %s", done.Message)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Compacted about %s to %s\n", humanize.Plural(done.Before, "token"), humanize.Number(done.After))
	if done.Message != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "pawl: %s\n", done.Message)
	}
	return nil
}

// messageNumber parses the number of a message.
func messageNumber(text string) (pawl.Seq, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, fault.New(pawl.ErrInvalid, "invalid message number %q", text).Hint("Run `pawl session rewind last` to list the messages.")
	}
	return pawl.Seq(n), nil
}

// listedMessage is a message in the list of 'pawl session rewind'.
type listedMessage struct {
	Seq  pawl.Seq  `json:"seq"`
	Role pawl.Role `json:"role"`
	Text string    `json:"text"`
}

// listMessages prints the messages that a session can be rewound to.
func listMessages(ctx context.Context, w io.Writer, svc pawl.Service, s pawl.Session, asJSON bool) error {
	var events []pawl.Event
	said := map[pawl.Seq]bool{} // messages of the user and the model: only these can be rewound to
	shells := map[pawl.Seq]string{}
	for e, err := range cli.SessionLog(ctx, svc, s) {
		if err != nil {
			return err
		}
		switch b := e.Body.(type) {
		case pawl.TurnStarted, pawl.Injected, pawl.Replied:
			said[e.Seq] = true
		case pawl.ShellAsked:
			shells[e.Seq] = "!" + b.Command
		case pawl.ShellStarted:
			said[e.Seq], shells[e.Seq] = true, shells[b.Asked]
		default:
		}
		events = append(events, e)
	}
	messages, err := pawl.Conversation(events)
	if err != nil {
		return err
	}
	list := []listedMessage{}
	for _, m := range messages {
		if m.Role != pawl.RoleTool && said[m.Seq] {
			list = append(list, listedMessage{m.Seq, m.Role, cmp.Or(shells[m.Seq], messageLine(m))})
		}
	}
	if asJSON {
		return cli.WriteJSON(w, list)
	}
	if len(list) == 0 {
		return fault.New(pawl.ErrNotFound, "the session has no messages")
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, m := range list {
		who := "you"
		if m.Role == pawl.RoleAssistant {
			who = "pawl"
		}
		fmt.Fprintf(t, "%d\t%s\t%s\n", m.Seq, who, humanize.FirstLine(m.Text, 80))
	}
	return t.Flush()
}

// messageLine returns the text of a message, or the names of its tool calls if it has no text.
func messageLine(m pawl.Message) string {
	if text := strings.TrimSpace(m.Text()); text != "" {
		return text
	}
	var names []string
	for _, c := range m.Parts.Calls() {
		names = append(names, c.Name)
	}
	return "(" + strings.Join(names, ", ") + ")"
}
