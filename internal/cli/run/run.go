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
	"github.com/pawl-dev/pawl/internal/cli/mission"
	"github.com/pawl-dev/pawl/internal/cli/session"
	"github.com/pawl-dev/pawl/internal/cli/turn"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
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
	isolated bool
	server   string // URL of the server that runs the session; "" means this process

	source, workspace string // of a new session in a fleet

	words pawl.Parts // the arguments, in which commands and references are expanded
}

// Command returns 'pawl run'.
func Command() *cobra.Command {
	var f Flags
	cmd := &cobra.Command{
		Use:   "run [flags] [prompt…]",
		Short: "Run a prompt and exit, for scripts and CI",
		Long: `Run a prompt in the working directory, print the answer and exit.

Pawl attaches standard input to the prompt; without a prompt, standard input is the
prompt. Ctrl-C cancels the turn; a second Ctrl-C exits
at once. If Pawl is killed, 'pawl resume' continues the turn.

Exit codes: 0 done, 1 error, 2 wrong usage, 3 permission denied, 4 limit reached,
5 model failed, 130 canceled.`,
		Example: `  pawl run "fix the failing test"
  git diff | pawl run "review this change"
  pawl run -c "now add tests"                         # continue the last session
  pawl run --add-dir ../lib "use the new function"    # work in ../lib too
  pawl run --isolated "try another parser"            # on a copy; apply or discard it later
  pawl run "/review main.go"                          # run a custom command
  pawl run --format json "fix the build" | jq -r .text
  pawl run --output-schema owners.json -o out.json "who owns which directory?"
  pawl run --attach https://pawl.example.com --source https://example.com/shop.git#main "fix the build"
  pawl run --attach https://pawl.example.com --workspace shop "now add tests"`,
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
	flags.StringVarP(&f.session, "session", "s", "", "continue the session with this `id`")
	flags.BoolVarP(&f.last, "continue", "c", false, "continue the last session of this directory")
	flags.StringVar(&f.ifBusy, "if-busy", "reject", "`action` if the session is busy: reject, queue or steer")
	flags.StringArrayVar(&f.attached, "attach-file", nil, "attach a `file` to the prompt (repeatable)")
	flags.StringVar(&f.schema, "output-schema", "", "require an answer in JSON that matches the JSON Schema in `file`")
	flags.StringVar(&f.server, "attach", "", "run on a server: its `url`, or unix for the local socket (token: PAWL_TOKEN)")
	flags.StringVar(&f.source, "source", "", "in a fleet: start in a new workspace with this git `repository` (https://…, optionally with #ref)")
	flags.StringVar(&f.workspace, "workspace", "", "in a fleet: use the workspace with this `name` (default with --source: a new workspace)")
	for _, own := range []string{"source", "workspace"} {
		cmd.MarkFlagsMutuallyExclusive(own, "session", "continue")
	}
	cmd.MarkFlagsMutuallyExclusive("session", "continue")
	session.AddIsolated(cmd, &f.isolated)
	cli.GroupFlags(cmd, cli.FlagsSession, "session", "continue", "if-busy", "attach-file")
	cli.GroupFlags(cmd, cli.FlagsOutput, "output-schema")
	cli.GroupFlags(cmd, cli.FlagsServer, "attach", "source", "workspace")
}

// Run works on the prompt in args.
func (f *Flags) Run(cmd *cobra.Command, args []string) error {
	if f.server == "" {
		if done, err := session.EnterView(cmd, f.isolated, f.session, f.last); done || err != nil {
			return err
		}
	}
	prompt, err := f.prompt(cmd, args)
	if err != nil {
		return cli.UsageError(cmd, err)
	}
	if err := f.Check(); err != nil {
		return cli.UsageError(cmd, err)
	}
	if f.inFleet() && f.server == "" {
		return cli.UsageError(cmd, fault.New(pawl.ErrInvalid, "--source and --workspace require --attach").Hint("Pass the URL of the fleet's server with --attach."))
	}
	if goal, ok := mission.Goal(f.words.Text()); ok {
		return f.startMission(cmd, goal, prompt)
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
	seq, err := f.send(ctx, a, s.ID, prompt)
	if err != nil {
		return err
	}
	if schema == nil {
		return turn.EndSession(cmd, a, s.ID, f.Follow(cmd, a, s, after, f.Asker(cmd, a), turn.EndOfTurn(seq)))
	}
	p := f.Printer(cmd)
	res, err := schema.Follow(cmd, a, s, after, p, f.Asker(cmd, a), prompt, seq)
	return turn.EndSession(cmd, a, s.ID, f.finish(p, res, err))
}

// send sends the prompt. It deletes a new session in which no turn was started.
func (f *Flags) send(ctx context.Context, a *app.App, id pawl.SessionID, p pawl.Prompt) (pawl.Seq, error) {
	seq, err := a.Send(ctx, id, p)
	switch {
	case errors.Is(err, pawl.ErrBusy):
		return seq, fault.New(pawl.ErrBusy, "cannot send the prompt: %w", err).Hint("Use --if-busy=queue or --if-busy=steer, or run `pawl resume %s` if it was interrupted.", id)
	case err != nil && seq == 0 && f.newSession():
		return seq, errors.Join(err, a.Delete(ctx, id))
	}
	return seq, err
}

// startMission runs a mission, as /mission does in the terminal UI.
func (f *Flags) startMission(cmd *cobra.Command, goal string, p pawl.Prompt) error {
	for _, name := range []string{"session", "continue", "if-busy", "attach-file", "output-schema", "isolated", "agent", "source", "workspace"} {
		if cmd.Flags().Changed(name) {
			return cli.UsageError(cmd, fmt.Errorf("/mission starts a mission, which has no --%s", name))
		}
	}
	for _, part := range p.Parts {
		if piped, ok := part.(pawl.File); ok && piped.Name == stdinName {
			goal += "\n\n" + string(piped.Data)
		}
	}
	return mission.Start(cmd, goal, p.Settings, f.OutputFlags, f.server)
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
		return p, cli.Unknown("value for --if-busy", f.ifBusy, []string{"reject", "queue", "steer"})
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
	switch piped = strings.TrimSpace(piped); {
	case piped == "":
	case len(f.words) == 0:
		p.Parts = append(p.Parts, pawl.Text{Text: piped})
	default:
		p.Parts = append(p.Parts, pawl.File{Name: stdinName, MediaType: "text/plain", Data: []byte(piped)})
	}
	if len(f.words)+len(p.Parts) == 0 {
		return p, fault.New(pawl.ErrInvalid, "no prompt given").Hint("Pass it as an argument or on standard input (see `pawl run --help`).")
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

// stdinName is the name of standard input as an attachment.
const stdinName = "stdin"

func readAttachment(path string) (pawl.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return pawl.File{}, fmt.Errorf("attach: %w", err)
	}
	if info.Size() > cli.MaxInput {
		return pawl.File{}, fmt.Errorf("attach %s: larger than %s", sanitize.Line(path), humanize.IBytes(cli.MaxInput))
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
		return nil, errors.New("--output-schema requires --if-busy=reject")
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
