package gate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/turn"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mission/review"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/strictjson"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// reviewTools are the tools of a reviewer. All of them only read.
var reviewTools = []string{"read", "list", "glob", "grep"}

// reviewFlags are the flags of 'pawl review'.
type reviewFlags struct {
	turn.SettingsFlags
	base, head   string
	format, file string
	failOn       string
	most         int
}

// ReviewCommand returns 'pawl review'.
func ReviewCommand() *cobra.Command {
	var f reviewFlags
	cmd := &cobra.Command{
		Use:   "review [flags]",
		Short: "Review a change and fail on serious findings",
		Long: `Have a model review the changes since the merge base with a branch: by default all
tracked files of the project, committed or not. The model can only read. Pawl never
prompts, and ignores project configuration that comes with a proposed change. Findings
outside the change are dropped and counted.

In CI for a pull request, the default base is the target branch, which must be fetched
with its history. Otherwise pass --base.

Binary files, files with more than 64 KiB of changes, and files that exceed the total
of 384 KiB are not reviewed. Each of them is a finding of the rule not-reviewed.

Exit codes: 0 no findings at or above --fail-on, 1 error, 2 wrong usage, 4 a limit
was reached, 5 the model failed, 6 findings at or above --fail-on, 130 canceled.`,
		Example: `  pawl review --base main                           # the project as it is
  pawl review --base main --head feature --format json
  pawl review --format sarif -o review.sarif        # in CI; the text goes to the log
  pawl review --base main --fail-on warning --max-cost 0.50`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.AddModel(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.base, "base", "", "review the changes since the merge base with this `ref` (default in CI: the target branch)")
	flags.StringVar(&f.head, "head", "", "review the changes up to this `ref` (default: the files in the working directory)")
	flags.StringVar(&f.format, "format", "text", "output `format`: text, json, sarif or markdown")
	flags.StringVarP(&f.file, "output", "o", "", "write the report to `file`, and print text")
	flags.StringVar(&f.failOn, "fail-on", "error", "exit with 6 for findings at or above this `level`: none, note, warning or error")
	flags.IntVar(&f.most, "max-findings", 50, "report at most `n` findings, the most severe first")
	cli.GroupFlags(cmd, cli.FlagsChange, "base", "head")
	cli.GroupFlags(cmd, cli.FlagsOutput, "format", "output", "fail-on", "max-findings")
	return cmd
}

func (f *reviewFlags) check() error {
	formats, levels := []string{"text", "json", "sarif", "markdown"}, []string{"none", "note", "warning", "error"}
	switch {
	case !slices.Contains(formats, f.format):
		return cli.Unknown("format", f.format, formats)
	case !slices.Contains(levels, f.failOn):
		return cli.Unknown("level", f.failOn, levels)
	case f.most < 1 || f.most > review.MaxFindings:
		return fmt.Errorf("invalid --max-findings %d: use a number from 1 to %d", f.most, review.MaxFindings)
	}
	return nil
}

// reviewReport is the output of --format json.
type reviewReport struct {
	Session pawl.SessionID `json:"session,omitempty"` // "" if there was nothing to review
	review.Report
	Steps   int                 `json:"steps"`
	Usage   pawl.Usage          `json:"usage"`
	CostUSD float64             `json:"cost_usd"`
	Denials []transcript.Denial `json:"denials"`
}

func (f *reviewFlags) run(cmd *cobra.Command) error {
	settings, err := f.Settings()
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return cli.UsageError(cmd, err)
	}
	ctx := cmd.Context()
	change, err := readChange(ctx, f.base, f.head)
	if err != nil {
		return err
	}
	for _, note := range change.notes {
		fmt.Fprintf(cmd.ErrOrStderr(), "pawl: note: %s\n", note)
	}
	out := reviewReport{Report: review.Report{Base: change.base, Head: change.head, Files: len(change.shown), Findings: []review.Finding{}, LeftOut: change.leftOut}, Denials: []transcript.Denial{}}
	if len(change.shown) > 0 {
		if err := f.ask(cmd, settings, change, &out); err != nil {
			return err
		}
	}
	out.Findings = append(out.Findings, review.LeftOut(change.leftOut)...)
	if err := f.print(cmd.OutOrStdout(), out); err != nil {
		return err
	}
	if n := out.At(review.Severity(f.failOn)); f.failOn != "none" && n > 0 {
		return &cli.ExitError{Code: cli.ExitGate, Err: fmt.Errorf("review not passed: %s at or above %s", humanize.Plural(n, "finding"), f.failOn)}
	}
	return nil
}

// ask makes the model review the change in a new session, and stores the result in out.
func (f *reviewFlags) ask(cmd *cobra.Command, settings pawl.Settings, change change, out *reviewReport) error {
	ctx := cmd.Context()
	form := review.Schema(f.most)
	text, err := json.Marshal(form)
	if err != nil {
		return err
	}
	schema, err := turn.NewSchema(form, string(text))
	if err != nil {
		return err
	}
	if settings.Model == "" {
		if settings.Model, err = turn.DefaultModel(ctx); err != nil {
			return err
		}
	}
	settings.Mode, settings.Tools, settings.Absent = "plan", reviewTools, true
	prompt := pawl.Prompt{Settings: settings, Parts: pawl.Parts{pawl.Text{
		Text: review.Ask(change.shown, change.leftOut, change.caveat, sanitize.Untrusted) + schema.Instructions(),
	}}}
	return cli.WithApp(cmd, func(ctx context.Context, a *app.App) error {
		res, err := answer(cmd, a, change.dir, prompt, schema)
		if err != nil {
			return err
		}
		var found review.Answer
		if err := strictjson.Decode(res.Output, &found); err != nil {
			return err
		}
		out.Session, out.Steps, out.Usage, out.CostUSD, out.Denials = res.Session, res.Steps, res.Usage, res.CostUSD, res.Denials
		out.Summary = found.Summary
		out.Findings, out.Dropped = review.Check(found.Findings, change.shown, f.most)
		return nil
	})
}

// answer sends a prompt to a new session and returns the result. It prints only errors and denied
// tool calls.
func answer(cmd *cobra.Command, a *app.App, dir string, prompt pawl.Prompt, schema *turn.Schema) (turn.Result, error) {
	ctx := cmd.Context()
	s, err := a.Create(ctx, pawl.NewSession{Dir: dir, Title: "review"})
	if err != nil {
		return turn.Result{}, err
	}
	seq, err := a.Send(ctx, s.ID, prompt)
	if err != nil && seq == 0 {
		return turn.Result{}, errors.Join(err, a.Delete(ctx, s.ID)) // no turn was started
	}
	if err != nil {
		return turn.Result{}, err
	}
	p := turn.NewTextPrinter(io.Discard, cmd.ErrOrStderr())
	res, err := schema.Follow(cmd, a, s, 0, p, nil, prompt, seq)
	for _, d := range res.Denials {
		fmt.Fprintf(cmd.ErrOrStderr(), "pawl: %s: %s\n", d.Tool, humanize.FirstLine(d.Reason, 200))
	}
	return res, err
}

// print writes the report to w in the chosen format. With --output it writes the report to the
// file, and the text to w.
func (f *reviewFlags) print(w io.Writer, r reviewReport) error {
	if f.file == "" {
		return f.write(w, r)
	}
	var b strings.Builder
	if err := f.write(&b, r); err != nil {
		return err
	}
	if err := cli.ReplaceFile(f.file, []byte(b.String())); err != nil {
		return err
	}
	_, err := io.WriteString(w, r.Text())
	return err
}

func (f *reviewFlags) write(w io.Writer, r reviewReport) error {
	var err error
	switch f.format {
	case "json":
		return cli.WriteJSON(w, r)
	case "sarif":
		return cli.WriteJSON(w, r.SARIF(cmp.Or(app.Version, "dev")))
	case "markdown":
		_, err = io.WriteString(w, r.Markdown())
	default:
		_, err = io.WriteString(w, r.Text())
	}
	return err
}
