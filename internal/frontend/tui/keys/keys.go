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

	Mission   Action = "mission"
	Tasks     Action = "tasks"
	EndTask   Action = "end_task"
	ForkHere  Action = "fork_here"
	NextScope Action = "next_scope"
	KeepAside Action = "keep_aside"
	Leave     Action = "leave_changed"

	Approve  Action = "approve"
	Always   Action = "approve_always"
	EditRule Action = "edit_rule"
	Deny     Action = "decline"
	Word     Action = "answer_with_words"

	Todos Action = "todos"

	SessionNew     Action = "session_new"
	SessionRename  Action = "session_rename"
	SessionFork    Action = "session_fork"
	SessionDelete  Action = "session_delete"
	SessionFolders Action = "session_folders"
)

// Default are the default bindings.
var Default = []Binding{
	{Quit, Global, []string{"ctrl+d"}, "quit"},
	{Interrupt, Global, []string{"esc"}, "interrupt"},
	{Palette, Global, []string{"ctrl+p"}, "commands"},
	{Help, Global, []string{"f1", "ctrl+_"}, "help"},
	{Sessions, Global, []string{"ctrl+s"}, "sessions"},
	{NewSession, Global, []string{"ctrl+n"}, "new session"},
	{Models, Global, []string{"ctrl+l"}, "models"},
	{Agents, Global, []string{"ctrl+g"}, "agents"},
	{NextMode, Global, []string{"shift+tab"}, "next mode"},
	{Themes, Global, nil, "themes"},
	{Tasks, Global, []string{"ctrl+b"}, "tasks and commands in the background"},
	{Mission, Global, []string{"alt+m", "f2"}, "the board of the mission"},
	{ScrollUp, Global, []string{"shift+up"}, "scroll up"},
	{ScrollDown, Global, []string{"shift+down"}, "scroll down"},
	{PageUp, Global, []string{"pgup"}, "page up"},
	{PageDown, Global, []string{"pgdown"}, "page down"},
	{Top, Global, []string{"ctrl+home"}, "to the beginning"},
	{Bottom, Global, []string{"ctrl+end"}, "to the end"},
	{FocusChat, Global, []string{"ctrl+o"}, "look at the conversation, or go back to the prompt"},
	{EntryUp, Chat, []string{"up", "k"}, "to the entry above"},
	{EntryDown, Chat, []string{"down", "j"}, "to the entry below"},
	{LeaveChat, Chat, []string{"esc"}, "back to the prompt"},
	{FindHere, Chat, []string{"/"}, "find"},
	{Todos, Global, []string{"ctrl+t"}, "open or close the list of what is to be done"},
	{Fold, Chat, []string{"enter", "space"}, "open or close the card"},
	{FoldAll, Chat, []string{"a"}, "open or close all cards"},
	{Copy, Chat, []string{"c", "y"}, "copy"},
	{Find, Global, []string{"ctrl+f"}, "find in the conversation"},
	{OpenOutput, Chat, []string{"o"}, "open all of a long output"},
	{Send, Editor, []string{"enter"}, "send; steers while pawl works"},
	{Queue, Editor, []string{"ctrl+q"}, "send after the work that is under way"},
	{Newline, Editor, []string{"shift+enter", "alt+enter", "ctrl+j"}, "new line"},
	{EditOutside, Editor, []string{"ctrl+e"}, "write in your own editor"},
	{Previous, Editor, []string{"up"}, "earlier prompt"},
	{Next, Editor, []string{"down"}, "later prompt"},
	{Undo, Editor, []string{"ctrl+z"}, "undo"},
	{Redo, Editor, []string{"ctrl+y"}, "redo"},
	{Paste, Editor, []string{"ctrl+v"}, "paste, images too"},
	{SearchPrompts, Editor, []string{"ctrl+r"}, "search earlier prompts"},
	{HelpEmpty, Editor, []string{"?"}, "help, while nothing is written"},
	{Above, Editor, []string{"alt+up"}, "go to the attachments and the prompts that wait"},
	{Up, Dialog, []string{"up", "ctrl+k"}, "up"},
	{Down, Dialog, []string{"down", "ctrl+j"}, "down"},
	{Choose, Dialog, []string{"enter"}, "choose"},
	{Close, Dialog, []string{"esc"}, "close"},
	{NextScope, InRewind, []string{"tab"}, "what goes back: files, conversation or both"},
	{KeepAside, InRewind, []string{"a"}, "go back, and keep files that others changed aside"},
	{Leave, InRewind, []string{"l"}, "go back, and leave files that others changed as they are"},
	{ForkHere, InRewind, []string{"f"}, "begin another session before a message"},
	{EndTask, InTasks, []string{"x"}, "end a task"},
	{Approve, Ask, []string{"y"}, "yes"},
	{Always, Ask, []string{"a"}, "yes, and keep the rule"},
	{EditRule, Ask, []string{"e"}, "change the rule first"},
	{Deny, Ask, []string{"n", "esc"}, "no"},
	{Word, Ask, []string{"w"}, "with a word to the model"},
	{SessionNew, InSessions, []string{"ctrl+n"}, "new"},
	{SessionRename, InSessions, []string{"ctrl+r"}, "rename"},
	{SessionFork, InSessions, []string{"ctrl+f"}, "fork"},
	{SessionDelete, InSessions, []string{"ctrl+x", "delete"}, "delete"},
	{SessionFolders, InSessions, []string{"tab"}, "this directory, or all"},
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
			return nil, &Fault{name, "there is no such action" + suggest.Ask("", name, known)}
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
