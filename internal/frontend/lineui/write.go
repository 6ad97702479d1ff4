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
)

// write takes what was typed for a prompt: a line, one that goes on, or a paste. A
// paste waits for an Enter of its own, and is never a command: who pastes has not
// read every line of it.
func (t *talk) write(ctx context.Context, in typed) {
	line, goesOn := strings.CutSuffix(in.text(), `\`)
	switch {
	case in.pasted():
		t.draft, t.pasted = append(t.draft, in.lines...), true
		t.voice.say("pasted: %s; Enter alone sends all of it, /drop drops it, more lines are added", humanize.Plural(len(in.lines), "line"))
	case t.pasted && strings.TrimSpace(line) == "" && !goesOn:
		text := strings.Join(t.draft, "\n")
		t.draft, t.pasted = nil, false
		t.send(ctx, text, asItIs)
	case len(t.draft) > 0 && line == "/drop":
		t.draft, t.pasted = nil, false
		t.voice.say("dropped: what was written is not sent")
	case t.pasted || goesOn:
		t.draft = append(t.draft, line)
	default:
		text := strings.Join(append(t.draft, line), "\n")
		t.draft = nil
		t.submit(ctx, text)
	}
}

// called finds the command that a prompt begins with, and what stands behind it. A
// path has more slashes.
var called = regexp.MustCompile(`(?s)^/([A-Za-z0-9][\w.:-]*)(?:\s+(.*))?$`)

// submit does what was written, or sends it.
func (t *talk) submit(ctx context.Context, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if shell, ok := strings.CutPrefix(text, "!"); ok {
		t.shell(ctx, strings.TrimSpace(shell))
		return
	}
	m := called.FindStringSubmatch(strings.TrimRight(text, " \t\n"))
	if m == nil {
		t.send(ctx, text, expanded)
		return
	}
	for _, c := range commands() {
		if c.name == m[1] {
			if err := c.do(t, ctx, strings.TrimSpace(m[2])); err != nil {
				t.voice.fail(err)
			}
			return
		}
	}
	if err := t.known(ctx, m[1]); err != nil {
		t.voice.fail(err)
		return
	}
	t.send(ctx, text, expanded)
}

// known returns an error unless the directory may bring a command.
func (t *talk) known(ctx context.Context, command string) error {
	folder, err := t.look(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	for _, c := range folder.Commands {
		names = append(names, name(c.Name))
	}
	if slices.Contains(names, command) {
		return nil
	}
	return slip("there is no command /%s%s; /help lists them, and a blank before the slash makes it text", command, suggest.Ask("/", command, names))
}

// look looks at the directory. A service without a desk knows of none.
func (t *talk) look(ctx context.Context) (folder pawl.Project, err error) {
	err = t.do(ctx, func(ctx context.Context) (err error) {
		folder, err = t.Service.Look(ctx, t.dir())
		return err
	})
	if errors.Is(err, pawl.ErrUnavailable) {
		return pawl.Project{}, nil
	}
	return folder, err
}

// dir is the directory that the session works in.
func (t *talk) dir() string {
	if t.session.Dir != "" {
		return t.session.Dir
	}
	return t.Dir
}

// meaning says what the words of a prompt stand for.
type meaning int

const (
	expanded meaning = iota // commands and mentions stand for what they name
	asItIs                  // nothing in it does
)

// send gives the session a prompt.
func (t *talk) send(ctx context.Context, text string, m meaning) {
	working := t.teller.working()
	p := pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: text}}, Delivery: pawl.DeliverSteer, Settings: t.Settings}
	var seq pawl.Seq
	var notes []string
	err := t.inSession(ctx, func(ctx context.Context, id pawl.SessionID) error {
		if m == expanded {
			full, more, err := t.Service.Expand(ctx, t.dir(), p)
			switch {
			case err == nil:
				p, notes = full, more
			case !errors.Is(err, pawl.ErrUnavailable):
				return err
			}
		}
		var err error
		seq, err = t.Service.Send(ctx, id, p)
		return err
	})
	for _, note := range notes {
		t.voice.say("note: %s", name(note))
	}
	if err != nil {
		t.voice.fail(fmt.Errorf("not sent: %w", err))
		return
	}
	t.teller.sent(seq, text)
	if working {
		t.voice.say("sent: it is read at the next step")
	}
}

// inSession does something with the session, which is made if there is none yet.
func (t *talk) inSession(ctx context.Context, work func(context.Context, pawl.SessionID) error) error {
	created := false
	err := t.do(ctx, func(ctx context.Context) (err error) {
		if t.session.ID == "" {
			if t.session, err = t.Service.Create(ctx, pawl.NewSession{Dir: t.Dir}); err != nil {
				return err
			}
			created = true
		}
		return work(ctx, t.session.ID)
	})
	if created {
		t.follow(ctx, t.session.ID, 0)
	}
	return err
}

// shell runs a command of the person's.
func (t *talk) shell(ctx context.Context, command string) {
	if command == "" {
		return
	}
	var seq pawl.Seq
	err := t.inSession(ctx, func(ctx context.Context, id pawl.SessionID) (err error) {
		seq, err = t.Service.Shell(ctx, id, command)
		return err
	})
	if err != nil {
		t.voice.fail(err)
		return
	}
	t.teller.shells[seq] = command
}
