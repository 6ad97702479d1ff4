// Package run implements the commands 'pawl run' and 'pawl resume'.
package run

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/config"
	"github.com/pawl-dev/pawl/internal/cli/turn"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Flags are the flags of 'pawl run', which 'pawl --print' accepts too.
type Flags struct {
	turn.SettingsFlags
	turn.OutputFlags
	session  string
	last     bool
	ifBusy   string
	attached []string
	schema   string
	server   string // URL of the server that runs the session; "" means this process

	source, workspace string // of a new session in a fleet

	words pawl.Parts // the arguments, in which commands and references are expanded
}

// Command returns 'pawl run'.
func Command() *cobra.Command {
	var f Flags
	cmd := &cobra.Command{
		Use:   "run [flags] [prompt…]",
		Short: "Work on a prompt and exit: for scripts and CI",
		Long: `Work on a prompt in this folder until it is done, then exit.

Text on standard input is added to the prompt. Should pawl be killed, 'pawl resume'
goes on from there. Ctrl-C cancels the turn; a second one ends pawl at once.

Exit codes: 0 done, 1 error, 2 usage, 3 permission denied, 4 a limit was reached,
5 the model failed, 130 canceled.`,
		Example: `  pawl run --model script:demo.jsonl "say hello"
  git diff | pawl run --model script:review.jsonl "review this"
  pawl run -c "and now the tests"                     # go on with this folder's last session
  pawl run "/review main.go"                          # a command of yours: 'pawl commands list'
  pawl run --format json "fix the build" | jq -r .text
  pawl run --output-schema owners.json -o out.json "who owns which folder?"
  pawl run --attach https://pawl.example.com --source https://example.com/shop.git#main "fix the build"
  pawl run --attach https://pawl.example.com --workspace shop "and now the tests"`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.Run(cmd, args) },
	}
	f.Add(cmd)
	return cmd
}

// Add adds the flags to cmd.
func (f *Flags) Add(cmd *cobra.Command) {
	f.SettingsFlags.Add(cmd)
	f.OutputFlags.Add(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&f.session, "session", "s", "", "go on with the session of this `id`")
	flags.BoolVarP(&f.last, "continue", "c", false, "go on with this folder's last session")
	flags.StringVar(&f.ifBusy, "if-busy", "reject", "what to do while the session is at work: reject, queue or steer")
	flags.StringArrayVar(&f.attached, "attach-file", nil, "attach a `file` to the prompt (repeatable)")
	flags.StringVar(&f.schema, "output-schema", "", "the final text must be JSON that the JSON Schema in `file` accepts")
	flags.StringVar(&f.server, "attach", "", "have a server do the work: its `url`, or unix for the one on this machine's socket; PAWL_TOKEN is the token")
	flags.StringVar(&f.source, "source", "", "with --attach, to a fleet: begin in a folder of the fleet's that is this `repository`: https://…, and #ref")
	flags.StringVar(&f.workspace, "workspace", "", "with --attach, to a fleet: work in the folder of the fleet's that has this `name` (default: a new one if there is --source)")
	for _, own := range []string{"source", "workspace"} {
		cmd.MarkFlagsMutuallyExclusive(own, "session", "continue")
	}
	cmd.MarkFlagsMutuallyExclusive("session", "continue")
	cli.GroupFlags(cmd, cli.FlagsSession, "session", "continue", "if-busy", "attach-file")
	cli.GroupFlags(cmd, cli.FlagsOutput, "output-schema")
	cli.GroupFlags(cmd, cli.FlagsServer, "attach", "source", "workspace")
}

// Run works on the prompt in args.
func (f *Flags) Run(cmd *cobra.Command, args []string) error {
	prompt, err := f.prompt(cmd, args)
	if err != nil {
		return cli.UsageError(cmd, err)
	}
	if err := f.Check(); err != nil {
		return cli.UsageError(cmd, err)
	}
	if f.inFleet() && f.server == "" {
		return cli.UsageError(cmd, errors.New("--source and --workspace are folders of a fleet: name its server with --attach"))
	}
	schema, err := f.useSchema(&prompt)
	if err != nil {
		return cli.UsageError(cmd, err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	a, err := app.OpenAt(ctx, f.server)
	if err != nil {
		return err
	}
	defer a.Close()
	var fleetSession pawl.Session
	if f.inFleet() { // the fleet chooses the directory
		if fleetSession, err = a.Create(ctx, pawl.NewSession{Workspace: f.workspace, Source: f.source}); err != nil {
			return err
		}
		dir = fleetSession.Dir
	}
	if err := f.expand(cmd, a, dir, &prompt); err != nil {
		return errors.Join(err, f.discard(ctx, a, fleetSession))
	}
	if schema != nil {
		prompt.Parts = append(prompt.Parts, pawl.Text{Text: schema.Instructions()})
	}
	if prompt.Model == "" && f.newSession() {
		if prompt.Model, err = turn.DefaultModel(ctx); err != nil {
			return errors.Join(err, f.discard(ctx, a, fleetSession))
		}
	}

	f.PrintTrustNotice(ctx, a, dir, cmd.ErrOrStderr())
	if f.Format == "text" {
		config.PrintNotice(cmd.ErrOrStderr())
	}
	s := fleetSession
	if !f.inFleet() {
		if s, err = f.target(ctx, a, dir); err != nil {
			return err
		}
	}
	after := s.Head
	if f.newSession() {
		after = 0 // show the session from the beginning
	}
	seq, err := a.Send(ctx, s.ID, prompt)
	switch {
	case errors.Is(err, pawl.ErrBusy):
		return fmt.Errorf("%w\nwait for it, or use --if-busy queue or steer; if nobody works on it, 'pawl resume %s' goes on", err, s.ID)
	case err != nil && seq == 0 && f.newSession():
		return errors.Join(err, a.Delete(ctx, s.ID)) // no turn was started
	case err != nil:
		return err
	}
	if schema == nil {
		return turn.EndSession(cmd, a, s.ID, f.Follow(cmd, a, s, after, f.Asker(cmd, a), turn.EndOfTurn(seq)))
	}
	p := f.Printer(cmd)
	res, err := schema.Follow(cmd, a, s, after, p, f.Asker(cmd, a), prompt, seq)
	return turn.EndSession(cmd, a, s.ID, f.finish(p, res, err))
}

// expand expands commands and references in the arguments, and prepends the result to p. A command
// may set the agent and the model of p.
func (f *Flags) expand(cmd *cobra.Command, a *app.App, dir string, p *pawl.Prompt) error {
	x, notes, err := a.Expand(cmd.Context(), dir, pawl.Prompt{Parts: f.words, Settings: p.Settings})
	switch {
	case errors.Is(err, pawl.ErrInvalid):
		return cli.UsageError(cmd, err)
	case err != nil:
		return err
	}
	for _, note := range notes {
		fmt.Fprintf(cmd.ErrOrStderr(), "pawl: note: %s\n", sanitize.Line(note))
	}
	p.Settings, p.Parts = x.Settings, append(x.Parts, p.Parts...)
	return nil
}

// inFleet reports whether the session runs in a workspace of a fleet.
func (f *Flags) inFleet() bool { return f.source != "" || f.workspace != "" }

// discard deletes a session in which no turn was started, if s is one.
func (f *Flags) discard(ctx context.Context, a *app.App, s pawl.Session) error {
	if s.ID == "" {
		return nil
	}
	return a.Delete(ctx, s.ID)
}

func (f *Flags) newSession() bool { return f.session == "" && !f.last }

// target returns the session for the prompt: the selected one or a new one.
func (f *Flags) target(ctx context.Context, a *app.App, dir string) (pawl.Session, error) {
	switch {
	case f.session != "":
		return cli.FindSession(ctx, a.Service, f.session, dir)
	case f.last:
		return cli.FindSession(ctx, a.Service, cli.Last, dir)
	default:
		return a.Create(ctx, pawl.NewSession{Dir: dir})
	}
}

func (f *Flags) prompt(cmd *cobra.Command, args []string) (pawl.Prompt, error) {
	p := pawl.Prompt{}
	deliveries := map[string]pawl.Delivery{"reject": pawl.DeliverNow, "queue": pawl.DeliverQueue, "steer": pawl.DeliverSteer}
	delivery, ok := deliveries[f.ifBusy]
	if !ok {
		return p, fmt.Errorf("--if-busy %q: use reject, queue or steer", f.ifBusy)
	}
	settings, err := f.Settings()
	if err != nil {
		return p, err
	}
	p.Delivery, p.Settings = delivery, settings
	p.Absent = !f.Attended(cmd)

	text := strings.Join(args, " ")
	if strings.TrimSpace(text) != "" {
		f.words = pawl.Parts{pawl.Text{Text: text}}
	}
	piped, err := cli.ReadStdin(cmd.InOrStdin())
	if err != nil {
		return p, err
	}
	if piped = strings.TrimSpace(piped); piped != "" {
		p.Parts = append(p.Parts, pawl.Text{Text: piped})
	}
	if len(f.words)+len(p.Parts) == 0 {
		return p, errors.New("there is no prompt: give it as an argument or on standard input")
	}
	for _, path := range f.attached {
		file, err := readAttachment(path)
		if err != nil {
			return p, err
		}
		p.Parts = append(p.Parts, file)
	}
	return p, nil
}

func readAttachment(path string) (pawl.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return pawl.File{}, fmt.Errorf("attach: %w", err)
	}
	if info.Size() > cli.MaxInput {
		return pawl.File{}, fmt.Errorf("attach %s: it has more than %d bytes", path, cli.MaxInput)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return pawl.File{}, fmt.Errorf("attach: %w", err)
	}
	kind := mime.TypeByExtension(filepath.Ext(path))
	if kind == "" {
		kind = http.DetectContentType(data)
	}
	return pawl.File{Name: filepath.Base(path), MediaType: kind, Data: data}, nil
}

// useSchema reads the schema of --output-schema. It returns nil without the flag.
func (f *Flags) useSchema(p *pawl.Prompt) (*turn.Schema, error) {
	if f.schema == "" {
		return nil, nil //nolint:nilnil // any text will do
	}
	if p.Delivery != pawl.DeliverNow {
		return nil, errors.New("--output-schema goes with --if-busy reject alone")
	}
	s, err := turn.ReadSchema(f.schema)
	if err != nil {
		return nil, fmt.Errorf("--output-schema %s: %w", f.schema, err)
	}
	return s, nil
}

// finish prints the result of schema.Follow, which failed if err is not nil.
func (f *Flags) finish(p turn.Printer, res turn.Result, err error) error {
	var exit *cli.ExitError
	if err != nil && (!errors.As(err, &exit) || errors.Is(err, turn.ErrInterrupted)) {
		return err // there is no result
	}
	if err == nil {
		return f.Show(p, res)
	}
	if res.Error == "" {
		res.Reason, res.Error = pawl.ReasonError, err.Error()
	}
	if f.Format == "text" {
		res.Text = "" // a script must not use it as a valid answer
	}
	return errors.Join(p.Result(res), err)
}
