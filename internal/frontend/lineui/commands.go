package lineui

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
)

// command is something that is done by its name, behind a slash.
type command struct {
	name, arguments, help string
	do                    func(t *talk, ctx context.Context, argument string) error
}

// commands are those of the conversation itself.
func commands() []command {
	return []command{
		{"help", "", "this list", (*talk).help},
		{"new", "", "begin a new session", (*talk).fresh},
		{"sessions", "", "list the sessions of this folder", (*talk).listSessions},
		{"open", "number", "open a session of that list", (*talk).openListed},
		{"models", "", "list the models that can be asked", (*talk).listModels},
		{"model", "name or number", "choose the model of the next prompts", (*talk).chooseModel},
		{"agents", "[name]", "list the agents, or choose that of the next prompts", (*talk).chooseAgent},
		{"mode", "[name]", "list the modes, or choose what pawl may do without asking", (*talk).chooseMode},
		{"last", "", "hear the newest reply again", (*talk).sayLast},
		{"output", "[number]", "hear what the newest tool gave back; 2 is the one before it", (*talk).sayOutput},
		{"show", "", "hear the whole session", (*talk).showAll},
		{"reasoning", "[on or off]", "whether what the model thinks is said", (*talk).setReasoning},
		{"undo", "", "take back the newest turn, its changes to files included", (*talk).undo},
		{"redo", "", "bring back what was taken back", (*talk).redo},
		{"rewind", "[number]", "list what you have said, or go back to before it", (*talk).rewind},
		{"compact", "[what matters]", "make the conversation smaller", (*talk).compact},
		{"rename", "title", "give the session another title", (*talk).rename},
		{"fork", "", "begin another session as this one is", (*talk).fork},
		{"stats", "", "what the session has used and cost", (*talk).stats},
		{"trust", "", "what this folder brings, and whether it may take effect", (*talk).trustAgain},
		{"bell", "[on or off]", "whether a bell rings when pawl asks something", (*talk).setBell},
		{"quit", "", "end pawl; the session can be continued", (*talk).end},
	}
}

func (t *talk) help(context.Context, string) error {
	for _, c := range commands() {
		t.voice.say("%s: %s", strings.TrimSpace("/"+c.name+" "+c.arguments), c.help)
	}
	t.voice.say("A line is a prompt; while pawl works it is read at the next step. A line that ends in \\ goes on.")
	t.voice.say("Several lines pasted at once wait for an Enter. A ! before a line runs it as a command.")
	t.voice.say("Ctrl-C interrupts the work, twice ends pawl; so does Ctrl-D. /again repeats a question.")
	return nil
}

func (t *talk) end(context.Context, string) error {
	t.quit()
	return nil
}

// fresh begins an empty session, which is made with its first prompt.
func (t *talk) fresh(context.Context, string) error {
	t.leave()
	t.voice.say("new: the next prompt begins a session")
	return nil
}

// maxListed is how many sessions are listed.
const maxListed = 20

func (t *talk) listSessions(ctx context.Context, _ string) error {
	var list []pawl.Session
	err := t.do(ctx, func(ctx context.Context) (err error) {
		list, err = t.Service.List(ctx, pawl.Filter{Dir: t.Dir, Limit: maxListed})
		return err
	})
	if err != nil {
		return err
	}
	t.listed = nil
	for i, s := range list {
		t.listed = append(t.listed, s.ID)
		t.voice.say("%d: %s, %s, %s", i+1, orUnnamed(s), s.Updated.Local().Format("2 Jan 15:04"), s.State())
	}
	if len(list) == 0 {
		t.voice.say("sessions: there are none yet")
		return nil
	}
	t.voice.say("sessions: %d, the latest first; /open 1 opens the first", len(list))
	return nil
}

// numbered reads the number of something in a list.
func numbered(argument string, length int, list string) (int, error) {
	n, err := strconv.Atoi(argument)
	switch {
	case length == 0:
		return 0, slip("there is no list yet: %s makes one", list)
	case err != nil || n < 1 || n > length:
		return 0, slip("%q is no number of the list: %s says it again", name(argument), list)
	}
	return n - 1, nil
}

func (t *talk) openListed(ctx context.Context, argument string) error {
	n, err := numbered(argument, len(t.listed), "/sessions")
	if err != nil {
		return err
	}
	return t.open(ctx, t.listed[n])
}

func (t *talk) listModels(ctx context.Context, _ string) error {
	list, err := t.findModels(ctx)
	if err != nil {
		return err
	}
	t.models = nil
	for i, m := range list {
		t.models = append(t.models, m.Ref)
		t.voice.say("%d: %s", i+1, name(m.Ref))
	}
	if len(list) == 0 {
		return t.helpModels(ctx)
	}
	t.voice.say("models: %d; /model 1 chooses the first", len(list))
	return nil
}

func (t *talk) findModels(ctx context.Context) (list []pawl.ModelInfo, err error) {
	err = t.do(ctx, func(ctx context.Context) (err error) {
		list, err = t.Service.Models(ctx)
		return err
	})
	return list, err
}

func (t *talk) chooseModel(_ context.Context, argument string) error {
	if argument == "" {
		return slip("name a model: /models lists them")
	}
	if _, err := strconv.Atoi(argument); err == nil {
		n, err := numbered(argument, len(t.models), "/models")
		if err != nil {
			return err
		}
		argument = t.models[n]
	}
	t.Settings.Model = argument
	t.voice.say("model: the next prompts go to %s", name(argument))
	return nil
}

func (t *talk) chooseAgent(ctx context.Context, argument string) error {
	folder, err := t.look(ctx)
	if err != nil {
		return err
	}
	if argument == "" {
		for _, a := range folder.Agents {
			t.voice.say("agent: %s: %s", name(a.Name), name(a.Description))
		}
		t.voice.say("agents: %d; /agents with a name chooses one", len(folder.Agents))
		return nil
	}
	if len(folder.Agents) > 0 && !slices.ContainsFunc(folder.Agents, func(a pawl.AgentInfo) bool { return a.Name == argument }) {
		return slip("there is no agent %q: /agents lists them", name(argument))
	}
	t.Settings.Agent = argument
	t.voice.say("agent: the next prompts are for %s", name(argument))
	return nil
}

// modes are those that can be chosen here, and what they mean.
var modes = []struct{ name, means string }{
	{"plan", "look and plan, change nothing"},
	{"ask", "ask before each change and command"},
	{"guard", "work in the sandbox, ask before something leaves it"},
	{"auto", "work in the sandbox, refuse what would leave it"},
}

func (t *talk) chooseMode(_ context.Context, argument string) error {
	if argument == "" {
		for _, m := range modes {
			t.voice.say("mode: %s: %s", m.name, m.means)
		}
		return nil
	}
	for _, m := range modes {
		if m.name == argument {
			t.Settings.Mode = argument
			t.voice.say("mode: the next prompts are worked on in the mode %s: %s", m.name, m.means)
			return nil
		}
	}
	return slip("there is no mode %q to choose here: plan, ask, guard or auto", name(argument))
}

// toggled reads on or off; nothing is the other one of what holds.
func toggled(holds bool, argument string) (bool, error) {
	switch argument {
	case "":
		return !holds, nil
	case "on":
		return true, nil
	case "off":
		return false, nil
	}
	return holds, slip("on or off, not %q", name(argument))
}

func (t *talk) setReasoning(_ context.Context, argument string) error {
	on, err := toggled(t.teller.reasoning, argument)
	if err != nil {
		return err
	}
	t.teller.reasoning = on
	t.voice.say("reasoning: %s", map[bool]string{true: "it is said", false: "it is not said"}[on])
	return nil
}

func (t *talk) setBell(_ context.Context, argument string) error {
	on, err := toggled(t.bell, argument)
	if err != nil {
		return err
	}
	t.bell = on
	t.voice.say("bell: %s", map[bool]string{true: "it rings when pawl asks", false: "it does not ring"}[on])
	return nil
}

// order asks something of the session.
func (t *talk) order(ctx context.Context, work func(context.Context, pawl.SessionID) error) error {
	if t.session.ID == "" {
		return slip("there is no session yet: send a prompt first")
	}
	return t.do(ctx, func(ctx context.Context) error { return work(ctx, t.session.ID) })
}

func (t *talk) compact(ctx context.Context, words string) error {
	err := t.order(ctx, func(ctx context.Context, id pawl.SessionID) error {
		seq, err := t.Service.Compact(ctx, id, words)
		if err == nil {
			t.teller.ordered[seq] = true
		}
		return err
	})
	if err == nil {
		t.voice.say("compacting: the conversation is to be made smaller")
	}
	return err
}

func (t *talk) rename(ctx context.Context, title string) error {
	if title == "" {
		return slip("say the title behind /rename")
	}
	err := t.order(ctx, func(ctx context.Context, id pawl.SessionID) error { return t.Service.Rename(ctx, id, title) })
	if err == nil {
		t.voice.say("renamed: %s", name(title))
	}
	return err
}

func (t *talk) fork(ctx context.Context, _ string) error {
	var s pawl.Session
	err := t.order(ctx, func(ctx context.Context, id pawl.SessionID) (err error) {
		s, err = t.Service.Fork(ctx, id, 0)
		return err
	})
	if err != nil {
		return err
	}
	t.voice.say("forked: what follows is in the new session")
	return t.open(ctx, s.ID)
}
