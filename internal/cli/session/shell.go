package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/turn"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

func sessionShellCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "shell id|last -- command…",
		Short: "Run a shell command in a session",
		Long: `Run a command in the session's directory, as the agent's commands run: in the sandbox,
with snapshots, so that 'pawl session undo' can undo its changes. Pawl prints the output
and exits with the exit code of the command. No model is called; the model sees the
command and its output with your next prompt.

Pawl does not ask for permission, but commands that your rules deny do not run (exit
code 3). If a turn is running, the command waits until it ends. Pawl waits ten minutes
for the command; then it exits, and the command ends unless another process, such as a
server, runs the session.

A single argument is a bash command line. Several arguments are a program and its
arguments, without shell expansion.`,
		Example: `  pawl session shell last -- go test ./...
  pawl session shell last -- 'grep -rn TODO . | head'`,
		Args: cli.Args(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			command, err := commandLine(args[1:])
			if err != nil {
				return cli.UsageError(cmd, err)
			}
			return cli.WithSession(cmd, args[0], func(_ context.Context, a *app.App, s pawl.Session) error { return runShell(cmd, a, s, command) })
		},
	}
}

// commandLine quotes the words for bash and joins them. A single word is a command line already.
func commandLine(words []string) (string, error) {
	if len(words) == 1 {
		return words[0], nil
	}
	var quoted []string
	for _, w := range words {
		q, err := syntax.Quote(w, syntax.LangBash)
		if err != nil {
			return "", err
		}
		quoted = append(quoted, q)
	}
	return strings.Join(quoted, " "), nil
}

// runShell runs the command in the session and prints its result. The first interrupt cancels the command, the second
// exits.
func runShell(cmd *cobra.Command, svc pawl.Service, s pawl.Session, command string) error {
	ctx, stop := context.WithCancelCause(cmd.Context())
	defer stop(nil)
	asked, err := svc.Shell(ctx, s.ID, command)
	if err != nil {
		return err
	}
	defer turn.HandleSignals(ctx, stop, cmd.ErrOrStderr(), func() error { return svc.Cancel(cmd.Context(), s.ID) })()
	if s.TurnOpen {
		fmt.Fprintln(cmd.ErrOrStderr(), "pawl: a turn is running; the command runs when it ends")
	}
	done, err := awaitOrder(ctx, svc, s.ID, asked, func(b pawl.Body) (pawl.ShellRan, bool) {
		r, ok := b.(pawl.ShellRan)
		return r, ok && r.Asked == asked
	})
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(err, turn.ErrInterrupted) {
			return turn.InterruptedError(s.ID, cause)
		}
		return err
	}
	return printResult(ctx, cmd, svc, s.ID, done)
}

// printResult prints the full output of a command, and returns its exit code as an ExitError.
func printResult(ctx context.Context, cmd *cobra.Command, svc pawl.Service, id pawl.SessionID, r pawl.ShellRan) error {
	output, note := cutNote(r.Result)
	switch r.Status {
	case pawl.CallDone:
	case pawl.CallCanceled:
		return &cli.ExitError{Code: cli.ExitCanceled, Err: errors.New("canceled")}
	case pawl.CallDenied:
		return &cli.ExitError{Code: cli.ExitDenied, Err: errors.New(sanitize.Text(r.Result.Content))}
	case pawl.CallRefused, pawl.CallUnknown:
		return errors.New(sanitize.Text(r.Result.Content))
	}
	code, err := strconv.Atoi(r.Result.Meta["exit_code"])
	if err != nil { // it could not be started, or has not ended
		return errors.New(sanitize.Text(r.Result.Content))
	}
	if err := printOutput(ctx, cmd.OutOrStdout(), svc, id, r.Result.Full, output); err != nil {
		return err
	}
	if note != "" && note != "done, no output" && note != fmt.Sprintf("exit code %d", code) {
		fmt.Fprintf(cmd.ErrOrStderr(), "pawl: %s\n", sanitize.Line(note))
	}
	switch {
	case r.Result.Meta["signal"] != "":
		return &cli.ExitError{Code: cli.ExitFailed}
	case code != 0:
		return &cli.ExitError{Code: code}
	}
	return nil
}

// cutNote splits a result into the output of the command and the note in its last line. Only some results have a note,
// such as that of a command that failed, printed nothing or made changes that were refused.
func cutNote(r pawl.Result) (output, note string) {
	at := strings.LastIndexByte(r.Content, '\n') + 1
	last := r.Content[at:]
	noted := r.IsError || len(r.Refused) > 0 || r.Meta["binary"] != "" || r.Meta["protected"] != "" || r.Content == "(done, no output)"
	if !noted || !strings.HasPrefix(last, "(") || !strings.HasSuffix(last, ")") {
		return r.Content, ""
	}
	return r.Content[:at], last[1 : len(last)-1]
}

// printOutput prints the output of a command: from full if the result was truncated, otherwise from output.
func printOutput(ctx context.Context, w io.Writer, svc pawl.Service, id pawl.SessionID, full *pawl.Blob, output string) error {
	if full == nil {
		_, err := io.WriteString(w, output)
		return err
	}
	whole, err := svc.Output(ctx, id, full.ID)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, whole)
	return errors.Join(err, whole.Close())
}
