// Package stats implements the command 'pawl stats', which charts the usage of models.
package stats

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
)

// statsFlags are the flags of 'pawl stats'.
type statsFlags struct {
	days    int
	by      string
	session string
	all     bool
	asJSON  bool
}

// Command returns 'pawl stats'.
func Command() *cobra.Command {
	var f statsFlags
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show token usage and cost",
		Long: `Show how many tokens the models read and wrote in the sessions of this directory and what
they cost, as reported by the providers. The usage of subagents is included. Days are in
UTC.`,
		Example: `  pawl stats
  pawl stats --all --by model --days 7
  pawl stats --session last --by session       # a session and its subagents
  pawl stats --json | jq .total`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	cmd.Flags().IntVar(&f.days, "days", 30, "include the last `n` days (0 = all; default with --session: all)")
	cmd.Flags().StringVar(&f.by, "by", byDay, "`group` by day, model, agent or session")
	cmd.Flags().StringVar(&f.session, "session", "", "include only the session with this `id` and its subagents")
	cmd.Flags().BoolVar(&f.all, "all", false, "include the sessions of all directories")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("session", "all")
	return cmd
}

func (f *statsFlags) run(cmd *cobra.Command) error {
	if groups := []string{byDay, byModel, byAgent, bySession}; !slices.Contains(groups, f.by) {
		return cli.UsageError(cmd, cli.Unknown("group", f.by, groups))
	}
	if f.days < 0 {
		return cli.UsageError(cmd, fmt.Errorf("--days must not be negative: %d", f.days))
	}
	if f.session != "" && !cmd.Flags().Changed("days") {
		f.days = 0
	}
	return cli.WithApp(cmd, func(ctx context.Context, a *app.App) error {
		now := time.Now()
		filter, where, err := f.filter(ctx, a, now)
		if err != nil {
			return err
		}
		rows, err := a.Usage(ctx, filter)
		if err != nil {
			return err
		}
		s := newStats(rows, f.by, filter, now)
		if f.asJSON {
			return cli.WriteJSON(cmd.OutOrStdout(), s)
		}
		s.bound()
		if err := s.nameSessions(ctx, a); err != nil {
			return err
		}
		_, err = fmt.Fprint(cmd.OutOrStdout(), chart{ascii: asciiOnly(os.Getenv)}.draw(s, where))
		return err
	})
}

// filter returns the filter for the usage to count, and a description of it for the title.
func (f *statsFlags) filter(ctx context.Context, a *app.App, now time.Time) (filter pawl.UsageFilter, where string, err error) {
	if f.days > 0 {
		filter.Since = now.AddDate(0, 0, 1-f.days)
	}
	dir, err := os.Getwd()
	switch {
	case err != nil:
		return filter, "", err
	case f.all:
		return filter, "in all directories", nil
	case f.session == "":
		filter.Dir = dir
		return filter, "in " + dir, nil
	}
	s, err := cli.FindSession(ctx, a.Service, f.session, dir)
	filter.Session = s.ID
	return filter, "of session " + cli.ShortID(s.ID), err
}

// nameSessions sets the names of groups that are sessions.
func (s *stats) nameSessions(ctx context.Context, a *app.App) error {
	if s.By != bySession {
		return nil
	}
	for i, g := range s.Groups {
		if g.others {
			continue
		}
		session, err := a.Get(ctx, pawl.SessionID(g.Key))
		if err != nil && !errors.Is(err, pawl.ErrNotFound) { // a subagent may outlive its parent
			return err
		}
		s.Groups[i].name = session.Name()
		if g.Parent == "" {
			s.Groups[i].short = cli.ShortID(pawl.SessionID(g.Key))
		}
	}
	return nil
}

// asciiOnly reports whether the terminal may not support characters other than ASCII.
func asciiOnly(getenv func(string) string) bool {
	if getenv("TERM") == "dumb" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // in order of precedence
		if locale := strings.ToLower(getenv(name)); locale != "" {
			return !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
		}
	}
	return true
}
