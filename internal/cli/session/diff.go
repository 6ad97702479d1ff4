package session

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

func sessionDiffCommand() *cobra.Command {
	var o pawl.DiffOptions
	var stat, asJSON bool
	cmd := &cobra.Command{
		Use:   "diff [id|last]",
		Short: "Show what a session changed in files",
		Long: `Show what a session changed in files as a unified diff: from before its first change to
now, without what was undone. Changes of shell commands and subagents are included.

With --turn, show only what that turn changed; 'pawl session show' prints the numbers of
the turns. With --working-tree, show all uncommitted changes in the session's working
directory, whoever made them. Ignored files, very large files and files outside the
project are not in the snapshots that the diff is made from.`,
		Example: `  pawl session diff
  pawl session diff last --turn 1 --stat
  pawl session diff 8Q4Z7K --path main.go
  pawl session diff last | less`,
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.WithSession(cmd, sessionName(args), func(ctx context.Context, a *app.App, s pawl.Session) error {
				d, err := a.Diff(ctx, s.ID, o)
				if err != nil {
					return err
				}
				if asJSON {
					return cli.WriteJSON(cmd.OutOrStdout(), d)
				}
				out := bufio.NewWriter(cmd.OutOrStdout())
				p := diffPrinter{w: out, color: cli.IsTerminal(cmd.OutOrStdout()) && os.Getenv("NO_COLOR") == ""}
				p.print(d, stat)
				return out.Flush()
			})
		},
	}
	cmd.Flags().IntVar(&o.Turn, "turn", 0, "show only the changes of turn `n`")
	cmd.Flags().BoolVar(&o.WorkingTree, "working-tree", false, "show the uncommitted changes in the working directory instead")
	cmd.Flags().StringVar(&o.Path, "path", "", "show only this `file`, up to 1 MiB of its diff")
	cmd.Flags().BoolVar(&stat, "stat", false, "list the files and their numbers of changed lines")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("turn", "working-tree")
	cmd.MarkFlagsMutuallyExclusive("stat", "json")
	return cmd
}

// The colors of git.
const (
	colorHeader  = "\x1b[1m"
	colorHunk    = "\x1b[36m"
	colorAdded   = "\x1b[32m"
	colorDeleted = "\x1b[31m"
	colorNone    = "\x1b[m"
)

// diffPrinter prints a diff as git does.
type diffPrinter struct {
	w     io.Writer
	color bool
}

func (p diffPrinter) print(d pawl.Diff, stat bool) {
	if len(d.Files) == 0 {
		fmt.Fprintln(p.w, "no changes")
	}
	for _, f := range d.Files {
		switch {
		case stat:
			p.stat(f)
		case f.Patch == "":
			p.line(colorHeader, fmt.Sprintf("%s %s: %s", f.Kind, name(f), missing(f)))
		default:
			p.patch(f)
		}
	}
	if stat && len(d.Files) > 0 {
		fmt.Fprintf(p.w, "%s, +%d -%d\n", humanize.Plural(len(d.Files), "file"), d.Added, d.Deleted)
	}
	if n := len(d.Unknown); n > 0 {
		p.line(colorHeader, fmt.Sprintf("The changes of %s are not known: there is no snapshot.", humanize.Plural(n, "tool call")))
	}
	if d.Truncated {
		p.line(colorHeader, "The diff is truncated. Pass --path to see more of one file.")
	}
}

// patch prints the diff of a file.
func (p diffPrinter) patch(f pawl.FileDiff) {
	inHunk := false
	for line := range strings.Lines(sanitize.Text(f.Patch)) {
		line = strings.TrimSuffix(line, "\n")
		color := ""
		switch {
		case strings.HasPrefix(line, "diff --git "):
			inHunk, color = false, colorHeader
		case strings.HasPrefix(line, "@@"):
			inHunk, color = true, colorHunk
		case !inHunk:
			color = colorHeader
		case strings.HasPrefix(line, "+"):
			color = colorAdded
		case strings.HasPrefix(line, "-"):
			color = colorDeleted
		}
		p.line(color, line)
	}
	if f.Truncated {
		p.line(colorHeader, fmt.Sprintf("[truncated: +%d -%d in all]", f.Added, f.Deleted))
	}
}

// stat prints the numbers of a file.
func (p diffPrinter) stat(f pawl.FileDiff) {
	numbers := fmt.Sprintf("+%d -%d", f.Added, f.Deleted)
	if f.Hidden != "" || f.Binary {
		numbers = missing(f)
	}
	fmt.Fprintf(p.w, "%-7s %s  %s\n", f.Kind, name(f), numbers)
}

func (p diffPrinter) line(color, text string) {
	if p.color && color != "" {
		text = color + text + colorNone
	}
	fmt.Fprintln(p.w, text)
}

// name returns the path of a file, with the old one if it was renamed.
func name(f pawl.FileDiff) string {
	path := sanitize.Line(filepath.ToSlash(f.Path))
	if f.OldPath != "" {
		path = sanitize.Line(filepath.ToSlash(f.OldPath)) + " -> " + path
	}
	return path
}

// missing says why a file has no patch.
func missing(f pawl.FileDiff) string {
	switch {
	case f.Hidden != "":
		return f.Hidden
	case f.Binary:
		return "binary"
	default:
		return "too large to show"
	}
}
