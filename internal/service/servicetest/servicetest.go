// Package servicetest is the test suite that every implementation of pawl.Service
// must pass.
package servicetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// Harness is a service under test, without sessions, that uses Pawl's own tools and
// scripted models.
type Harness struct {
	Service pawl.Service
	Store   store.Store // the service's store

	Authority *harness.Authority // decides permissions
}

// suite lists the tests that every service must pass.
var suite = []struct {
	name string
	run  func(*testEnv)
}{
	{"create and get", testCreate},
	{"create refuses", testCreateRefuses},
	{"no such session", testNotFound},
	{"list", testList},
	{"usage", testUsage},
	{"delete", testDelete},
	{"R2 R8 send", testSend},
	{"R2 send keeps what it accepts", testSendAccepted},
	{"send refuses", testSendRefuses},
	{"the model of the last prompt", testModelStays},
	{"the mode of the last prompt", testModeStays},
	{"R1 a busy session rejects", testBusyRejects},
	{"R1 a busy session queues", testBusyQueues},
	{"R1 a busy session is steered", testBusySteered},
	{"R1 one of many is accepted", testRace},
	{"what waits is reworded and withdrawn", testQueueChanged},
	{"what waits and is changed while it is taken in", testQueueRace},
	{"resume", testResume},
	{"resume with nothing to do", testResumeIdle},
	{"R7 cancel", testCancel},
	{"cancel with nothing to do", testCancelIdle},
	{"cancel what was interrupted", testCancelInterrupted},
	{"R19 answer", testAnswer},
	{"R19 answer: declined", testAnswerDenied},
	{"R19 answer: one of many is heard", testAnswerRace},
	{"R19 answer: nobody is there", testAnswerAbsent},
	{"R19 answer: canceled", testAnswerCanceled},
	{"answer after a crash", testAnswerAfterACrash},
	{"R18 permission: once", testPermission},
	{"R18 permission: always", testPermissionAlways},
	{"R18 permission: for the session", testPermissionSession},
	{"R18 permission: what can be granted", testPermissionSavedRules},
	{"R6 permission: declined", testPermissionDeniedByUser},
	{"permission: declined with a word", testPermissionWord},
	{"R18 permission: timeout", testPermissionTimeout},
	{"permission: nobody is there", testPermissionAbsent},
	{"R7 permission: canceled", testPermissionCanceled},
	{"permission: one of many is heard", testPermissionRace},
	{"permission of a call that asks", testPermissionOfAQuestion},
	{"permission is for what was shown", testPermissionShown},
	{"permission: denied meanwhile", testPermissionDeniedInBetween},
	{"permission: the sandbox is gone meanwhile", testPermissionUnboxed},
	{"permission after a crash", testPermissionAfterACrash},
	{"permission: a no after a crash", testPermissionNoAfterACrash},
	{"permission of a call that has ended", testPermissionOfAnEndedCall},
	{"permission of a child", testPermissionOfASubagent},
	{"a child in plan mode", testPlanOfASubagent},
	{"R13 todos", testTodos},
	{"plan mode", testPlan},
	{"R13 children", testSubagents},
	{"a child's rights", testSubagentRights},
	{"R16 the explorer", testExplorer},
	{"a child's budget", testSubagentBudget},
	{"one budget for parallel subagents", testParallelBudget},
	{"one budget for parallel subagents, after a crash", testParallelBudgetAfterACrash},
	{"totals include subagents, each once", testTotals},
	{"budgets", testBudgets},
	{"a budget of time", testTimeBudget},
	{"a child is canceled with its parent", testSubagentCanceled},
	{"a child in the background", testSubagentInBackground},
	{"a child after a crash", testSubagentAfterACrash},
	{"undo: undo and redo", testUndo},
	{"undo refuses", testUndoRefuses},
	{"undo: a busy session", testUndoBusy},
	{"undo: conflicts", testUndoConflict},
	{"undo: scopes", testUndoScopes},
	{"undo: interrupted", testUndoInterrupted},
	{"undo: children", testUndoOfSubagents},
	{"rename", testRename},
	{"owners", testOwners},
	{"share", testShare},
	{"mission: begun and seen", testMission},
	{"mission: start refuses", testMissionRefuses},
	{"mission: what it takes and what not", testMissionOrders},
	{"mission: its team works for nobody else", testMissionTeam},
	{"mission: the board", testMissionBoard},
	{"mission: approval", testMissionApproval},
	{"compact: an order is answered", testCompactOrder},
	{"shell: a command of the person's", testShell},
	{"shell refuses", testShellRefuses},
	{"shell: a busy session", testShellWaits},
	{"shell: canceled", testShellCanceled},
	{"shell: interrupted", testShellInterrupted},
	{"fork", testFork},
	{"fork at any point", testForkAtAnyPoint},
	{"fork of a busy session", testForkOfABusySession},
	{"fork with an open ask", testForkWithAnAsk},
	{"fork with orders", testForkWithOrders},
	{"fork of a fork, and of a child", testForkOfAFork},
	{"R11 events: replay, then live", testEvents},
	{"events end with their context", testEventsEnd},
	{"R3 draft", testDraft},
	{"import and export", testImport},
	{"an import is inert", testImportIsInert},
	{"an import goes on", testImportGoesOn},
	{"an import keeps what was undone", testImportUndone},
	{"import refuses", testImportRefuses},
	{"import refuses unknown values", testImportValues},
	{"import that breaks off", testImportBreaksOff},
	{"desk: look and trust", testLook},
	{"desk: no folder", testProjectsRefuse},
	{"desk: models", testModels},
	{"desk: files", testFiles},
	{"desk: expand", testExpand},
	{"desk: output", testOutput},
	{"diff: turns and sessions", testDiff},
	{"diff: a turn that runs", testDiffOfARunningTurn},
	{"diff: subagents", testDiffOfSubagents},
	{"diff: the working tree", testDiffOfTheWorkingTree},
	{"diff refuses", testDiffRefuses},
	{"files: list and read", testReadFiles},
	{"files: what may not be read", testReadFilesRefuses},
}

// Run runs the suite. open returns a new service for each test.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	for _, test := range suite {
		t.Run(test.name, func(t *testing.T) {
			h := open(t)
			test.run(&testEnv{T: t, Service: h.Service, store: h.Store, authority: h.Authority, dir: t.TempDir(), open: open})
		})
	}
}

// patience is how long a test waits before it fails.
const patience = time.Minute

// testEnv is a test with a service and a workspace.
type testEnv struct {
	*testing.T
	pawl.Service
	store store.Store
	dir   string
	open  func(*testing.T) Harness

	authority *harness.Authority
}

// script writes a script and returns the name of the model that follows it.
func (b *testEnv) script(lines ...string) string {
	b.Helper()
	path := b.TempDir() + ".jsonl" // beside the other scripts of the test: those of subagents must be below it
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		b.Fatal(err)
	}
	return "script:" + path
}

// waits returns a reply whose call ends when a file of this name exists in the
// workspace.
func waits(name string) string {
	return fmt.Sprintf(`{"calls":[{"name":"bash","input":{"command":"echo waiting; until [ -e %s ]; do sleep 0.01; done"}}]}`, name)
}

// release ends the call that waits for this name.
func (b *testEnv) release(name string) {
	b.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), nil, 0o600); err != nil {
		b.Fatal(err)
	}
}

func (b *testEnv) create() pawl.SessionID {
	b.Helper()
	s, err := b.Create(b.Context(), pawl.NewSession{Dir: b.dir})
	if err != nil {
		b.Fatal(err)
	}
	return s.ID
}

// prompt returns a prompt with the text.
func prompt(text, model string, d pawl.Delivery) pawl.Prompt {
	return pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: text}}, Delivery: d, Settings: pawl.Settings{Model: model}}
}

func (b *testEnv) send(id pawl.SessionID, p pawl.Prompt) pawl.Seq {
	b.Helper()
	seq, err := b.Send(b.Context(), id, p)
	if err != nil {
		b.Fatal(err)
	}
	return seq
}

func (b *testEnv) get(id pawl.SessionID) pawl.Session {
	b.Helper()
	s, err := b.Get(b.Context(), id)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// untilOnce is until for an event that is not stored: it subscribes before it calls
// do.
func (b *testEnv) untilOnce(id pawl.SessionID, do func(), wanted func(pawl.Event) bool) {
	b.Helper()
	b.until(id, 0, func(e pawl.Event) bool {
		if e.Seq == 1 {
			do()
		}
		return wanted(e)
	})
}

// until reads the session's events up to the wanted one.
func (b *testEnv) until(id pawl.SessionID, after pawl.Seq, wanted func(pawl.Event) bool) []pawl.Event {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	var events []pawl.Event
	for e, err := range b.Events(ctx, id, after) {
		if err != nil {
			b.Fatal(err)
		}
		events = append(events, e)
		if wanted(e) {
			return events
		}
	}
	b.Fatalf("what was waited for did not come; these did: %v", kinds(events))
	return nil
}

// is reports whether the event's body is a B.
func is[B pawl.Body](e pawl.Event) bool {
	_, ok := e.Body.(B)
	return ok
}

// idle waits until the session has nothing to do.
func (b *testEnv) idle(id pawl.SessionID) {
	b.Helper()
	if b.get(id).State() == pawl.StateIdle {
		return
	}
	b.until(id, 0, func(e pawl.Event) bool {
		if s, ok := e.Body.(pawl.Status); ok {
			b.Fatalf("the work was interrupted: %s", s.Message)
		}
		return is[pawl.TurnFinished](e) && b.get(id).State() == pawl.StateIdle
	})
}

// log returns the session's durable events, as the service yields them.
func (b *testEnv) log(id pawl.SessionID) []pawl.Event {
	b.Helper()
	head := b.get(id).Head
	var durable []pawl.Event
	for _, e := range b.until(id, 0, func(e pawl.Event) bool { return e.Seq >= head }) {
		if e.Seq != 0 {
			durable = append(durable, e)
		}
	}
	return durable
}

// conversation returns the messages of the log, without numbers.
func (b *testEnv) conversation(id pawl.SessionID) []pawl.Message {
	b.Helper()
	messages, err := pawl.Conversation(b.log(id))
	if err != nil {
		b.Fatal(err)
	}
	for i := range messages {
		messages[i].Seq = 0
	}
	return messages
}

// reasons returns why the session's turns ended, in order.
func (b *testEnv) reasons(id pawl.SessionID) []pawl.Reason {
	b.Helper()
	var reasons []pawl.Reason
	for _, e := range b.log(id) {
		if f, ok := e.Body.(pawl.TurnFinished); ok {
			reasons = append(reasons, f.Reason)
		}
	}
	return reasons
}

// code fails the test unless the error is of this class.
func (b *testEnv) code(want pawl.Code, err error) {
	b.Helper()
	if err == nil {
		b.Errorf("no error, want one of class %s", want)
	} else if got := pawl.CodeOf(err); got != want {
		b.Errorf("the error %q is of class %s, want %s", err, got, want)
	}
}

func (b *testEnv) ok(err error) {
	b.Helper()
	if err != nil {
		b.Error(err)
	}
}

func kinds(events []pawl.Event) []pawl.Kind {
	var list []pawl.Kind
	for _, e := range events {
		list = append(list, pawl.KindOf(e.Body))
	}
	return list
}

func check[T any](b *testEnv, want, got T, opts ...cmp.Option) {
	b.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		b.Errorf("want -, got +: %s", diff)
	}
}

func says(role pawl.Role, text string) pawl.Message {
	return pawl.Message{Role: role, Parts: pawl.Parts{pawl.Text{Text: text}}}
}
