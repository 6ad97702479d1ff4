// Package keys defines the key bindings, which the user can change.
package keys

import (
	"maps"
	"slices"

	"github.com/pawl-dev/pawl/internal/suggest"
)

// Action is what a key does.
type Action string

// Scope is where a binding applies. The innermost scope wins.
type Scope string

// The scopes.
const (
	Global Scope = "global"
	Editor Scope = "editor" // while the prompt has the focus
	Chat   Scope = "chat"   // while the conversation has the focus
	Dialog Scope = "dialog"
	Ask    Scope = "ask" // in the dialog of an ask

	InSessions Scope = "sessions" // in the list of sessions
	InRewind   Scope = "rewind"   // in the rewind dialog
	InTasks    Scope = "tasks"    // in the list of subagents
)

// Binding is an action, its scope and its keys.
type Binding struct {
	Action Action
	Scope  Scope
	Keys   []string // as Bubble Tea names them, e.g. ctrl+o
	Help   string
}

// The actions.
const (
	Quit        Action = "quit"
	Interrupt   Action = "interrupt"
	Palette     Action = "palette"
	Help        Action = "help"
	Sessions    Action = "sessions"
	NewSession  Action = "new_session"
	Models      Action = "models"
	Agents      Action = "agents"
	NextMode    Action = "next_mode"
	ScrollUp    Action = "scroll_up"
	ScrollDown  Action = "scroll_down"
	PageUp      Action = "page_up"
	PageDown    Action = "page_down"
	Top         Action = "top"
	Bottom      Action = "bottom"
	FocusChat   Action = "focus_chat"
	Fold        Action = "fold"
	FoldAll     Action = "fold_all"
	Copy        Action = "copy"
	Find        Action = "find"
	OpenOutput  Action = "open_output"
	Send        Action = "send"
	Queue       Action = "queue"
	Newline     Action = "newline"
	EditOutside Action = "edit_outside"
	Previous    Action = "previous_prompt"
	Next        Action = "next_prompt"
	Undo        Action = "undo_edit"
	Redo        Action = "redo_edit"
	Paste       Action = "paste"

	Themes    Action = "themes"
	HelpEmpty Action = "help_when_empty"
	EntryUp   Action = "entry_up"
	EntryDown Action = "entry_down"
	FindHere  Action = "find_here"
	LeaveChat Action = "leave_chat"

	SearchPrompts Action = "search_prompts"
	Above         Action = "above"

	Up     Action = "up"
	Down   Action = "down"
	Choose Action = "choose"
	Close  Action = "close"

	Mission       Action = "mission"
	Tasks         Action = "tasks"
	EndTask       Action = "end_task"
	ForkHere      Action = "fork_here"
	NextScope     Action = "next_scope"
	BackUpChanged Action = "back_up_changed"
	Leave         Action = "leave_changed"

	Approve  Action = "approve"
	EditRule Action = "edit_rule"
	Deny     Action = "deny"
	Message  Action = "answer_with_message"
	Details  Action = "details"

	Todos Action = "todos"

	SessionNew      Action = "session_new"
	SessionRename   Action = "session_rename"
	SessionFork     Action = "session_fork"
	SessionDelete   Action = "session_delete"
	SessionProjects Action = "session_projects"
)

// Default are the default bindings.
var Default = []Binding{
	{Quit, Global, []string{"ctrl+d"}, "Quit"},
	{Interrupt, Global, []string{"esc"}, "Interrupt the turn"},
	{Palette, Global, []string{"ctrl+p"}, "Open the command palette"},
	{Help, Global, []string{"f1", "ctrl+_"}, "Show help"},
	{Sessions, Global, []string{"ctrl+s"}, "Open another session"},
	{NewSession, Global, []string{"ctrl+n"}, "Start a new session"},
	{Models, Global, []string{"ctrl+l"}, "Choose the model"},
	{Agents, Global, []string{"ctrl+g"}, "Choose the agent"},
	{NextMode, Global, []string{"shift+tab"}, "Switch to the next permission mode"},
	{Themes, Global, nil, "Choose the theme"},
	{Tasks, Global, []string{"ctrl+b"}, "Show subagents and background commands"},
	{Mission, Global, []string{"alt+m", "f2"}, "Show the mission board"},
	{ScrollUp, Global, []string{"shift+up"}, "Scroll up"},
	{ScrollDown, Global, []string{"shift+down"}, "Scroll down"},
	{PageUp, Global, []string{"pgup"}, "Page up"},
	{PageDown, Global, []string{"pgdown"}, "Page down"},
	{Top, Global, []string{"ctrl+home"}, "Go to the beginning"},
	{Bottom, Global, []string{"ctrl+end"}, "Go to the end"},
	{FocusChat, Global, []string{"ctrl+o"}, "Switch between the conversation and the prompt"},
	{EntryUp, Chat, []string{"up", "k"}, "Select the entry above"},
	{EntryDown, Chat, []string{"down", "j"}, "Select the entry below"},
	{LeaveChat, Chat, []string{"esc"}, "Return to the prompt"},
	{FindHere, Chat, []string{"/"}, "Search the conversation"},
	{Todos, Global, []string{"ctrl+t"}, "Show or hide the todo list"},
	{Fold, Chat, []string{"enter", "space"}, "Expand or collapse the entry"},
	{FoldAll, Chat, []string{"a"}, "Expand or collapse all entries"},
	{Copy, Chat, []string{"c", "y"}, "Copy the entry"},
	{Find, Global, []string{"ctrl+f"}, "Search the conversation"},
	{OpenOutput, Chat, []string{"o"}, "Open the full output"},
	{Send, Editor, []string{"enter"}, "Send the prompt; steers a running turn"},
	{Queue, Editor, []string{"ctrl+q"}, "Queue the prompt until the turn ends"},
	{Newline, Editor, []string{"shift+enter", "alt+enter", "ctrl+j"}, "Insert a new line"},
	{EditOutside, Editor, []string{"ctrl+e"}, "Edit the prompt in $EDITOR"},
	{Previous, Editor, []string{"up"}, "Previous prompt"},
	{Next, Editor, []string{"down"}, "Next prompt"},
	{Undo, Editor, []string{"ctrl+z"}, "Undo"},
	{Redo, Editor, []string{"ctrl+y"}, "Redo"},
	{Paste, Editor, []string{"ctrl+v"}, "Paste text or an image"},
	{SearchPrompts, Editor, []string{"ctrl+r"}, "Search previous prompts"},
	{HelpEmpty, Editor, []string{"?"}, "Show help while the prompt is empty"},
	{Above, Editor, []string{"alt+up"}, "Select attachments and waiting prompts"},
	{Up, Dialog, []string{"up", "ctrl+k"}, "Move up"},
	{Down, Dialog, []string{"down", "ctrl+j"}, "Move down"},
	{Choose, Dialog, []string{"enter"}, "Choose"},
	{Close, Dialog, []string{"esc"}, "Close"},
	{NextScope, InRewind, []string{"tab"}, "Switch the scope: files, conversation or both"},
	{BackUpChanged, InRewind, []string{"a"}, "Rewind, and back up files with other changes"},
	{Leave, InRewind, []string{"l"}, "Rewind, but keep files with other changes"},
	{ForkHere, InRewind, []string{"f"}, "Fork the session before the message"},
	{EndTask, InTasks, []string{"x"}, "Stop the subagent"},
	{Approve, Ask, []string{"y"}, "Confirm what you asked for"},
	{Deny, Ask, []string{"n", "esc"}, "Cancel"},
	{EditRule, Ask, []string{"e"}, "Edit the rule of a permission prompt"},
	{Details, Ask, []string{"d"}, "Show the details of a permission prompt"},
	{Message, Ask, []string{"w"}, "Add a message to the answers"},
	{SessionNew, InSessions, []string{"ctrl+n"}, "Start a new session"},
	{SessionRename, InSessions, []string{"ctrl+r"}, "Rename the session"},
	{SessionFork, InSessions, []string{"ctrl+f"}, "Fork the session"},
	{SessionDelete, InSessions, []string{"ctrl+x", "delete"}, "Delete the session"},
	{SessionProjects, InSessions, []string{"tab"}, "Switch between this project and all projects"},
}

// Map finds the action of a key.
type Map struct {
	bindings []Binding
	byKey    map[Scope]map[string]Action
}

// New returns the default bindings with the user's in their place: a list of keys per
// action. An empty list removes the keys. An invalid binding is a *Fault.
func New(own map[string][]string) (*Map, error) {
	m := &Map{byKey: map[Scope]map[string]Action{}}
	known := make([]string, 0, len(Default))
	for _, b := range Default {
		known = append(known, string(b.Action))
		if keys, ok := own[string(b.Action)]; ok {
			var err error
			if b.Keys, err = named(b, keys); err != nil {
				return nil, err
			}
		}
		m.bindings = append(m.bindings, b)
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if !slices.Contains(known, name) {
			return nil, &Fault{name, "unknown action" + suggest.Ask("", name, known)}
		}
	}
	if err := m.check(own); err != nil {
		return nil, err
	}
	m.index()
	return m, nil
}

// index fills byKey.
func (m *Map) index() {
	for _, b := range m.bindings {
		if m.byKey[b.Scope] == nil {
			m.byKey[b.Scope] = map[string]Action{}
		}
		for _, k := range b.Keys {
			m.byKey[b.Scope][k] = b.Action
		}
	}
}

// Action returns the action of a key in a scope, or "".
func (m *Map) Action(scope Scope, key string) Action { return m.byKey[scope][key] }

// Either returns the action of a key in the first of the scopes that binds it, or "".
func (m *Map) Either(key string, scopes ...Scope) Action {
	for _, s := range scopes {
		if a := m.Action(s, key); a != "" {
			return a
		}
	}
	return ""
}

// Bindings returns the bindings of a scope.
func (m *Map) Bindings(scope Scope) []Binding {
	var list []Binding
	for _, b := range m.bindings {
		if b.Scope == scope {
			list = append(list, b)
		}
	}
	return list
}

// Of returns the bindings of actions that have keys, in order.
func (m *Map) Of(actions []Action) []Binding {
	var list []Binding
	for _, a := range actions {
		i := slices.IndexFunc(m.bindings, func(b Binding) bool { return b.Action == a })
		if i >= 0 && len(m.bindings[i].Keys) > 0 {
			list = append(list, m.bindings[i])
		}
	}
	return list
}

// Key returns the first key of an action, for hints, or "".
func (m *Map) Key(a Action) string {
	for _, b := range m.bindings {
		if b.Action == a && len(b.Keys) > 0 {
			return b.Keys[0]
		}
	}
	return ""
}
