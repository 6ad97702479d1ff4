package servicetest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// bash returns a call that runs a command.
func bash(command string) string {
	return fmt.Sprintf(`{"name":"bash","input":{"command":%q}}`, command)
}

// write returns a call that writes a file.
func write(path, content string) string {
	return fmt.Sprintf(`{"name":"write","input":{"path":%q,"content":%q}}`, path, content)
}

// reply returns a line of a script that makes these calls.
func reply(calls ...string) string { return `{"calls":[` + strings.Join(calls, ",") + `]}` }

// inMode returns a prompt in a permission mode.
func inMode(mode, model string) pawl.Prompt {
	p := prompt("go", model, pawl.DeliverNow)
	p.Mode = mode
	return p
}

// permission waits for the n-th permission prompt of the session.
func (b *testEnv) permission(id pawl.SessionID, n int) (seq pawl.Seq, ask pawl.Ask) {
	b.Helper()
	events := b.until(id, 0, func(e pawl.Event) bool {
		if a, ok := e.Body.(pawl.Asked); ok && a.Kind == pawl.AskPermission {
			n--
		}
		return n == 0
	})
	last := events[len(events)-1]
	return last.Seq, last.Body.(pawl.Asked).Ask
}

// allow allows the n-th permission prompt.
func (b *testEnv) allow(id pawl.SessionID, n int) {
	b.Helper()
	seq, _ := b.permission(id, n)
	b.ok(b.Answer(b.Context(), id, seq, pawl.Answer{Outcome: pawl.OutcomeAnswered}))
}

func (b *testEnv) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(b.dir, name))
	return err == nil
}

// statuses returns the statuses of the session's calls.
func (b *testEnv) statuses(id pawl.SessionID) map[pawl.CallID]pawl.CallStatus {
	b.Helper()
	got := map[pawl.CallID]pawl.CallStatus{}
	for _, e := range b.log(id) {
		if f, ok := e.Body.(pawl.CallFinished); ok {
			got[f.Call] = f.Status
		}
	}
	return got
}

// count returns the number of events of each kind in the session's log.
func (b *testEnv) count(id pawl.SessionID) map[pawl.Kind]int {
	b.Helper()
	got := map[pawl.Kind]int{}
	for _, e := range b.log(id) {
		got[pawl.KindOf(e.Body)]++
	}
	return got
}

// touching returns the permission call of a command.
func touching(command string) permission.Call {
	return permission.Call{
		Tool: "bash", Risk: toolapi.RiskDangerous, Input: fmt.Appendf(nil, `{"command":%q}`, command),
		Access: []pawl.Access{{Kind: pawl.AccessExec, Target: command}},
	}
}

// testPermission checks that mode ask shows the user the whole command, and runs it
// after an approval.
func testPermission(b *testEnv) {
	id := b.create()
	b.send(id, inMode("ask", b.script(reply(bash("touch a")), reply(bash("touch a")), `{"text":"Done."}`)))
	seq, ask := b.permission(id, 1)
	c := touching("touch a")
	check(b, pawl.Ask{
		Kind: pawl.AskPermission, Title: "Run command", Command: "touch a", Risk: "medium", Reason: ask.Reason,
		Text:  permission.Show(c, permission.Decide(permission.Policy{Mode: permission.ModeAsk, Sandboxed: true, Dir: b.dir}, c)),
		Offer: []json.RawMessage{[]byte(`{"tool":"bash","pattern":"touch a","decision":"allow"}`)},
		Names: permission.Fingerprint(c),
	}, ask)
	if b.exists("a") || b.count(id)["call.started"] > 0 {
		b.Error("it ran before it was permitted")
	}
	b.ok(b.Answer(b.Context(), id, seq, pawl.Answer{Outcome: pawl.OutcomeAnswered}))
	b.permission(id, 2) // "allow once" does not last
	if !b.exists("a") {
		b.Error("it was permitted, and did not run")
	}
	b.allow(id, 2)
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(id))
	check(b, map[pawl.CallID]pawl.CallStatus{"call_1_1": pawl.CallDone, "call_2_1": pawl.CallDone}, b.statuses(id))
}

// testPermissionSession checks that "allow for this session" holds in the session, and in no other one of
// the directory.
func testPermissionSession(b *testEnv) {
	id := b.create()
	b.send(id, inMode("ask", b.script(reply(bash("touch a")), reply(bash("touch a")), `{"text":"Done."}`)))
	seq, ask := b.permission(id, 1)
	b.ok(b.Answer(b.Context(), id, seq, pawl.Answer{Outcome: pawl.OutcomeAnswered, Always: ask.Offer, Session: true}))
	b.idle(id)
	check(b, 1, b.count(id)["asked"])

	other := b.create()
	b.send(other, inMode("ask", b.script(reply(bash("touch a")), `{"text":"Done."}`)))
	b.permission(other, 1)
	b.ok(b.Cancel(b.Context(), other))
	b.idle(other)
}

// testPermissionAlways checks that "always allow" is stored for the directory and not
// asked again, except for the parts that the user leaves out.
func testPermissionAlways(b *testEnv) {
	id := b.create()
	b.send(id, inMode("ask", b.script(
		reply(bash("touch a; touch b")), reply(bash("touch a")), reply(bash("touch a; touch b")), `{"text":"Done."}`)))
	seq, ask := b.permission(id, 1)
	check(b, 2, len(ask.Offer))
	b.ok(b.Answer(b.Context(), id, seq, pawl.Answer{Outcome: pawl.OutcomeAnswered, Always: ask.Offer[:1]}))
	seq, ask = b.permission(id, 2)
	check(b, pawl.CallDone, b.only(id, "call_2_1").Status)
	check(b, []json.RawMessage{[]byte(`{"tool":"bash","pattern":"touch b","decision":"allow"}`)}, ask.Offer)
	b.ok(b.Answer(b.Context(), id, seq, pawl.Answer{Outcome: pawl.OutcomeAnswered}))
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(id))
	check(b, 2, b.count(id)["asked"])

	saved, err := b.authority.Grants.List()
	b.ok(err)
	check(b, []permission.Grant{{
		Rule: permission.Rule{Tool: "bash", Pattern: "touch a", Decision: permission.Allow}, Scope: permission.ScopeProject, Dir: b.dir,
	}}, saved, cmpopts.IgnoreFields(permission.Grant{}, "At"))

	other := b.create() // another session in the directory
	b.send(other, inMode("ask", b.script(reply(bash("touch a")), `{"text":"Done."}`)))
	b.idle(other)
	check(b, 0, b.count(other)["asked"])

	b.ok(b.authority.Grants.Revoke(saved[0].ID()))
	b.send(other, inMode("ask", b.script(`{"text":"x"}`, `{"text":"x"}`, reply(bash("touch a")), `{"text":"Done."}`)))
	b.allow(other, 1)
	b.idle(other)
}

// testPermissionSavedRules checks that an answer cannot allow more than the prompt
// offers.
func testPermissionSavedRules(b *testEnv) {
	id := b.create()
	b.send(id, inMode("ask", b.script(reply(bash("touch a"), bash("touch $(echo b)")), `{"text":"Done."}`)))
	seq, _ := b.permission(id, 1)
	always := func(rules ...string) pawl.Answer {
		a := pawl.Answer{Outcome: pawl.OutcomeAnswered}
		for _, r := range rules {
			a.Always = append(a.Always, json.RawMessage(r))
		}
		return a
	}
	good := `{"tool":"bash","pattern":"touch a","decision":"allow"}`
	denied := always(good)
	denied.Outcome = pawl.OutcomeDenied
	for name, a := range map[string]pawl.Answer{
		"all commands":         always(`{"tool":"bash","pattern":"*","decision":"allow"}`),
		"a shell":              always(good, `{"tool":"bash","pattern":"bash *","decision":"allow"}`),
		"everything":           always(`{"kind":"write","pattern":"**","decision":"allow"}`),
		"a protected name":     always(`{"kind":"write","pattern":".git/config","decision":"allow"}`),
		"a rule that denies":   always(`{"tool":"bash","pattern":"touch a","decision":"deny"}`),
		"an unknown key":       always(`{"tool":"bash","pattern":"touch a","decision":"allow","scope":"all"}`),
		"no rule":              always(`"yes"`),
		"declined, and always": denied,
		"answers to nothing":   answer([]string{"yes"}),
		"yes, with a word":     {Outcome: pawl.OutcomeAnswered, Text: "but only once"},
		"a timeout":            {Outcome: pawl.OutcomeTimeout},
		"absent":               {Outcome: pawl.OutcomeAbsent},
		"nothing":              {},
	} {
		if err := b.Answer(b.Context(), id, seq, a); pawl.CodeOf(orElse(err)) != pawl.CodeInvalid {
			b.Errorf("%s: %v", name, err)
		}
	}
	b.ok(b.Answer(b.Context(), id, seq, always(good)))
	seq, ask := b.permission(id, 2)
	check(b, 0, len(ask.Offer))
	b.code(pawl.CodeInvalid, b.Answer(b.Context(), id, seq, always(good)))
	b.ok(b.Answer(b.Context(), id, seq, pawl.Answer{Outcome: pawl.OutcomeAnswered}))
	b.idle(id)
	check(b, map[pawl.CallID]pawl.CallStatus{"call_1_1": pawl.CallDone, "call_1_2": pawl.CallDone}, b.statuses(id))
	saved, err := b.authority.Grants.List()
	b.ok(err)
	check(b, 1, len(saved))
}

// testPermissionDeniedByUser checks that a denial without a message ends the turn: no
// call of the reply runs, not even one that was allowed before.
func testPermissionDeniedByUser(b *testEnv) {
	id := b.create()
	b.send(id, inMode("ask", b.script(reply(`{"name":"list"}`, bash("touch a"), bash("touch b"), bash("touch c")), `{"text":"went on"}`)))
	b.allow(id, 1)
	seq, _ := b.permission(id, 2)
	b.ok(b.Answer(b.Context(), id, seq, pawl.Answer{Outcome: pawl.OutcomeDenied}))
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonPermissionDenied}, b.reasons(id))
	check(b, map[pawl.CallID]pawl.CallStatus{
		"call_1_1": pawl.CallCanceled, "call_1_2": pawl.CallCanceled, "call_1_3": pawl.CallDenied, "call_1_4": pawl.CallCanceled,
	}, b.statuses(id))
	check(b, 0, b.count(id)["call.started"])
	for _, name := range []string{"a", "b", "c"} {
		if b.exists(name) {
			b.Errorf("%s is there", name)
		}
	}
}

// testPermissionWord checks that a denial with a message is a result, and that the
// turn continues.
func testPermissionWord(b *testEnv) {
	id := b.create()
	b.send(id, inMode("ask", b.script(reply(bash("touch a"), bash("touch b")), `{"expect":"^the user denied it and said: use the other one","text":"Ok."}`)))
	seq, _ := b.permission(id, 1)
	b.ok(b.Answer(b.Context(), id, seq, pawl.Answer{Outcome: pawl.OutcomeDenied, Text: "use the other one"}))
	b.allow(id, 2)
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(id))
	check(b, map[pawl.CallID]pawl.CallStatus{"call_1_1": pawl.CallDenied, "call_1_2": pawl.CallDone}, b.statuses(id))
	check(b, []bool{false, true}, []bool{b.exists("a"), b.exists("b")})
}

func testPermissionTimeout(b *testEnv) {
	id := b.create()
	p := inMode("ask", b.script(reply(bash("touch a"), bash("touch b")), `{"text":"went on"}`))
	p.AskTimeout = 20 * time.Millisecond
	b.send(id, p)
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonPermissionDenied}, b.reasons(id))
	check(b, map[pawl.CallID]pawl.CallStatus{"call_1_1": pawl.CallDenied, "call_1_2": pawl.CallCanceled}, b.statuses(id))
	seq, ask := b.permission(id, 1)
	check(b, p.AskTimeout, ask.Timeout)
	b.code(pawl.CodeConflict, b.Answer(b.Context(), id, seq, pawl.Answer{Outcome: pawl.OutcomeAnswered}))
	if b.exists("a") || b.exists("b") {
		b.Error("it ran, and nobody had permitted it")
	}
}

// testPermissionAbsent checks that without a user the call is denied without a
// prompt, and that the turn continues.
func testPermissionAbsent(b *testEnv) {
	id := b.create()
	p := inMode("ask", b.script(reply(bash("touch a"), `{"name":"list"}`), `{"expect":"no user is present to ask","text":"Ok."}`))
	p.Absent = true
	b.send(id, p)
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(id))
	check(b, map[pawl.CallID]pawl.CallStatus{"call_1_1": pawl.CallDenied, "call_1_2": pawl.CallDone}, b.statuses(id))
	check(b, 0, b.count(id)["asked"])
	check(b, false, b.exists("a"))
}

func testPermissionCanceled(b *testEnv) {
	id := b.create()
	b.send(id, inMode("ask", b.script(reply(bash("touch a"), bash("touch b")), `{"text":"went on"}`)))
	seq, _ := b.permission(id, 1)
	b.ok(b.Cancel(b.Context(), id))
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonCanceled}, b.reasons(id))
	check(b, map[pawl.CallID]pawl.CallStatus{"call_1_1": pawl.CallCanceled, "call_1_2": pawl.CallCanceled}, b.statuses(id))
	b.code(pawl.CodeConflict, b.Answer(b.Context(), id, seq, pawl.Answer{Outcome: pawl.OutcomeAnswered}))
	check(b, false, b.exists("a"))
}

// testPermissionRace checks that the first answer counts, be it an approval or a
// denial, and that the others get an error.
func testPermissionRace(b *testEnv) {
	id := b.create()
	b.send(id, inMode("ask", b.script(reply(bash("touch a")), `{"text":"Ok."}`)))
	seq, _ := b.permission(id, 1)
	outcomes := []pawl.Outcome{pawl.OutcomeAnswered, pawl.OutcomeDenied, pawl.OutcomeAnswered, pawl.OutcomeDenied}
	errs := make([]error, len(outcomes))
	var wg sync.WaitGroup
	for i, o := range outcomes {
		wg.Go(func() { errs[i] = b.Answer(b.Context(), id, seq, pawl.Answer{Outcome: o}) })
	}
	wg.Wait()
	var won []pawl.Outcome
	for i, err := range errs {
		if err == nil {
			won = append(won, outcomes[i])
			continue
		}
		b.code(pawl.CodeConflict, err)
	}
	b.idle(id)
	if len(won) != 1 || b.exists("a") != (won[0] == pawl.OutcomeAnswered) {
		b.Errorf("heard were %v; a file is there: %v", won, b.exists("a"))
	}
}

// testPermissionOfAQuestion checks that a question that needs a permission leads to
// two prompts, one after the other.
func testPermissionOfAQuestion(b *testEnv) {
	b.authority.Rule(permission.Rule{Tool: "question", Decision: permission.Ask})
	id := b.create()
	b.send(id, inMode("guard", b.script(asks, `{"expect":"Store: SQLite\nExtras: docs","text":"Done."}`)))
	seq, ask := b.permission(id, 1)
	if !strings.Contains(ask.Text, "Which one?") {
		b.Errorf("the question is not in what is asked:\n%s", ask.Text)
	}
	b.code(pawl.CodeInvalid, b.Answer(b.Context(), id, seq, answer([]string{"SQLite"}, []string{"docs"})))
	b.ok(b.Answer(b.Context(), id, seq, pawl.Answer{Outcome: pawl.OutcomeAnswered}))
	events := b.until(id, seq, is[pawl.Asked])
	second := events[len(events)-1]
	check(b, pawl.AskQuestion, second.Body.(pawl.Asked).Kind)
	b.code(pawl.CodeConflict, b.Answer(b.Context(), id, seq, pawl.Answer{Outcome: pawl.OutcomeDenied}))
	b.ok(b.Answer(b.Context(), id, second.Seq, answer([]string{"SQLite"}, []string{"docs"})))
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(id))
}
