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
		{"help", "", "list the commands", (*ui).help},
		{"new", "", "start a new session", (*ui).newSession},
		{"sessions", "", "list the sessions in this project", (*ui).listSessions},
		{"open", "number", "open a session of the list", (*ui).openListed},
		{"models", "", "list the available models", (*ui).listModels},
		{"model", "name or number", "choose the model", (*ui).chooseModel},
		{"agents", "[name]", "list the agents, or choose one", (*ui).chooseAgent},
		{"mode", "[name]", "list the permission modes, or choose one", (*ui).chooseMode},
		{"add-dir", "[path]", "list the directories that were added, or add one", (*ui).addDir},
		{"isolate", "", "work on a copy of the project, and decide about its changes at the end", (*ui).isolate},
		{"last", "", "repeat the last reply", (*ui).printLast},
		{"output", "[number]", "print the output of the last tool call; 2 is the one before it", (*ui).printOutput},
		{"show", "", "print the whole session", (*ui).showAll},
		{"reasoning", "[on or off]", "print the model's reasoning, or not", (*ui).setReasoning},
		{"undo", "", "undo the last turn and its file changes", (*ui).undo},
		{"redo", "", "redo what was undone", (*ui).redo},
		{"rewind", "[number]", "list your messages, or rewind to before one", (*ui).rewind},
		{"compact", "[instructions]", "summarize the conversation to free context", (*ui).compact},
		{"rename", "title", "rename the session", (*ui).rename},
		{"fork", "", "fork this session", (*ui).forkSession},
		{"stats", "", "print token usage and cost", (*ui).stats},
		{"trust", "", "review and trust the project configuration", (*ui).trustCommand},
		{"bell", "[on or off]", "ring the bell when Pawl asks, or not", (*ui).setBell},
		{"quit", "", "quit Pawl; the session is saved", (*ui).quitCommand},
	}
}

func (u *ui) help(context.Context, string) error {
	for _, c := range commands() {
		u.out.printf("%s: %s", strings.TrimSpace("/"+c.name+" "+c.arguments), c.help)
	}
	u.out.printf("Each line is a prompt. While Pawl works, it is read at the next step. End a line with \\ to continue it on the next one.")
	u.out.printf("Pasted lines are sent when you press Enter. Start a line with ! to run a shell command.")
	u.out.printf("Ctrl-C interrupts the turn; press it twice, or Ctrl-D, to quit. /again repeats a question.")
	return nil
}

func (u *ui) quitCommand(context.Context, string) error {
	u.quit()
	return nil
}

// newSession leaves the open session. The next prompt creates a new one.
func (u *ui) newSession(context.Context, string) error {
	u.leaveSession()
	u.out.printf("new: the next prompt starts a session")
	return nil
}

// maxListed is how many sessions /sessions lists.
const maxListed = 20

func (u *ui) listSessions(ctx context.Context, _ string) error {
	var page pawl.SessionPage
	err := u.runInterruptible(ctx, func(ctx context.Context) (err error) {
		page, err = u.Service.List(ctx, pawl.Filter{Dir: u.Dir, Limit: maxListed})
		return err
	})
	if err != nil {
		return err
	}
	u.listed = nil
	list := page.Sessions
	for i, s := range list {
		u.listed = append(u.listed, s.ID)
		u.out.printf("%d: %s, %s, %s", i+1, sessionTitle(s), s.Updated.Local().Format("2 Jan 15:04"), s.State())
	}
	if len(list) == 0 {
		u.out.printf("sessions: none yet")
		return nil
	}
	u.out.printf("sessions: %d, latest first; /open 1 opens the first", len(list))
	return nil
}

// parseIndex parses a number from 1 to length and returns it as an index. list is the
// command that prints the list.
func parseIndex(argument string, length int, list string) (int, error) {
	n, err := strconv.Atoi(argument)
	switch {
	case length == 0:
		return 0, usagef("no list yet: use %s first", list)
	case err != nil || n < 1 || n > length:
		return 0, usagef("%q is not a number of the list: %s prints it again", sanitizeLine(argument), list)
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
		return usagef("no model given: /models lists them")
	}
	if _, err := strconv.Atoi(argument); err == nil {
		n, err := parseIndex(argument, len(u.models), "/models")
		if err != nil {
			return err
		}
		argument = u.models[n]
	}
	u.Settings.Model = argument
	u.out.printf("model: %s, from the next prompt", sanitizeLine(argument))
	return nil
}

func (u *ui) chooseAgent(ctx context.Context, argument string) error {
	project, err := u.project(ctx)
	if err != nil {
		return err
	}
	agents := slices.DeleteFunc(project.Agents, func(a pawl.AgentInfo) bool { return !a.Offered() })
	if argument == "" {
		for _, a := range agents {
			u.out.printf("agent: %s: %s", sanitizeLine(a.Name), sanitizeLine(a.Description))
		}
		u.out.printf("agents: %d; /agents with a name chooses one", len(agents))
		return nil
	}
	if len(agents) > 0 && !slices.ContainsFunc(agents, func(a pawl.AgentInfo) bool { return a.Name == argument }) {
		return usagef("unknown agent %q: /agents lists them", sanitizeLine(argument))
	}
	u.Settings.Agent = argument
	u.out.printf("agent: %s, from the next prompt", sanitizeLine(argument))
	return nil
}

// modes are the permission modes that can be chosen here. yolo is not: it needs a
// flag.
var modes = []struct{ name, means string }{
	{"plan", "read and plan, change nothing"},
	{"ask", "ask before every change and command"},
	{"guard", "work in the sandbox, ask before leaving it"},
	{"auto", "work in the sandbox, deny everything outside it"},
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
			u.out.printf("mode: %s, from the next prompt: %s", m.name, m.means)
			return nil
		}
	}
	return usagef("unknown mode %q: use plan, ask, guard or auto", sanitizeLine(argument))
}

// addDir adds a project directory.
func (u *ui) addDir(_ context.Context, argument string) error {
	if argument == "" {
		for _, dir := range u.Settings.AddDirs {
			u.out.printf("added: %s", sanitizeLine(dir))
		}
		u.out.printf("directories: %d; /add-dir with a path adds one", len(u.Settings.AddDirs))
		return nil
	}
	if u.AddDir == nil {
		return usagef("directories cannot be added to sessions on a server: start Pawl with --add-dir there")
	}
	added, err := u.AddDir(u.Settings.AddDirs, argument)
	if err != nil {
		return err
	}
	u.Settings.AddDirs = added
	u.out.printf("added: %s, from the next prompt", sanitizeLine(added[len(added)-1]))
	return nil
}

// isolate continues the session on a view of the project.
func (u *ui) isolate(ctx context.Context, _ string) error {
	if u.Isolate == nil {
		return usagef("sessions on a server cannot be isolated: start Pawl with --isolated there")
	}
	err := u.runInterruptible(ctx, func(ctx context.Context) error { return u.Isolate(ctx, u.session.ID, u.Settings) })
	if err != nil {
		return err
	}
	u.out.printf("isolated: Pawl starts again on a copy of the project")
	u.done = true
	return nil
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
	return holds, usagef("unknown value %q: use on or off", sanitizeLine(argument))
}

func (u *ui) setReasoning(_ context.Context, argument string) error {
	on, err := parseToggle(u.reasoning, argument)
	if err != nil {
		return err
	}
	u.reasoning = on
	u.out.printf("reasoning: %s", map[bool]string{true: "on", false: "off"}[on])
	return nil
}

func (u *ui) setBell(_ context.Context, argument string) error {
	on, err := parseToggle(u.bell, argument)
	if err != nil {
		return err
	}
	u.bell = on
	u.out.printf("bell: %s", map[bool]string{true: "on", false: "off"}[on])
	return nil
}

// withSession runs work with the open session, or fails if none exists.
func (u *ui) withSession(ctx context.Context, work func(context.Context, pawl.SessionID) error) error {
	if u.session.ID == "" {
		return usagef("no session yet: send a prompt first")
	}
	return u.runInterruptible(ctx, func(ctx context.Context) error { return work(ctx, u.session.ID) })
}

func (u *ui) compact(ctx context.Context, words string) error {
	return u.withSession(ctx, func(ctx context.Context, id pawl.SessionID) error {
		seq, err := u.Service.Compact(ctx, id, words)
		if err == nil {
			u.work.orders[seq] = true
		}
		return err
	})
}

func (u *ui) rename(ctx context.Context, title string) error {
	if title == "" {
		return usagef("no title given: write it after /rename")
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
	u.out.printf("forked: this is the new session")
	return u.openSession(ctx, s.ID)
}
