package servicetest

import (
	"context"
	"strings"

	"github.com/pawl-dev/pawl"
)

// ran waits for the end of a user's command.
func (b *testEnv) ran(id pawl.SessionID, asked pawl.Seq) pawl.ShellRan {
	b.Helper()
	events := b.until(id, asked-1, func(e pawl.Event) bool {
		r, ok := e.Body.(pawl.ShellRan)
		return ok && r.Asked == asked
	})
	return events[len(events)-1].Body.(pawl.ShellRan)
}

// shell requests a command of the user.
func (b *testEnv) shell(id pawl.SessionID, command string) pawl.Seq {
	b.Helper()
	asked, err := b.Shell(b.Context(), id, command)
	b.ok(err)
	return asked
}

// testShell checks that a user's command is shown while it runs, that the model gets
// it with the next prompt, and that it can be undone like a turn.
func testShell(b *testEnv) {
	id := b.create()
	var asked pawl.Seq
	b.untilOnce(id, func() { asked = b.shell(id, "echo hello; touch made; until [ -e go ]; do sleep 0.01; done; rm go") }, func(e pawl.Event) bool {
		p, ok := e.Body.(pawl.Progress)
		return ok && p.Call == asked.ShellCall() && strings.Contains(p.Text, "hello")
	})
	check(b, pawl.StateQueued, b.get(id).State())
	b.release("go")
	r := b.ran(id, asked)
	check(b, pawl.CallDone, r.Status)
	check(b, "hello\n", r.Result.Content)
	check(b, "0", r.Result.Meta["exit_code"])
	check(b, pawl.StateIdle, b.get(id).State())
	check(b, 0, b.get(id).Turns)
	b.send(id, prompt("what did it say?", b.script(`{"text":"Hello."}`), pawl.DeliverNow))
	b.idle(id)
	talk := b.conversation(id)
	check(b, 3, len(talk))
	if text := talk[0].Text(); talk[0].Role != pawl.RoleUser || !strings.Contains(text, "touch made") || !strings.Contains(text, "\nhello\n") {
		b.Errorf("the model is told %q", text)
	}

	b.put("kept", "kept")
	rm := b.shell(id, "rm kept made")
	b.ran(id, rm)
	check(b, map[string]string{}, b.files())
	check(b, []string{"kept", "made"}, b.undo(id, pawl.Undo{}).Changed)
	check(b, map[string]string{"kept": "kept", "made": ""}, b.files())
	check(b, talk, b.conversation(id))
}

func testShellRefuses(b *testEnv) {
	id := b.create()
	for _, command := range []string{"", " \n", "a\x00b", strings.Repeat("a", 1<<17+1)} {
		_, err := b.Shell(b.Context(), id, command)
		b.code(pawl.CodeInvalid, err)
	}
	_, err := b.Shell(b.Context(), "01JD0000000000000000000000", "true")
	b.code(pawl.CodeNotFound, err)
	check(b, 1, len(b.log(id)))
}

// testShellWaits checks that a command waits for the current turn and runs before a
// queued prompt.
func testShellWaits(b *testEnv) {
	id, model := b.busy(`{"text":"Done."}`, `{"text":"Second."}`)
	b.send(id, prompt("second", model, pawl.DeliverQueue))
	asked := b.shell(id, "true")
	check(b, 2, b.get(id).Queued)
	b.release("go")
	b.ran(id, asked)
	b.idle(id)
	log := b.log(id)
	var order []pawl.Kind
	for _, k := range kinds(log) {
		switch k {
		case "turn.started", "turn.finished", "shell.started", "shell.ran":
			order = append(order, k)
		}
	}
	check(b, []pawl.Kind{"turn.started", "turn.finished", "shell.started", "shell.ran", "turn.started", "turn.finished"}, order)
}

// testShellCanceled checks that a cancel ends a running command, and that one that
// waits for a turn is not run.
func testShellCanceled(b *testEnv) {
	id := b.create()
	asked := b.shell(id, "touch begun; exec sleep 1000")
	b.eventually("it runs", func(context.Context) bool { return b.exists("begun") })
	b.ok(b.Cancel(b.Context(), id))
	check(b, pawl.CallCanceled, b.ran(id, asked).Status)

	busy, _ := b.busy(`{"text":"Never."}`)
	waits := b.shell(busy, "touch never")
	b.ok(b.Cancel(b.Context(), busy))
	check(b, pawl.CallCanceled, b.ran(busy, waits).Status)
	b.idle(busy)
	check(b, false, b.exists("never"))
	check(b, []pawl.Reason{pawl.ReasonCanceled}, b.reasons(busy))
	check(b, pawl.CallDone, b.ran(busy, b.shell(busy, "touch after")).Status)
	check(b, true, b.exists("after"))
}

// testShellInterrupted checks that a command that was running at a crash is not run
// again, and that a waiting one is run unless it is canceled.
func testShellInterrupted(b *testEnv) {
	for i, c := range []struct {
		name   string
		begun  bool
		cancel bool
		want   pawl.CallStatus
		ran    bool
	}{
		{name: "running", begun: true, want: pawl.CallUnknown},
		{name: "running, and canceled", begun: true, cancel: true, want: pawl.CallUnknown},
		{name: "waiting", want: pawl.CallDone, ran: true},
		{name: "waiting, and canceled", cancel: true, want: pawl.CallCanceled},
	} {
		file := string(rune('a' + i))
		bodies := []pawl.Body{pawl.SessionCreated{Dir: b.dir}, pawl.ShellAsked{Command: "touch " + file}}
		if c.begun {
			bodies = append(bodies, pawl.ShellStarted{Asked: 2})
		}
		log := b.events(bodies...)
		for n := range log {
			log[n].Session = "01JD000000000000000000000" + pawl.SessionID(rune('1'+i))
		}
		s := b.storeLog(log)
		check(b, pawl.StateQueued, s.State())
		if c.cancel {
			b.ok(b.Cancel(b.Context(), s.ID))
		} else {
			b.ok(b.Resume(b.Context(), s.ID))
		}
		if got := b.ran(s.ID, 2).Status; got != c.want || b.exists(file) != c.ran {
			b.Errorf("%s: %s, run %v", c.name, got, b.exists(file))
		}
	}
}
