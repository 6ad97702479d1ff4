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

// start greets the user, opens the configured session, and queues the questions that
// come before the first prompt: trust and the choice of a model.
func (u *ui) start(ctx context.Context) {
	project, err := u.project(ctx)
	if err != nil {
		u.out.printError(err)
	}
	u.printHeader(project)
	if needsTrust(project) {
		u.startup = append(u.startup, func(context.Context) { u.present(u.trust(project, "")) })
	}
	if u.Session != "" {
		if err := u.openSession(ctx, u.Session); err != nil {
			u.out.printError(err)
			return
		}
	} else if u.Settings.Model == "" && project.Model == "" {
		u.startup = append(u.startup, func(ctx context.Context) { u.welcome(ctx, project) })
	}
	if u.Prompt != "" {
		u.startup = append(u.startup, func(ctx context.Context) {
			u.out.printf("prompt: %s", sanitizeLine(u.Prompt))
			u.submitPrompt(ctx, u.Prompt)
		})
	}
}

// printHeader prints the working directory, the model and the mode.
func (u *ui) printHeader(project pawl.Project) {
	words := []string{"Pawl in " + sanitizeLine(u.Dir)}
	for _, w := range []struct{ what, own, usual string }{{"model", u.Settings.Model, project.Model}, {"mode", u.Settings.Mode, project.Mode}} {
		if w.own == "" {
			w.own = w.usual
		}
		if w.own != "" && u.Session == "" {
			words = append(words, w.what+" "+sanitizeLine(w.own))
		}
	}
	if u.Isolated {
		words = append(words, "isolated")
	}
	u.out.printf("welcome: %s; /help lists the commands", strings.Join(words, ", "))
	for _, note := range project.Notes {
		u.out.printf("note: %s", sanitizeLine(note))
	}
}

// needsTrust reports whether a project has configuration that is not trusted.
func needsTrust(f pawl.Project) bool { return f.Trust.State != "trusted" && len(f.Trust.Parts) > 0 }

func (u *ui) trustCommand(ctx context.Context, _ string) error {
	project, err := u.project(ctx)
	switch {
	case err != nil:
		return err
	case len(project.Trust.Parts) == 0:
		u.out.printf("trust: this project has no configuration that needs trust")
	case !needsTrust(project):
		u.out.printf("trust: this project is trusted; run `pawl trust --revoke` to distrust it")
	default:
		u.present(u.trust(project, ""))
	}
	return nil
}

// trust asks whether to trust the project's configuration, which has no effect until
// the user agrees. before is printed first, unless it is "".
func (u *ui) trust(project pawl.Project, before string) *question {
	print := func() {
		if before != "" {
			u.out.printf("note: %s", before)
		}
		u.out.printf("ask: trust this project?")
		u.out.full(project.Dir)
		if project.Trust.State == "changed" {
			u.out.printf("The configuration of this project has changed since you trusted it. Pawl ignores it until you trust the project again.")
		} else {
			u.out.printf("The configuration of this project can run programs and instruct the model. Pawl ignores it until you trust the project.")
		}
		u.out.printf("It enables:")
		for _, part := range project.Trust.Parts {
			u.out.full(strings.ReplaceAll(part, "\n", `\n`))
		}
	}
	return u.menu(print, []choice{
		{number: "1", words: "y yes", text: "trust this project", do: func(ctx context.Context, _ string) { u.applyTrust(ctx, project) }},
		{number: "3", words: "n no", text: "not now", do: func(context.Context, string) { u.out.printf("trust: not trusted; /trust asks again") }},
	})
}

// applyTrust trusts the project as it was shown. If it has changed since, the user is
// asked again.
func (u *ui) applyTrust(ctx context.Context, project pawl.Project) {
	err := u.runInterruptible(ctx, func(ctx context.Context) error { return u.Service.Trust(ctx, project.Dir, project.Trust.Hash) })
	switch {
	case err == nil:
		u.out.printf("trust: the project configuration applies from the next prompt")
	case errors.Is(err, pawl.ErrConflict):
		now, err := u.project(ctx)
		if err != nil {
			u.out.printError(err)
			return
		}
		u.present(u.trust(now, "the configuration has changed: review it again"))
	default:
		u.out.printError(err)
	}
}

// defaultModelHelp is used if Onboarding.Help is nil.
const defaultModelHelp = `Pawl needs a model: an API key of a provider, or a local model.
Set an API key with export ANTHROPIC_API_KEY=..., or OPENAI_API_KEY, or GEMINI_API_KEY.
Or run pawl auth login anthropic, which prompts for the key and stores it.
Then run pawl --model sonnet. Run pawl models to list all models.`

// welcome lets the user choose a model and a mode if none is configured.
func (u *ui) welcome(ctx context.Context, project pawl.Project) {
	models, err := u.findModels(ctx)
	switch {
	case err != nil && !errors.Is(err, pawl.ErrUnavailable):
		u.out.printError(err)
	case len(models) > 0:
		u.present(u.askModel(models, project))
		return
	}
	if err := u.helpModels(ctx); err != nil {
		u.out.printError(err)
	}
}

// helpModels prints how to get a model.
func (u *ui) helpModels(ctx context.Context) error {
	help := defaultModelHelp
	if u.Onboarding.Help != nil {
		err := u.runInterruptible(ctx, func(ctx context.Context) (err error) {
			help, err = u.Onboarding.Help(ctx)
			return err
		})
		if err != nil {
			return err
		}
	}
	u.out.printf("welcome: no model configured")
	u.out.block(help)
	return nil
}

// askModel asks for the model, then for the permission mode.
func (u *ui) askModel(models []pawl.ModelInfo, project pawl.Project) *question {
	print := func() {
		u.out.printf("welcome: first choose a model and a permission mode")
		for i, m := range models {
			u.out.printf("%d: %s", i+1, sanitizeLine(m.Ref))
		}
		u.out.printf("0: skip")
	}
	return &question{print: print, hint: "number of the model: ", take: func(_ context.Context, line string) {
		n, err := strconv.Atoi(line)
		switch {
		case err != nil || n < 0 || n > len(models):
			u.out.printf("not a number of the list; /again prints it again")
		case n == 0:
			u.question = nil
			u.out.printf("skipped: choose one later with /models and /model")
		default:
			u.present(u.askMode(models[n-1].Ref, project))
		}
	}}
}

// askMode asks for the permission mode. It recommends guard if there is a sandbox,
// otherwise ask.
func (u *ui) askMode(model string, project pawl.Project) *question {
	recommended := "ask"
	if project.Sandbox != "" && project.Sandbox != "none" {
		recommended = "guard"
	}
	var choices []choice
	for _, m := range modes {
		if m.name == "auto" || len(project.Modes) > 0 && !slices.Contains(project.Modes, m.name) {
			continue
		}
		text := m.name + ": " + m.means
		if m.name == recommended {
			text += " (recommended)"
		}
		choices = append(choices, choice{number: strconv.Itoa(len(choices) + 1), words: m.name, text: text, do: func(context.Context, string) { u.saveChoice(model, m.name) }})
	}
	if len(choices) == 0 { // managed settings allow none of these: use the configured mode
		choices = []choice{{number: "1", text: sanitizeLine(project.Mode), do: func(context.Context, string) { u.saveChoice(model, project.Mode) }}}
	}
	return u.menu(func() { u.out.printf("mode: choose a permission mode") }, choices)
}

// saveChoice applies the choice and saves it. If saving fails, it still applies to
// this process.
func (u *ui) saveChoice(model, mode string) {
	u.Settings.Model, u.Settings.Mode = model, mode
	if u.Onboarding.Save != nil {
		if err := u.Onboarding.Save(model, mode); err != nil {
			u.out.printError(fmt.Errorf("the choice applies until Pawl exits, because it could not be saved: %w", err))
			return
		}
		u.out.printf("saved: the choice is in your configuration; ask Pawl to do something")
		return
	}
	u.out.printf("ready: ask Pawl to do something")
}
