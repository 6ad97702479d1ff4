package lineui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
)

// begin says where one is, and what is to be settled before the first prompt.
func (t *talk) begin(ctx context.Context) {
	folder, err := t.look(ctx)
	if err != nil {
		t.voice.fail(err)
	}
	t.greet(folder)
	if brings(folder) {
		t.later = append(t.later, func(context.Context) { t.pose(t.trust(folder, "")) })
	}
	if t.Session != "" {
		if err := t.open(ctx, t.Session); err != nil {
			t.voice.fail(err)
		}
		return
	}
	if t.Settings.Model == "" && folder.Model == "" {
		t.later = append(t.later, func(ctx context.Context) { t.welcome(ctx, folder) })
	}
}

// greet says what one works with.
func (t *talk) greet(folder pawl.Project) {
	words := []string{"pawl in " + name(t.Dir)}
	for _, w := range []struct{ what, own, usual string }{{"model", t.Settings.Model, folder.Model}, {"mode", t.Settings.Mode, folder.Mode}} {
		if w.own == "" {
			w.own = w.usual
		}
		if w.own != "" && t.Session == "" {
			words = append(words, w.what+" "+name(w.own))
		}
	}
	t.voice.say("hello: %s; /help lists what can be done", strings.Join(words, ", "))
	for _, note := range folder.Notes {
		t.voice.say("note: %s", name(note))
	}
}

// brings reports whether a directory would enable something and is not trusted.
func brings(f pawl.Project) bool { return f.Trust.State != "trusted" && len(f.Trust.Parts) > 0 }

func (t *talk) trustAgain(ctx context.Context, _ string) error {
	folder, err := t.look(ctx)
	switch {
	case err != nil:
		return err
	case len(folder.Trust.Parts) == 0:
		t.voice.say("trust: this folder brings nothing that needs it")
	case !brings(folder):
		t.voice.say("trust: this folder is trusted as it is now; 'pawl trust --revoke' takes it back")
	default:
		t.pose(t.trust(folder, ""))
	}
	return nil
}

// trust asks whether what a directory brings may take effect. Nothing does until a yes.
func (t *talk) trust(folder pawl.Project, before string) *question {
	say := func() {
		if before != "" {
			t.voice.say("note: %s", before)
		}
		t.voice.say("ask: do you trust this folder?")
		t.voice.whole(folder.Dir)
		if folder.Trust.State == "changed" {
			t.voice.say("You trusted it before, and what it brings has changed since. Until you trust it again, pawl works here without any of it.")
		} else {
			t.voice.say("It brings what could get programs run, or tell the model what to do. Until you trust it, pawl works here without any of it.")
		}
		t.voice.say("It would enable:")
		for _, part := range folder.Trust.Parts {
			t.voice.whole(strings.ReplaceAll(part, "\n", `\n`))
		}
	}
	return t.menu(say, []choice{
		{number: "1", words: "y yes", text: "yes, as it is now", do: func(ctx context.Context, _ string) { t.trusting(ctx, folder) }},
		{number: "3", words: "n no", text: "no, not now", do: func(context.Context, string) { t.voice.say("trust: not now; /trust asks again") }},
	})
}

// trusting trusts a directory as it was shown. One that has changed is asked about again.
func (t *talk) trusting(ctx context.Context, folder pawl.Project) {
	err := t.do(ctx, func(ctx context.Context) error { return t.Service.Trust(ctx, folder.Dir, folder.Trust.Hash) })
	switch {
	case err == nil:
		t.voice.say("trust: it takes effect with the next prompt")
	case errors.Is(err, pawl.ErrConflict):
		now, err := t.look(ctx)
		if err != nil {
			t.voice.fail(err)
			return
		}
		t.pose(t.trust(now, "it has changed while you looked: this is what is there now"))
	default:
		t.voice.fail(err)
	}
}

// noHelp is what is said where nothing is known of the machine that works.
const noHelp = `Pawl needs a model: a provider's key, or a model on your machine.
export ANTHROPIC_API_KEY=... names a key; OPENAI_API_KEY and GEMINI_API_KEY do too.
'pawl auth login anthropic' asks for the key and keeps it.
Then begin again with pawl --model sonnet; 'pawl models' lists all models.`

// welcome has a model and a mode chosen by who has chosen none.
func (t *talk) welcome(ctx context.Context, folder pawl.Project) {
	models, err := t.findModels(ctx)
	switch {
	case err != nil && !errors.Is(err, pawl.ErrUnavailable):
		t.voice.fail(err)
	case len(models) > 0:
		t.pose(t.firstModel(models, folder))
		return
	}
	if err := t.helpModels(ctx); err != nil {
		t.voice.fail(err)
	}
}

// helpModels says how to come by a model.
func (t *talk) helpModels(ctx context.Context) error {
	help := noHelp
	if t.First.Help != nil {
		err := t.do(ctx, func(ctx context.Context) (err error) {
			help, err = t.First.Help(ctx)
			return err
		})
		if err != nil {
			return err
		}
	}
	t.voice.say("welcome: there is no model to ask yet")
	t.voice.block(help)
	return nil
}

// firstModel asks which model to work with, then how much it may do.
func (t *talk) firstModel(models []pawl.ModelInfo, folder pawl.Project) *question {
	say := func() {
		t.voice.say("welcome: two things are to be chosen first, the model and how much it may do without asking")
		for i, m := range models {
			t.voice.say("%d: %s", i+1, name(m.Ref))
		}
		t.voice.say("0: later")
	}
	return &question{say: say, hint: "number of the model: ", take: func(_ context.Context, line string) {
		n, err := strconv.Atoi(line)
		switch {
		case err != nil || n < 0 || n > len(models):
			t.voice.say("that is no number of the list; /again says it again")
		case n == 0:
			t.question = nil
			t.voice.say("later: /models and /model choose one")
		default:
			t.pose(t.firstMode(models[n-1].Ref, folder))
		}
	}}
}

// firstMode asks how much a model may do. The recommended mode is guard where there
// is a sandbox, otherwise ask.
func (t *talk) firstMode(model string, folder pawl.Project) *question {
	recommended := "ask"
	if folder.Sandbox != "" && folder.Sandbox != "none" {
		recommended = "guard"
	}
	var choices []choice
	for _, m := range modes {
		if m.name == "auto" || len(folder.Modes) > 0 && !slices.Contains(folder.Modes, m.name) {
			continue
		}
		text := m.name + ": " + m.means
		if m.name == recommended {
			text += " (recommended)"
		}
		choices = append(choices, choice{number: strconv.Itoa(len(choices) + 1), words: m.name, text: text, do: func(context.Context, string) { t.chosen(model, m.name) }})
	}
	if len(choices) == 0 { // a managed machine that allows none of these: what holds there
		choices = []choice{{number: "1", text: name(folder.Mode), do: func(context.Context, string) { t.chosen(model, folder.Mode) }}}
	}
	return t.menu(func() { t.voice.say("mode: how much may it do by itself?") }, choices)
}

// chosen keeps the choice. One that cannot be kept holds all the same.
func (t *talk) chosen(model, mode string) {
	t.Settings.Model, t.Settings.Mode = model, mode
	if t.First.Save != nil {
		if err := t.First.Save(model, mode); err != nil {
			t.voice.fail(fmt.Errorf("the choice holds until pawl ends, for it could not be kept: %w", err))
			return
		}
		t.voice.say("chosen: kept in your configuration; say what is to be done")
		return
	}
	t.voice.say("chosen: say what is to be done")
}
