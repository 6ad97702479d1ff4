package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// queued is a queued prompt, as 'pawl session queue --json' prints it.
type queued struct {
	Seq      pawl.Seq      `json:"seq"`
	Text     string        `json:"text"`
	Delivery pawl.Delivery `json:"delivery"`
}

// queueFlags are the flags of 'pawl session queue'.
type queueFlags struct {
	remove, edit int64
	asJSON       bool
}

func sessionQueueCommand() *cobra.Command {
	var f queueFlags
	cmd := &cobra.Command{
		Use:   "queue [flags] id|last [new text…]",
		Short: "List, edit or remove queued prompts",
		Long: `List the queued prompts of a session, oldest first. With --edit or --remove, change or
remove one of them. A prompt that a turn has already started with cannot be changed.`,
		Example: `  pawl session queue last
  pawl session queue last --remove 17
  pawl session queue last --edit 17 "fix the tests too"`,
		Args: cli.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch text := len(args) > 1; {
			case f.edit != 0 && !text:
				return cli.UsageError(cmd, errors.New("--edit requires the new text"))
			case f.edit == 0 && text:
				return cli.UsageError(cmd, fmt.Errorf("unexpected argument %q: new text requires --edit", args[1]))
			}
			return cli.WithSession(cmd, args[0], func(ctx context.Context, a *app.App, s pawl.Session) error {
				return f.run(ctx, cmd, a, s.ID, strings.Join(args[1:], " "))
			})
		},
	}
	cmd.Flags().Int64Var(&f.remove, "remove", 0, "remove the queued prompt with this `number`")
	cmd.Flags().Int64Var(&f.edit, "edit", 0, "replace the text of the queued prompt with this `number`")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("remove", "edit")
	return cmd
}

func (f queueFlags) run(ctx context.Context, cmd *cobra.Command, a *app.App, id pawl.SessionID, text string) error {
	var err error
	switch {
	case f.remove != 0:
		err = a.Withdraw(ctx, id, pawl.Seq(f.remove))
	case f.edit != 0:
		err = a.Reword(ctx, id, pawl.Seq(f.edit), pawl.Parts{pawl.Text{Text: text}})
	}
	if changed := f.remove != 0 || f.edit != 0; err != nil || changed && !f.asJSON {
		return err
	}
	waiting, err := a.Waiting(ctx, id)
	if err != nil {
		return err
	}
	list := []queued{}
	for _, w := range waiting {
		list = append(list, queued{w.Seq, w.Prompt.Parts.Text(), w.Prompt.Delivery})
	}
	if f.asJSON {
		return cli.WriteJSON(cmd.OutOrStdout(), list)
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "no queued prompts")
		return err
	}
	t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
	for _, q := range list {
		fmt.Fprintf(t, "%d\t%s\n", q.Seq, sanitize.Line(humanize.FirstLine(q.Text, 80)))
	}
	return t.Flush()
}
