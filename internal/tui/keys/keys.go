// Package keys says which key does what. Every key can be changed by the user.
package keys

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Action is something that a key does.
type Action string

// Scope is where a key counts. A key of the innermost scope wins.
type Scope string

// The scopes.
const (
	Global Scope = "global"
	Editor Scope = "editor" // while a prompt is written
	Chat   Scope = "chat"   // while the conversation is looked at
	Dialog Scope = "dialog"
	Ask    Scope = "ask" // while pawl asks something
)

// Binding is an action, where it counts and the keys that do it.
type Binding struct {
	Action Action
	Scope  Scope
	Keys   []string // as bubbletea names them, e.g. ctrl+o
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

	SearchPrompts Action = "search_prompts"
	Above         Action = "above"

	Up     Action = "up"
	Down   Action = "down"
	Choose Action = "choose"
	Close  Action = "close"

	Tasks     Action = "tasks"
	EndTask   Action = "end_task"
	ForkHere  Action = "fork_here"
	NextScope Action = "next_scope"
	KeepAside Action = "keep_aside"
	Leave     Action = "leave_changed"

	Approve  Action = "approve"
	Always   Action = "approve_always"
	EditRule Action = "edit_rule"
	Decline  Action = "decline"
	Word     Action = "answer_with_words"
)

// Default are the keys when the user has said nothing else.
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
	{Tasks, Global, []string{"ctrl+t"}, "tasks and commands in the background"},
	{ScrollUp, Global, []string{"shift+up"}, "scroll up"},
	{ScrollDown, Global, []string{"shift+down"}, "scroll down"},
	{PageUp, Global, []string{"pgup"}, "page up"},
	{PageDown, Global, []string{"pgdown"}, "page down"},
	{Top, Global, []string{"ctrl+home"}, "to the beginning"},
	{Bottom, Global, []string{"ctrl+end"}, "to the end"},
	{FocusChat, Global, []string{"ctrl+o"}, "look at the conversation, or go back to the prompt"},
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
	{Above, Editor, []string{"alt+up"}, "go to the attachments and the prompts that wait"},
	{Up, Dialog, []string{"up", "ctrl+k"}, "up"},
	{Down, Dialog, []string{"down", "ctrl+j"}, "down"},
	{Choose, Dialog, []string{"enter"}, "choose"},
	{Close, Dialog, []string{"esc"}, "close"},
	{NextScope, Dialog, []string{"tab"}, "what goes back: files, conversation or both"},
	{KeepAside, Dialog, []string{"a"}, "go back, and keep files that others changed aside"},
	{Leave, Dialog, []string{"l"}, "go back, and leave files that others changed as they are"},
	{ForkHere, Dialog, []string{"f"}, "begin another session before a message"},
	{EndTask, Dialog, []string{"x"}, "end a task"},
	{Approve, Ask, []string{"y"}, "yes"},
	{Always, Ask, []string{"a"}, "yes, and keep the rule"},
	{EditRule, Ask, []string{"e"}, "change the rule first"},
	{Decline, Ask, []string{"n", "esc"}, "no"},
	{Word, Ask, []string{"w"}, "with a word to the model"},
}

// Map finds what a key does.
type Map struct {
	bindings []Binding
	byKey    map[Scope]map[string]Action
}

// New returns the default keys with the user's own in their place: a list of keys
// for each action that is named. An empty list takes the keys away.
func New(own map[string][]string) (*Map, error) {
	m := &Map{byKey: map[Scope]map[string]Action{}}
	known := map[string]bool{}
	for _, b := range Default {
		known[string(b.Action)] = true
		if keys, ok := own[string(b.Action)]; ok {
			b.Keys = keys
		}
		m.bindings = append(m.bindings, b)
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if !known[name] {
			return nil, fmt.Errorf("keys.%s: there is no such action", name)
		}
	}
	return m, m.index()
}

// index fills byKey and refuses a key that does two things in one place.
func (m *Map) index() error {
	for _, b := range m.bindings {
		if m.byKey[b.Scope] == nil {
			m.byKey[b.Scope] = map[string]Action{}
		}
		for _, k := range b.Keys {
			k = strings.ToLower(strings.TrimSpace(k))
			if other, taken := m.byKey[b.Scope][k]; taken {
				return fmt.Errorf("keys: %s is for %s and for %s: give one of them another", k, other, b.Action)
			}
			m.byKey[b.Scope][k] = b.Action
		}
	}
	return nil
}

// Action returns what a key does in a scope, or "".
func (m *Map) Action(scope Scope, key string) Action { return m.byKey[scope][key] }

// Bindings returns those of a scope.
func (m *Map) Bindings(scope Scope) []Binding {
	var list []Binding
	for _, b := range m.bindings {
		if b.Scope == scope {
			list = append(list, b)
		}
	}
	return list
}

// Key returns the first key of an action, for hints; "" if it has none.
func (m *Map) Key(a Action) string {
	for _, b := range m.bindings {
		if b.Action == a && len(b.Keys) > 0 {
			return b.Keys[0]
		}
	}
	return ""
}
