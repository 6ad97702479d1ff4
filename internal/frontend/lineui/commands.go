package lineui

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
)

// command is a slash command of this front end.
type command struct {
	name, arguments, help string
	do                    func(t *ui, ctx context.Context, argument string) error
}

// commands returns the slash commands of this front end; projects can define more.
func commands() []command {
	return []command{
		{"help", "", "this list", (*ui).help},
		{"new", "", "begin a new session", (*ui).newSession},
		{"sessions", "", "list the sessions of this folder", (*ui).listSessions},
		{"open", "number", "open a session of that list", (*ui).openListed},
		{"models", "", "list the models that can be asked", (*ui).listModels},
		{"model", "name or number", "choose the model of the next prompts", (*ui).chooseModel},
		{"agents", "[name]", "list the agents, or choose that of the next prompts", (*ui).chooseAgent},
		{"mode", "[name]", "list the modes, or choose what pawl may do without asking", (*ui).chooseMode},
		{"last", "", "hear the newest reply again", (*ui).printLast},
		{"output", "[number]", "hear what the newest tool gave back; 2 is the one before it", (*ui).printOutput},
		{"show", "", "hear the whole session", (*ui).showAll},
		{"reasoning", "[on or off]", "whether what the model thinks is said", (*ui).setReasoning},
		{"undo", "", "take back the newest turn, its changes to files included", (*ui).undo},
		{"redo", "", "bring back what was taken back", (*ui).redo},
		{"rewind", "[number]", "list what you have said, or go back to before it", (*ui).rewind},
		{"compact", "[what matters]", "make the conversation smaller", (*ui).compact},
		{"rename", "title", "give the session another title", (*ui).rename},
		{"fork", "", "begin another session as this one is", (*ui).forkSession},
		{"stats", "", "what the session has used and cost", (*ui).stats},
		{"trust", "", "what this folder brings, and whether it may take effect", (*ui).trustCommand},
		{"bell", "[on or off]", "whether a bell rings when pawl asks something", (*ui).setBell},
		{"quit", "", "end pawl; the session can be continued", (*ui).quitCommand},
	}
}

func (u *ui) help(context.Context, string) error {
	for _, c := range commands() {
		u.out.printf("%s: %s", strings.TrimSpace("/"+c.name+" "+c.arguments), c.help)
	}
	u.out.printf("A line is a prompt; while pawl works it is read at the next step. A line that ends in \\ goes on.")
	u.out.printf("Several lines pasted at once wait for an Enter. A ! before a line runs it as a command.")
	u.out.printf("Ctrl-C interrupts the work, twice ends pawl; so does Ctrl-D. /again repeats a question.")
	return nil
}

func (u *ui) quitCommand(context.Context, string) error {
	u.quit()
	return nil
}

// newSession leaves the open session. The next prompt creates a new one.
func (u *ui) newSession(context.Context, string) error {
	u.leaveSession()
	u.out.printf("new: the next prompt begins a session")
	return nil
}

// maxListed is how many sessions /sessions lists.
const maxListed = 20

func (u *ui) listSessions(ctx context.Context, _ string) error {
	var list []pawl.Session
	err := u.runInterruptible(ctx, func(ctx context.Context) (err error) {
		list, err = u.Service.List(ctx, pawl.Filter{Dir: u.Dir, Limit: maxListed})
		return err
	})
	if err != nil {
		return err
	}
	u.listed = nil
	for i, s := range list {
		u.listed = append(u.listed, s.ID)
		u.out.printf("%d: %s, %s, %s", i+1, sessionTitle(s), s.Updated.Local().Format("2 Jan 15:04"), s.State())
	}
	if len(list) == 0 {
		u.out.printf("sessions: there are none yet")
		return nil
	}
	u.out.printf("sessions: %d, the latest first; /open 1 opens the first", len(list))
	return nil
}

// parseIndex parses a number from 1 to length and returns it as an index. list is the
// command that prints the list.
func parseIndex(argument string, length int, list string) (int, error) {
	n, err := strconv.Atoi(argument)
	switch {
	case length == 0:
		return 0, usagef("there is no list yet: %s makes one", list)
	case err != nil || n < 1 || n > length:
		return 0, usagef("%q is no number of the list: %s says it again", sanitizeLine(argument), list)
	}
	return n - 1, nil
}

func (u *ui) openListed(ctx context.Context, argument string) error {
	n, err := parseIndex(argument, len(u.listed), "/sessions")
	if err != nil {
		return err
	}
	return u.openSession(ctx, u.listed[n])
}

func (u *ui) listModels(ctx context.Context, _ string) error {
	list, err := u.findModels(ctx)
	if err != nil {
		return err
	}
	u.models = nil
	for i, m := range list {
		u.models = append(u.models, m.Ref)
		u.out.printf("%d: %s", i+1, sanitizeLine(m.Ref))
	}
	if len(list) == 0 {
		return u.helpModels(ctx)
	}
	u.out.printf("models: %d; /model 1 chooses the first", len(list))
	return nil
}

func (u *ui) findModels(ctx context.Context) (list []pawl.ModelInfo, err error) {
	err = u.runInterruptible(ctx, func(ctx context.Context) (err error) {
		list, err = u.Service.Models(ctx)
		return err
	})
	return list, err
}

func (u *ui) chooseModel(_ context.Context, argument string) error {
	if argument == "" {
		return usagef("name a model: /models lists them")
	}
	if _, err := strconv.Atoi(argument); err == nil {
		n, err := parseIndex(argument, len(u.models), "/models")
		if err != nil {
			return err
		}
		argument = u.models[n]
	}
	u.Settings.Model = argument
	u.out.printf("model: the next prompts go to %s", sanitizeLine(argument))
	return nil
}

func (u *ui) chooseAgent(ctx context.Context, argument string) error {
	project, err := u.project(ctx)
	if err != nil {
		return err
	}
	if argument == "" {
		for _, a := range project.Agents {
			u.out.printf("agent: %s: %s", sanitizeLine(a.Name), sanitizeLine(a.Description))
		}
		u.out.printf("agents: %d; /agents with a name chooses one", len(project.Agents))
		return nil
	}
	if len(project.Agents) > 0 && !slices.ContainsFunc(project.Agents, func(a pawl.AgentInfo) bool { return a.Name == argument }) {
		return usagef("there is no agent %q: /agents lists them", sanitizeLine(argument))
	}
	u.Settings.Agent = argument
	u.out.printf("agent: the next prompts are for %s", sanitizeLine(argument))
	return nil
}

// modes are the permission modes that can be chosen here. yolo is not: it needs a
// flag.
var modes = []struct{ name, means string }{
	{"plan", "look and plan, change nothing"},
	{"ask", "ask before each change and command"},
	{"guard", "work in the sandbox, ask before something leaves it"},
	{"auto", "work in the sandbox, refuse what would leave it"},
}

func (u *ui) chooseMode(_ context.Context, argument string) error {
	if argument == "" {
		for _, m := range modes {
			u.out.printf("mode: %s: %s", m.name, m.means)
		}
		return nil
	}
	for _, m := range modes {
		if m.name == argument {
			u.Settings.Mode = argument
			u.out.printf("mode: the next prompts are worked on in the mode %s: %s", m.name, m.means)
			return nil
		}
	}
	return usagef("there is no mode %q to choose here: plan, ask, guard or auto", sanitizeLine(argument))
}

// parseToggle parses "on" or "off"; "" toggles the current value.
func parseToggle(holds bool, argument string) (bool, error) {
	switch argument {
	case "":
		return !holds, nil
	case "on":
		return true, nil
	case "off":
		return false, nil
	}
	return holds, usagef("on or off, not %q", sanitizeLine(argument))
}

func (u *ui) setReasoning(_ context.Context, argument string) error {
	on, err := parseToggle(u.renderer.showReasoning, argument)
	if err != nil {
		return err
	}
	u.renderer.showReasoning = on
	u.out.printf("reasoning: %s", map[bool]string{true: "it is said", false: "it is not said"}[on])
	return nil
}

func (u *ui) setBell(_ context.Context, argument string) error {
	on, err := parseToggle(u.bell, argument)
	if err != nil {
		return err
	}
	u.bell = on
	u.out.printf("bell: %s", map[bool]string{true: "it rings when pawl asks", false: "it does not ring"}[on])
	return nil
}

// withSession runs work with the open session, or fails if none exists.
func (u *ui) withSession(ctx context.Context, work func(context.Context, pawl.SessionID) error) error {
	if u.session.ID == "" {
		return usagef("there is no session yet: send a prompt first")
	}
	return u.runInterruptible(ctx, func(ctx context.Context) error { return work(ctx, u.session.ID) })
}

func (u *ui) compact(ctx context.Context, words string) error {
	err := u.withSession(ctx, func(ctx context.Context, id pawl.SessionID) error {
		seq, err := u.Service.Compact(ctx, id, words)
		if err == nil {
			u.renderer.pendingOrders[seq] = true
		}
		return err
	})
	if err == nil {
		u.out.printf("compacting: the conversation is to be made smaller")
	}
	return err
}

func (u *ui) rename(ctx context.Context, title string) error {
	if title == "" {
		return usagef("say the title behind /rename")
	}
	err := u.withSession(ctx, func(ctx context.Context, id pawl.SessionID) error { return u.Service.Rename(ctx, id, title) })
	if err == nil {
		u.out.printf("renamed: %s", sanitizeLine(title))
	}
	return err
}

func (u *ui) forkSession(ctx context.Context, _ string) error {
	var s pawl.Session
	err := u.withSession(ctx, func(ctx context.Context, id pawl.SessionID) (err error) {
		s, err = u.Service.Fork(ctx, id, 0)
		return err
	})
	if err != nil {
		return err
	}
	u.out.printf("forked: what follows is in the new session")
	return u.openSession(ctx, s.ID)
}
