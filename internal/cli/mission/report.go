package mission

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/mission"
)

// missionReportFlags are the flags of 'pawl mission report'.
type missionReportFlags struct {
	missionTarget
	format, file string
}

var reportFormats = []string{"markdown", "json", "html", "intoto"}

func missionReportCommand() *cobra.Command {
	var f missionReportFlags
	cmd := &cobra.Command{
		Use:   "report [id]",
		Short: "Print the report of a mission, with the evidence",
		Long: `Print the report of a mission: the goal, the tasks with their commits, the reviews, the
checks and the gate results, the state of the evidence chain, and the cost. Everything
comes from the log. 'pawl mission verify' runs the gate again.`,
		Example: `  pawl mission report
  pawl mission report --format html -o report.html
  pawl mission report --format intoto | cosign attest-blob …`,
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(reportFormats, f.format) {
				return cli.UsageError(cmd, fmt.Errorf("invalid --format %q: use one of %s", f.format, strings.Join(reportFormats, ", ")))
			}
			return f.with(cmd, args, func(ctx context.Context, a *app.App, s pawl.Session) error {
				return f.run(ctx, cmd.OutOrStdout(), a, s)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.format, "format", "markdown", "output `format`: markdown, json, html or intoto")
	cmd.Flags().StringVarP(&f.file, "output", "o", "", "write the report to `file`")
	return cmd
}

func (f *missionReportFlags) run(ctx context.Context, w io.Writer, a *app.App, s pawl.Session) error {
	b, err := a.Mission(ctx, s.ID)
	if err != nil {
		return err
	}
	r, err := mission.ReportOf(ctx, a, b)
	if err != nil {
		return err
	}
	if f.file == "" {
		return f.write(w, r)
	}
	var text strings.Builder
	if err := f.write(&text, r); err != nil {
		return err
	}
	return cli.ReplaceFile(f.file, []byte(text.String()))
}

func (f *missionReportFlags) write(w io.Writer, r mission.Report) error {
	if f.format == "json" {
		return cli.WriteJSON(w, r)
	}
	text, err := r.Format(f.format)
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n", bytes.TrimSuffix(text, []byte("\n")))
	}
	return err
}
