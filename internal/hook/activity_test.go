package hook_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
)

func TestUserActivity(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	now := time.Unix(1000, 0)
	a := &hook.Activity{Now: func() time.Time { return now }}
	h := hook.UserActivity(a)
	prompt := func(id, parent pawl.SessionID) {
		now = now.Add(time.Second)
		w.run(hook.Event{Point: hook.ChatMessage, Session: id, Parent: parent}, h)
	}
	prompt("s", "")
	prompt("s", "")
	prompt("child", "s")
	if diff := cmp.Diff(hook.Active{Last: time.Unix(1002, 0), Prompts: 2}, a.Of("s")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(hook.Active{}, a.Of("child")); diff != "" {
		t.Error(diff)
	}
	for i := range 1000 {
		prompt(pawl.SessionID(fmt.Sprint(i)), "")
	}
	if a.Of("s").Prompts != 0 || a.Of("0").Prompts != 1 {
		t.Error("the session that rested longest is kept, or another is lost")
	}
	w.run(hook.Event{Point: hook.SessionEnd, Session: "0"}, h)
	if a.Of("0").Prompts != 0 {
		t.Error("a session that has ended is kept")
	}
}
