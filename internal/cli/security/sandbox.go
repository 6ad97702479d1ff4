package security

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// sandboxFlags are the flags of 'pawl sandbox'.
type sandboxFlags struct {
	network  []string
	readOnly bool
}

// SandboxCommand returns 'pawl sandbox'.
func SandboxCommand() *cobra.Command {
	var f sandboxFlags
	cmd := &cobra.Command{
		Use:   "sandbox [flags] -- command [argument…]",
		Short: "Run a command in the sandbox",
		Long: `Run a command in the sandbox, exactly as the agent does: it works on a copy-on-write view
of this directory, and Pawl applies its changes when it ends, except to files that other
programs run or obey. The rest of the machine is read-only with secrets hidden, and there
is no network access except for the hosts of --network.

The exit code is that of the command, or 128 plus the signal number if a signal ended it,
or 3 if the command succeeded and some of its changes were not applied.
'pawl doctor' shows whether the sandbox works on this machine.`,
		Example: `  pawl sandbox -- go test ./...
  pawl sandbox --read-only -- bash -c 'touch x'
  pawl sandbox --network proxy.golang.org,sum.golang.org -- go mod download
  pawl sandbox --network '*.example.org,example.org:8443' -- make fetch
  pawl sandbox -- env                    # what a command can see`,
		Args: cli.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	cmd.Flags().StringSliceVar(&f.network, "network", nil, "`hosts` that the command can reach: names, *.domain or host:port, separated by commas")
	cmd.Flags().BoolVar(&f.readOnly, "read-only", false, "make everything read-only except for temporary files")
	cmd.Flags().SetInterspersed(false) // flags after the command belong to the command
	return cmd
}

func (f *sandboxFlags) run(cmd *cobra.Command, args []string) (err error) {
	dir, err := app.WorkingDir()
	if err != nil {
		return err
	}
	s, err := policy.Open()
	if err != nil {
		return err
	}
	p, err := s.Profile(cmd.Context(), dir)
	if err != nil {
		return err
	}
	p.ReadOnly = f.readOnly
	if len(f.network) > 0 {
		socket, done, openErr := openEgress(s, f.network, cmd.ErrOrStderr())
		if openErr != nil {
			return openErr
		}
		defer func() { err = errors.Join(err, done()) }()
		p.ProxySocket = socket
	}
	w, err := s.WrapOnce(cmd.Context(), args, p)
	if err != nil {
		_, report := sandbox.Detect(cmd.Context())
		return errors.Join(err, sandboxFixes(report))
	}
	defer sandbox.Release()
	defer w.Close()
	if w.Notice != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "pawl: "+sanitize.Line(w.Notice))
	}
	code, err := runSandboxed(w)
	if err != nil {
		return err
	}
	refused, err := report(cmd.Context(), cmd.ErrOrStderr(), w)
	if refused && code == 0 {
		code = cli.ExitDenied
	}
	if err == nil && code != 0 {
		err = &cli.ExitError{Code: code}
	}
	return err
}

// report applies what the command has changed, prints what was not applied, and reports whether there was any.
func report(ctx context.Context, out io.Writer, w sandbox.Wrapped) (refused bool, err error) {
	if w.Finish == nil {
		news, err := w.Check()
		if len(news) > 0 {
			fmt.Fprintf(out, "pawl: note: the command created files that other programs may run or load: %s\n", strings.Join(news, ", "))
		}
		return false, err
	}
	done, err := w.Finish(context.WithoutCancel(ctx), nil)
	for _, r := range done.Refused {
		fmt.Fprintf(out, "pawl: %s not changed: %s\n", sanitize.Line(r.Path), sanitize.Line(r.Reason))
	}
	return len(done.Refused) > 0, err
}

// runSandboxed runs the command with pawl's standard input and outputs and returns its exit code.
// Signals are forwarded to the command.
func runSandboxed(w sandbox.Wrapped) (code int, err error) {
	c := exec.Command(w.Args[0], w.Args[1:]...) //nolint:gosec // running the given command is the job
	c.Env, c.ExtraFiles, c.SysProcAttr = w.Env, w.Files, w.Attr
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	if err := c.Start(); err != nil {
		return 0, fmt.Errorf("start the sandbox: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = c.Process.Signal(s) // the command may have just exited
		case err := <-ended:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return 0, fmt.Errorf("run the command: %w", err)
			}
			if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
				return 128 + int(status.Signal()), nil
			}
			return c.ProcessState.ExitCode(), nil
		}
	}
}

// sandboxFixes returns an error that explains how to enable the sandbox, or nil if one is available.
func sandboxFixes(r sandbox.Report) error {
	if r.Backend != "none" {
		return nil
	}
	var lines []error
	for _, f := range r.Findings {
		if !f.OK && f.Fix != "" {
			lines = append(lines, fmt.Errorf("%s: %s (fix: %s)", f.Name, f.Detail, f.Fix))
		}
	}
	return errors.Join(lines...)
}
