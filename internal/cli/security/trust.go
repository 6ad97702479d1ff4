package security

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/app/inventory"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/trust"
)

// trustFlags are the flags of 'pawl trust'. All except asJSON exclude each other.
type trustFlags struct{ yes, list, revoke, status, asJSON bool }

// TrustCommand returns 'pawl trust'.
func TrustCommand() *cobra.Command {
	var f trustFlags
	cmd := &cobra.Command{
		Use:   "trust [directory]",
		Short: "Trust or distrust a project's configuration",
		Long: `Show the configuration of a project (hooks, MCP servers, agents, instructions, …) and ask
whether you trust it. Until you do, Pawl ignores it.

Trust applies to this directory and its current configuration only. If a part changes
that could run programs, Pawl asks again.

Exit codes: 0 trusted, 3 not trusted.`,
		Example: `  pawl trust
  pawl trust --yes .          # without a prompt, for scripts
  pawl trust --status --json
  pawl trust --list
  pawl trust --revoke ~/old`,
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.several() {
				return cli.UsageError(cmd, errors.New("use one of --yes, --list, --revoke and --status"))
			}
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			return f.run(cmd, dir)
		},
	}
	cmd.Flags().BoolVar(&f.yes, "yes", false, "trust the project without asking")
	cmd.Flags().BoolVar(&f.list, "list", false, "list trusted projects")
	cmd.Flags().BoolVar(&f.revoke, "revoke", false, "stop trusting the project")
	cmd.Flags().BoolVar(&f.status, "status", false, "show whether the project is trusted")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

func (f trustFlags) several() bool {
	n := 0
	for _, set := range []bool{f.yes, f.list, f.revoke, f.status} {
		if set {
			n++
		}
	}
	return n > 1
}

func (f trustFlags) run(cmd *cobra.Command, dir string) error {
	guard, err := policy.Open()
	if err != nil {
		return err
	}
	store := guard.Trust()
	switch {
	case f.list:
		return f.printTrusted(cmd.OutOrStdout(), store)
	case f.revoke:
		return f.revokeTrust(cmd, store, dir)
	}
	v, err := f.inventory(cmd, dir)
	if err != nil {
		return err
	}
	t := v.Project
	if f.asJSON {
		err = cli.WriteJSON(cmd.OutOrStdout(), t)
	} else {
		_, err = io.WriteString(cmd.OutOrStdout(), t.String()+v.ProjectLine())
	}
	if err != nil {
		return err
	}
	switch {
	case t.State == trust.Trusted && !f.yes:
		return nil
	case f.status:
		return &cli.ExitError{Code: cli.ExitDenied}
	case !f.yes:
		if err := f.ask(cmd); err != nil {
			return err
		}
	}
	// The hash is of the configuration that was shown: if it has changed since, pawl asks again.
	return store.Trust(t.Path, t.Hash, time.Now())
}

// inventory returns the project configuration in dir and the extensions that it defines.
func (f trustFlags) inventory(cmd *cobra.Command, dir string) (*inventory.Inventory, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	v, err := inventory.Take(cmd.Context(), dir)
	if err != nil {
		return nil, err
	}
	return v, v.ProjectErr
}

func (f trustFlags) revokeTrust(cmd *cobra.Command, store trust.Store, dir string) error {
	if err := store.Revoke(dir); err != nil || !f.asJSON {
		return err
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	return cli.WriteJSON(cmd.OutOrStdout(), struct {
		Revoked string `json:"revoked"`
	}{path})
}

// ask asks the user on the terminal whether to trust the project. It returns an ExitError if not.
func (f trustFlags) ask(cmd *cobra.Command) error {
	in, ok := cmd.InOrStdin().(*os.File)
	if !ok || !cli.IsTerminal(in) {
		return &cli.ExitError{Code: cli.ExitDenied, Err: errors.New("cannot ask without a terminal: use --yes to trust the project")}
	}
	fmt.Fprint(cmd.ErrOrStderr(), "Trust this project? [y/N] ")
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return &cli.ExitError{Code: cli.ExitDenied, Err: errors.New("project not trusted")}
}

func (f trustFlags) printTrusted(w io.Writer, store trust.Store) error {
	folders, approvals, err := store.List()
	if err != nil {
		return err
	}
	if f.asJSON {
		return cli.WriteJSON(w, struct {
			Folders   []trust.Directory `json:"projects"`
			Approvals []trust.Approval  `json:"approvals"`
		}{append([]trust.Directory{}, folders...), append([]trust.Approval{}, approvals...)})
	}
	if len(folders)+len(approvals) == 0 {
		_, err := fmt.Fprintln(w, "No trusted projects.")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, d := range folders {
		fmt.Fprintf(t, "%s\t%s\n", d.At.Local().Format(time.DateOnly), trust.Quote(d.Path))
	}
	for _, a := range approvals {
		fmt.Fprintf(t, "%s\t%s, %s %s\n", a.At.Local().Format(time.DateOnly), trust.Quote(a.Path), trust.Quote(a.Kind), trust.Quote(a.Name))
	}
	return t.Flush()
}
