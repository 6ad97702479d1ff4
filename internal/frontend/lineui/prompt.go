package lineui

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/suggest"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// handlePromptInput handles input for a prompt: a line, a line that ends in a
// backslash, or a paste. A paste waits for an extra Enter and is never a command,
// because the user may not have read every line of it.
func (u *ui) handlePromptInput(ctx context.Context, in userInput) {
	line, goesOn := strings.CutSuffix(in.text(), `\`)
	switch {
	case in.pasted():
		u.draft, u.pasted = append(u.draft, in.lines...), true
		u.out.printf("pasted: %s; press Enter to send, type /drop to discard, or add more lines", humanize.Plural(len(in.lines), "line"))
	case u.pasted && strings.TrimSpace(line) == "" && !goesOn:
		text := strings.Join(u.draft, "\n")
		u.draft, u.pasted = nil, false
		u.sendPrompt(ctx, text, verbatim)
	case len(u.draft) > 0 && line == "/drop":
		u.draft, u.pasted = nil, false
		u.out.printf("dropped: not sent")
	case u.pasted || goesOn:
		u.draft = append(u.draft, line)
	default:
		text := strings.Join(append(u.draft, line), "\n")
		u.draft = nil
		u.submitPrompt(ctx, text)
	}
}

// commandPattern matches a slash command and its argument. A path does not match: it
// has more slashes.
var commandPattern = regexp.MustCompile(`(?s)^/([A-Za-z0-9][\w.:-]*)(?:\s+(.*))?$`)

// submitPrompt runs a slash command or a shell command, or sends a prompt.
func (u *ui) submitPrompt(ctx context.Context, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if shell, ok := strings.CutPrefix(text, "!"); ok {
		u.shell(ctx, strings.TrimSpace(shell))
		return
	}
	m := commandPattern.FindStringSubmatch(strings.TrimRight(text, " \t\n"))
	if m == nil {
		u.sendPrompt(ctx, text, expanded)
		return
	}
	for _, c := range commands() {
		if c.name == m[1] {
			if err := c.do(u, ctx, strings.TrimSpace(m[2])); err != nil {
				u.out.printError(err)
			}
			return
		}
	}
	if err := u.checkCommand(ctx, m[1]); err != nil {
		u.out.printError(err)
		return
	}
	u.sendPrompt(ctx, text, expanded)
}

// checkCommand returns an error unless a command of this front end or of the project
// has this name.
func (u *ui) checkCommand(ctx context.Context, command string) error {
	project, err := u.project(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	for _, c := range project.Commands {
		names = append(names, sanitizeLine(c.Name))
	}
	if slices.Contains(names, command) {
		return nil
	}
	if similar := suggest.Quoted("/", command, names); similar != "" {
		return usagef("unknown command %q. Did you mean %s?", "/"+command, similar)
	}
	return usagef("unknown command %q; /help lists the commands; to send it as text, type a space first", "/"+command)
}

// project returns the project's configuration. It is empty if the service cannot read
// projects.
func (u *ui) project(ctx context.Context) (project pawl.Project, err error) {
	err = u.runInterruptible(ctx, func(ctx context.Context) (err error) {
		project, err = u.Service.Look(ctx, u.workDir())
		return err
	})
	if errors.Is(err, pawl.ErrUnavailable) {
		return pawl.Project{}, nil
	}
	return project, err
}

// workDir returns the working directory of the session.
func (u *ui) workDir() string {
	if u.session.Dir != "" {
		return u.session.Dir
	}
	return u.Dir
}

// expansion says whether commands and mentions in a prompt are expanded.
type expansion int

const (
	expanded expansion = iota // they are replaced by what they name
	verbatim                  // the prompt is sent as it is
)

// sendPrompt sends a prompt to the session.
func (u *ui) sendPrompt(ctx context.Context, text string, m expansion) {
	working := u.work.open()
	p := pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: text}}, Delivery: pawl.DeliverSteer, Settings: u.Settings}
	var seq pawl.Seq
	var notes []string
	err := u.ensureSession(ctx, func(ctx context.Context, id pawl.SessionID) error {
		if m == expanded {
			full, more, err := u.Service.Expand(ctx, u.workDir(), p)
			switch {
			case err == nil:
				p, notes = full, more
			case !errors.Is(err, pawl.ErrUnavailable):
				return err
			}
		}
		var err error
		seq, err = u.Service.Send(ctx, id, p)
		return err
	})
	for _, note := range notes {
		u.out.printf("note: %s", sanitizeLine(note))
	}
	if err != nil {
		u.out.printError(fmt.Errorf("not sent: %w", err))
		return
	}
	id := transcript.PromptID(seq)
	u.renderer.typed[id], u.work.items[id] = true, true
	if working {
		u.out.printf("sent: read at the next step")
	}
}

// ensureSession runs work with the open session, and creates one if none exists.
func (u *ui) ensureSession(ctx context.Context, work func(context.Context, pawl.SessionID) error) error {
	created := false
	err := u.runInterruptible(ctx, func(ctx context.Context) (err error) {
		if u.session.ID == "" {
			if u.session, err = u.Service.Create(ctx, pawl.NewSession{Dir: u.Dir}); err != nil {
				return err
			}
			created = true
		}
		return work(ctx, u.session.ID)
	})
	if created {
		u.follow(ctx, u.session.ID, 0)
	}
	return err
}

// shell runs a shell command of the user.
func (u *ui) shell(ctx context.Context, command string) {
	if command == "" {
		return
	}
	var seq pawl.Seq
	err := u.ensureSession(ctx, func(ctx context.Context, id pawl.SessionID) (err error) {
		seq, err = u.Service.Shell(ctx, id, command)
		return err
	})
	if err != nil {
		u.out.printError(err)
		return
	}
	u.work.items[transcript.CallID(seq.ShellCall())] = true
	if u.work.turn {
		u.out.printf("sent: runs when the turn ends")
	}
}
