package keys

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fault says what is wrong with the user's keys for an action.
type Fault struct{ Action, Why string }

func (f *Fault) Error() string { return "keys." + f.Action + ": " + f.Why }

// modifiers are in the order in which they are written.
var modifiers = []string{"ctrl+", "alt+", "shift+", "meta+", "hyper+", "super+"}

// special matches keys that are not characters.
var special = regexp.MustCompile(`^(enter|tab|backspace|esc|space|up|down|left|right|home|end|pgup|pgdown|insert|delete|f[1-9]|f[1-5][0-9]|f6[0-3])$`)

// named normalizes the names of keys.
func named(b Binding, keys []string) ([]string, error) {
	var list []string
	for _, k := range keys {
		name, why := nameOf(k)
		if why == "" {
			why = unfit(b, name)
		}
		if why != "" {
			return nil, &Fault{string(b.Action), why}
		}
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	if len(list) == 0 && slices.Contains(needed, b.Action) {
		return nil, &Fault{string(b.Action), "this action needs a key"}
	}
	return list, nil
}

// needed are actions that must keep a key, because the user would be stuck without
// them.
var needed = []Action{Send, Close, Deny}

// nameOf returns the normalized name of a key, or why it is invalid.
func nameOf(key string) (name, why string) {
	rest := strings.TrimSpace(key)
	held := make([]bool, len(modifiers))
	for again := true; again; {
		again = false
		for i, m := range modifiers {
			if len(rest) > len(m) && strings.EqualFold(rest[:len(m)], m) {
				held[i], rest, again = true, rest[len(m):], true
			}
		}
	}
	for i, m := range modifiers {
		if held[i] {
			name += m
		}
	}
	switch r, n := utf8.DecodeRuneInString(rest); {
	case special.MatchString(strings.ToLower(rest)):
		return name + strings.ToLower(rest), ""
	case rest == "" || n != len(rest) || !unicode.IsPrint(r) || r == ' ':
		return "", fmt.Sprintf("unknown key %q: use keys such as ctrl+x, alt+x, f5, enter, esc, space, up or pgdown", key)
	case name == "shift+":
		return "", fmt.Sprintf("terminals do not send %q: use %q", key, string(unicode.ToUpper(r)))
	case name != "":
		return name + string(unicode.ToLower(r)), ""
	}
	return rest, ""
}

// typed reports whether a key is a character that can be typed.
func typed(name string) bool { return utf8.RuneCountInString(name) == 1 || name == "space" }

// unfit says why an action cannot have a key, or returns "".
func unfit(b Binding, name string) string {
	switch {
	case typed(name) && b.Action != HelpEmpty && (b.Scope == Global || b.Scope == Editor || b.Scope == Dialog):
		return fmt.Sprintf("%s is needed for typing: combine it with ctrl or alt", name)
	case name == "tab" && (b.Scope == Global || b.Scope == Editor):
		return "tab accepts completions in the editor: use another key"
	case (name == "enter" || name == "space") && b.Action == Approve:
		return name + " is easily pressed by accident and must not allow anything: use another key"
	}
	return ""
}

// outer lists the actions of outer scopes that also apply in a scope.
var outer = map[Scope]func(Binding) bool{
	Editor: func(b Binding) bool { return b.Scope == Global },
	Chat:   func(b Binding) bool { return b.Scope == Global },
	Dialog: func(b Binding) bool { return b.Action == Help },
	Ask: func(b Binding) bool {
		return slices.Contains([]Action{Help, Quit, PageUp, PageDown, ScrollUp, ScrollDown, Top, Bottom, Up, Down}, b.Action)
	},
}

// Active returns the bindings that apply in a scope, innermost first.
func (m *Map) Active(place Scope) []Binding {
	list := m.Bindings(place)
	var taken []string
	for _, b := range list {
		taken = append(taken, b.Keys...)
	}
	for _, b := range m.bindings {
		if outer[place] == nil || !outer[place](b) {
			continue
		}
		b.Keys = slices.DeleteFunc(slices.Clone(b.Keys), func(k string) bool { return slices.Contains(taken, k) })
		list = append(list, b)
	}
	return slices.DeleteFunc(list, func(b Binding) bool { return len(b.Keys) == 0 })
}

// check rejects a key with two actions in one scope. Defaults in which the inner one
// wins are allowed.
func (m *Map) check(own map[string][]string) error {
	for _, place := range []Scope{Editor, Chat, Dialog, Ask} {
		by := map[string]Binding{}
		for _, b := range m.bindings {
			if b.Scope != place && !outer[place](b) {
				continue
			}
			for _, k := range b.Keys {
				other, taken := by[k]
				if taken && !meant(other, b) {
					return clash(k, other, b, own)
				}
				by[k] = b
			}
		}
	}
	return nil
}

// meant reports whether two actions may share a key: the inner one wins.
func meant(a, b Binding) bool {
	both := []Action{a.Action, b.Action}
	return slices.Contains(both, LeaveChat) && slices.Contains(both, Interrupt)
}

// clash returns the fault for the action that the user has changed.
func clash(key string, a, b Binding, own map[string][]string) *Fault {
	if _, ok := own[string(a.Action)]; ok {
		a, b = b, a
	}
	return &Fault{string(b.Action), fmt.Sprintf("%s is already bound to %s: use another key for one of them", key, a.Action)}
}
