package gate

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mission/gate"
	"github.com/pawl-dev/pawl/internal/mission/gate/discover"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// explanation is the output of --explain: the checks that the gate would run, and why.
type explanation struct {
	Base   string           `json:"base"`
	Checks []explainedCheck `json:"checks"`
}

type explainedCheck struct {
	discover.Found

	Installed bool `json:"installed"` // whether its program is
}

// explainChecks prints what the gate would run and why. It runs nothing.
func (f *gateFlags) explainChecks(cmd *cobra.Command, checks []pawl.Check) error {
	if f.format != "text" && f.format != "json" || f.file != "" {
		return cli.UsageError(cmd, errors.New("--explain needs --format text or json, and no --output"))
	}
	repo, err := openRepo(cmd.Context())
	if err != nil {
		return err
	}
	e, err := f.explain(cmd, repo, checks)
	if err != nil {
		return err
	}
	if f.format == "json" {
		return cli.WriteJSON(cmd.OutOrStdout(), e)
	}
	_, err = io.WriteString(cmd.OutOrStdout(), e.text())
	return err
}

// explain finds the checks of the base. Without a base, it takes HEAD.
func (f *gateFlags) explain(cmd *cobra.Command, repo *git.Repo, checks []pawl.Check) (e explanation, err error) {
	ctx := cmd.Context()
	if f.base == "" && policy.Base() == "" {
		e.Base, err = repo.Commit(ctx, f.head)
	} else {
		var c change
		_, err = c.resolve(ctx, repo, f.base, f.head)
		e.Base = c.base
	}
	if err != nil {
		return e, err
	}
	var found []discover.Found
	for _, c := range checks {
		found = append(found, discover.Found{Check: c, Why: "given on the command line"})
	}
	if len(found) == 0 {
		if found, err = gate.Discover(ctx, repo, e.Base); err != nil {
			return e, err
		}
	}
	for _, c := range found {
		_, err := exec.LookPath(c.Args[0])
		e.Checks = append(e.Checks, explainedCheck{c, err == nil})
	}
	return e, nil
}

func (e explanation) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Checks of %.12s:\n", e.Base)
	for _, c := range e.Checks {
		fmt.Fprintf(&b, "\n%s (%s)\n", sanitize.Line(c.ID), c.Kind)
		line := func(name, value string) {
			if value != "" {
				fmt.Fprintf(&b, "  %-8s %s\n", name, sanitize.Line(value))
			}
		}
		line("command", shorten(c.Check).String())
		line("in", c.Dir)
		line("env", strings.Join(c.Env, " "))
		line("network", strings.Join(c.Network, ", "))
		line("tests", strings.TrimSpace(c.Tests+" "+c.Report))
		line("why", c.Why)
		if !c.Installed {
			line("problem", c.Args[0]+" is not installed")
		}
	}
	return b.String()
}

// shorten returns a check with long arguments cut, such as a reporter that is passed as a URL.
func shorten(c pawl.Check) pawl.Check {
	const most = 200
	args := make([]string, len(c.Args))
	for i, a := range c.Args {
		if args[i] = a; len(a) > most {
			args[i] = strings.ToValidUTF8(a[:40], "") + "…"
		}
	}
	c.Args = args
	return c
}
