package onboarding

import (
	"reflect"

	tea "charm.land/bubbletea/v2"
)

// commands are those of a sequence.
func commands(msg tea.Msg) (list []tea.Cmd) {
	v := reflect.ValueOf(msg)
	for i := range v.Len() {
		list = append(list, v.Index(i).Interface().(tea.Cmd))
	}
	return list
}
