package servicetest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// These tests change the policy or the files between a permission prompt, its answer and the call.

// wait is a command that ends when the file go exists in the workspace.
const wait = "until [ -e go ]; do sleep 0.01; done"

// while allows a command that waits, together with the given calls after it, then
// runs happens, and then ends the command.
func (b *testEnv) while(id pawl.SessionID, happens func(), calls ...string) {
	b.Helper()
	b.send(id, inMode("ask", b.script(reply(append([]string{bash(wait)}, calls...)...), `{"text":"Done."}`)))
	for i := range calls {
		b.allow(id, i+1)
	}
	b.allow(id, len(calls)+1)
	b.until(id, 0, is[pawl.CallStarted])
	happens()
	b.release("go")
	b.idle(id)
}

// swap replaces a file by a link.
func (b *testEnv) swap(name, target string) {
	b.Helper()
	path := filepath.Join(b.dir, name)
	b.ok(os.RemoveAll(path))
	b.ok(os.Symlink(target, path))
}

// testPermissionShown checks that a permission is only for what was shown: a link
// that replaces a file or directory makes it another call, which was not allowed.
func testPermissionShown(b *testEnv) {
	b.authority.Rule(permission.Rule{Kind: pawl.AccessRead, Pattern: "notes/**", Decision: permission.Ask})
	for _, name := range []string{"notes", "sub", "other"} {
		b.ok(os.Mkdir(filepath.Join(b.dir, name), 0o700))
	}
	b.ok(os.WriteFile(filepath.Join(b.dir, "notes", "a"), []byte("harmless"), 0o600))
	b.ok(os.WriteFile(filepath.Join(b.dir, "secret"), []byte("a secret"), 0o600))
	id := b.create()
	b.while(id, func() {
		b.swap("notes/a", "../secret")
		b.swap("sub", "other")
	}, `{"name":"read","input":{"path":"notes/a"}}`, write("sub/x", "x"), write("same", "x"))
	check(b, map[pawl.CallID]pawl.CallStatus{
		"call_1_1": pawl.CallDone, "call_1_2": pawl.CallDenied, "call_1_3": pawl.CallDenied, "call_1_4": pawl.CallDone,
	}, b.statuses(id))
	for _, call := range []pawl.CallID{"call_1_2", "call_1_3"} {
		if got := b.only(id, call).Result.Content; !strings.Contains(got, "has changed since it was put to the user") {
			b.Errorf("%s: %s", call, got)
		}
	}
	check(b, []bool{false, true}, []bool{b.exists("other/x"), b.exists("same")})
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(id))
}

// testPermissionDeniedInBetween checks that a deny rule takes effect at once,
// whatever was allowed before.
func testPermissionDeniedInBetween(b *testEnv) {
	id := b.create()
	b.while(id, func() {
		b.authority.Rule(permission.Rule{Tool: "bash", Pattern: "touch *", Decision: permission.Deny})
	}, bash("touch a"), write("b", "x"))
	check(b, map[pawl.CallID]pawl.CallStatus{"call_1_1": pawl.CallDone, "call_1_2": pawl.CallDenied, "call_1_3": pawl.CallDone}, b.statuses(id))
	check(b, []bool{false, true}, []bool{b.exists("a"), b.exists("b")})
}

// testPermissionUnboxed checks that a permission for a sandboxed command does not
// hold without the sandbox.
func testPermissionUnboxed(b *testEnv) {
	id := b.create()
	b.while(id, b.authority.Unbox, bash("touch a"), write("b", "x"))
	check(b, map[pawl.CallID]pawl.CallStatus{"call_1_1": pawl.CallDone, "call_1_2": pawl.CallDenied, "call_1_3": pawl.CallDone}, b.statuses(id))
	check(b, []bool{false, true}, []bool{b.exists("a"), b.exists("b")})
}

// askedBefore returns the log of a process that crashed during a permission prompt,
// which is the last event.
func (b *testEnv) askedBefore(model string) []pawl.Event {
	c := touching("touch a")
	return b.events(
		pawl.SessionCreated{Dir: b.dir},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: model, Mode: "ask"}},
		pawl.TurnStarted{Prompt: 2},
		pawl.ReplyStarted{Step: 1, Model: model},
		pawl.Replied{Step: 1, Finish: pawl.FinishToolUse, Parts: pawl.Parts{
			pawl.ToolCall{ID: "a", Name: "bash", Input: c.Input},
			pawl.ToolCall{ID: "b", Name: "list", Input: []byte(`{}`)},
		}},
		pawl.Asked{Call: "a", Ask: pawl.Ask{
			Kind: pawl.AskPermission, Text: "may it?", Names: permission.Fingerprint(c),
			Offer: []json.RawMessage{[]byte(`{"tool":"bash","pattern":"touch a","decision":"allow"}`)},
		}},
	)
}

// testPermissionAfterACrash checks that a prompt that was open at a crash can still
// be answered at any time, unless the call has become another one.
func testPermissionAfterACrash(b *testEnv) {
	yes := pawl.Answer{Outcome: pawl.OutcomeAnswered}
	always := pawl.Answer{Outcome: pawl.OutcomeAnswered, Always: []json.RawMessage{[]byte(`{"tool":"bash","pattern":"touch a","decision":"allow"}`)}}
	allowed := permission.Rule{Tool: "bash", Pattern: "touch a", Decision: permission.Allow}
	for _, test := range []struct {
		name   string
		answer pawl.Answer
		early  bool // the answer comes before the session is resumed
		change func(h *testEnv, log []pawl.Event)
		want   pawl.CallStatus
	}{
		{"answered later", yes, false, nil, pawl.CallDone},
		{"answered while nobody ran", yes, true, nil, pawl.CallDone},
		{"always, while nobody ran", always, true, nil, pawl.CallDone},
		{"it is another call by now", yes, true, func(_ *testEnv, log []pawl.Event) {
			ask := log[5].Body.(pawl.Asked)
			ask.Names = permission.Fingerprint(touching("touch b"))
			log[5].Body = ask
		}, pawl.CallDenied},
		{"a rule allows it by now", yes, false, func(h *testEnv, _ []pawl.Event) { h.authority.Rule(allowed) }, pawl.CallDone},
		{"a rule denies it by now", yes, true, func(h *testEnv, _ []pawl.Event) {
			h.authority.Rule(permission.Rule{Tool: "bash", Decision: permission.Deny})
		}, pawl.CallDenied},
	} {
		h := b.open(b.T)
		c := &testEnv{T: b.T, Service: h.Service, store: h.Store, authority: h.Authority, dir: b.TempDir(), open: b.open}
		log := c.askedBefore(b.script(`{"text":"x"}`, `{"text":"Done."}`))
		if test.change != nil {
			test.change(c, log)
		}
		s := c.storeLog(log)
		if test.early {
			b.ok(c.Answer(b.Context(), s.ID, 6, test.answer))
		}
		b.ok(c.Resume(b.Context(), s.ID))
		if !test.early {
			b.ok(c.Answer(b.Context(), s.ID, 6, test.answer))
		}
		c.idle(s.ID)
		check(b, map[pawl.CallID]pawl.CallStatus{"a": test.want, "b": pawl.CallDone}, c.statuses(s.ID))
		check(b, []pawl.Reason{pawl.ReasonEndTurn}, c.reasons(s.ID))
		if n := c.count(s.ID); n["asked"] != 1 || n["answered"] != 1 || c.exists("a") != (test.want == pawl.CallDone) {
			b.Errorf("%s: %v, it ran: %v", test.name, n, c.exists("a"))
		}
		saved, err := c.authority.Grants.List()
		b.ok(err)
		check(b, len(test.answer.Always), len(saved))
	}
}

// testPermissionOfAnEndedCall checks that a call with a result needs no answer.
func testPermissionOfAnEndedCall(b *testEnv) {
	log := bodies(b.askedBefore(b.script(`{"text":"x"}`)))
	s := b.storeLog(b.events(append(log, pawl.CallFinished{Call: "a", Status: pawl.CallDenied, Result: toolapi.ErrorResult("no")})...))
	b.code(pawl.CodeConflict, b.Answer(b.Context(), s.ID, 6, pawl.Answer{Outcome: pawl.OutcomeAnswered}))
}

// testPermissionNoAfterACrash checks that a denial holds wherever a crash happens
// after it, whatever is allowed by then.
func testPermissionNoAfterACrash(b *testEnv) {
	answered := func(a pawl.Answer) pawl.Body { return pawl.Answered{Ask: 6, Answer: a} }
	no := pawl.Answer{Outcome: pawl.OutcomeDenied}
	denied := pawl.CallFinished{Call: "a", Status: pawl.CallDenied, Result: toolapi.ErrorResult("declined")}
	for name, test := range map[string]struct {
		more   []pawl.Body
		reason pawl.Reason
		a, b   pawl.CallStatus
	}{
		"declined":               {[]pawl.Body{answered(no)}, pawl.ReasonPermissionDenied, pawl.CallDenied, pawl.CallCanceled},
		"declined, with result":  {[]pawl.Body{answered(no), denied}, pawl.ReasonPermissionDenied, pawl.CallDenied, pawl.CallCanceled},
		"timeout":                {[]pawl.Body{answered(pawl.Answer{Outcome: pawl.OutcomeTimeout})}, pawl.ReasonPermissionDenied, pawl.CallDenied, pawl.CallCanceled},
		"canceled":               {[]pawl.Body{answered(pawl.Answer{Outcome: pawl.OutcomeCanceled})}, pawl.ReasonCanceled, pawl.CallCanceled, pawl.CallCanceled},
		"declined with a word":   {[]pawl.Body{answered(pawl.Answer{Outcome: pawl.OutcomeDenied, Text: "no"})}, pawl.ReasonEndTurn, pawl.CallDenied, pawl.CallDone},
		"… and with its result":  {[]pawl.Body{answered(pawl.Answer{Outcome: pawl.OutcomeDenied, Text: "no"}), denied}, pawl.ReasonEndTurn, pawl.CallDenied, pawl.CallDone},
		"nobody was there":       {[]pawl.Body{answered(pawl.Answer{Outcome: pawl.OutcomeAbsent})}, pawl.ReasonEndTurn, pawl.CallDenied, pawl.CallDone},
		"an outcome from beyond": {[]pawl.Body{answered(pawl.Answer{Outcome: "maybe"})}, pawl.ReasonPermissionDenied, pawl.CallDenied, pawl.CallCanceled},
	} {
		for _, decision := range []permission.Decision{"", permission.Allow, permission.Deny} {
			h := b.open(b.T)
			c := &testEnv{T: b.T, Service: h.Service, store: h.Store, authority: h.Authority, dir: b.TempDir(), open: b.open}
			if decision != "" {
				c.authority.Rule(permission.Rule{Tool: "bash", Pattern: "touch a", Decision: decision})
			}
			log := c.askedBefore(b.script(`{"text":"x"}`, `{"text":"Went on."}`))
			s := c.storeLog(c.events(append(bodies(log), test.more...)...))
			b.ok(c.Resume(b.Context(), s.ID))
			c.idle(s.ID)
			if got := c.reasons(s.ID); len(got) != 1 || got[0] != test.reason || c.exists("a") {
				b.Errorf("%s: the turn ended with %v, it ran: %v", name, got, c.exists("a"))
			}
			check(b, map[pawl.CallID]pawl.CallStatus{"a": test.a, "b": test.b}, c.statuses(s.ID))
		}
	}
}

// testPermissionOfASubagent checks that a subagent asks for permissions in its own
// session, as its parent would.
func testPermissionOfASubagent(b *testEnv) {
	id := b.create()
	p := inMode("ask", b.script(
		reply(task("general", "x", "")), `{"expect":"> Tried.","text":"Ok."}`,
		`{"agent":"general",`+reply(write("a", "x"))[1:], `{"agent":"general",`+reply(write("b", "x"))[1:], `{"agent":"general","text":"Tried."}`,
	))
	p.AskTimeout = patience
	b.send(id, p)
	events := b.until(id, 0, is[pawl.Spawned])
	sub := events[len(events)-1].Body.(pawl.Spawned).Subagent
	b.eventually("the child is there", func(ctx context.Context) bool {
		_, err := b.Get(ctx, sub)
		return err == nil
	})
	seq, ask := b.permission(sub, 1)
	check(b, p.AskTimeout, ask.Timeout)
	b.code(pawl.CodeNotFound, b.Answer(b.Context(), id, seq, pawl.Answer{Outcome: pawl.OutcomeAnswered}))
	b.ok(b.Answer(b.Context(), sub, seq, pawl.Answer{Outcome: pawl.OutcomeAnswered}))
	seq, _ = b.permission(sub, 2)
	b.ok(b.Answer(b.Context(), sub, seq, pawl.Answer{Outcome: pawl.OutcomeDenied, Text: "enough"}))
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(id))
	check(b, map[pawl.CallID]pawl.CallStatus{"call_1_1": pawl.CallDone, "call_2_1": pawl.CallDenied}, b.statuses(sub))
	check(b, []bool{true, false}, []bool{b.exists("a"), b.exists("b")})
	check(b, 0, b.count(id)["asked"])
}

// testPlanOfASubagent checks that plan mode restricts subagents too, including those
// in the background.
func testPlanOfASubagent(b *testEnv) {
	for _, more := range []string{"", `,"background":true`} {
		id := b.create()
		b.send(id, inMode("plan", b.script(
			reply(task("general", "x", more)), `{"text":"So it is."}`, `{"text":"So it is."}`,
			`{"agent":"general",`+reply(write("a", "x"))[1:], `{"agent":"general","expect":"plan mode changes nothing","text":"Tried."}`,
		)))
		b.idle(id)
		check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(id))
		check(b, map[pawl.CallID]pawl.CallStatus{"call_1_1": pawl.CallDenied}, b.statuses(b.subagents(id)[0].ID))
		check(b, false, b.exists("a"))
	}
}
