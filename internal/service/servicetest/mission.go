package servicetest

import (
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
)

// start starts a mission whose Commander follows a script.
func (b *testEnv) start(o pawl.MissionOrder, lines ...string) pawl.Session {
	b.Helper()
	s, err := b.StartMission(b.Context(), pawl.NewMission{Dir: b.dir, Order: o, Settings: pawl.Settings{Model: b.script(lines...)}})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func (b *testEnv) board(id pawl.SessionID) pawl.Board {
	b.Helper()
	board, err := b.Mission(b.Context(), id)
	if err != nil {
		b.Fatal(err)
	}
	return board
}

// testMission checks that a mission is a session that has its order and prompt from
// the start.
func testMission(b *testEnv) {
	ordinary := b.create()
	order := pawl.MissionOrder{
		Goal:     "Make the tests pass\nand keep them so.",
		Criteria: []pawl.Criterion{{ID: "AC-1", Text: "They pass.", Checks: []string{"test"}}},
		Checks:   []pawl.Check{{ID: "test", Kind: pawl.CheckTest, Args: []string{"true"}}},
	}
	s := b.start(order, asks, `{"text":"Done.","usage":{"input":3}}`)
	check(b, "Make the tests pass", s.Name())
	check(b, pawl.MissionWorking, s.MissionState())

	log := b.until(s.ID, 0, is[pawl.Asked])
	check(b, []pawl.Kind{"session.created", "mission.started", "prompted", "turn.started"}, kinds(log[:4]))
	order.Workers, order.Stuck = pawl.MissionWorkers, pawl.MissionStuck
	check(b, pawl.Body(pawl.MissionStarted{Order: order}), log[1].Body)
	check(b, pawl.Body(pawl.Prompted{
		Parts:    pawl.Parts{pawl.Text{Text: order.Goal}},
		Settings: pawl.Settings{Agent: missionapi.AgentCommander, Model: b.get(s.ID).Model, MaxTime: pawl.MissionTime},
	}), log[2].Body)

	check(b, pawl.MissionWorking, b.board(s.ID).State)
	check(b, nil, b.board(s.ID).Ended)
	b.ok(b.Answer(b.Context(), s.ID, log[len(log)-1].Seq, pawl.Answer{Outcome: pawl.OutcomeDenied}))
	b.idle(s.ID)
	want := pawl.Board{
		Session: b.get(s.ID), State: pawl.MissionStopped, Team: []pawl.Session{}, Usage: pawl.Usage{Input: 3},
		Mission: pawl.Mission{Order: order, Began: log[1].At, Tasks: []pawl.TaskState{}},
		Ended:   &pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: 2, Usage: pawl.Usage{Input: 3}},
	}
	check(b, want, b.board(s.ID))

	list, err := b.List(b.Context(), pawl.Filter{Missions: true})
	b.ok(err)
	check(b, []pawl.Session{b.get(s.ID)}, list.Sessions)
	_, err = b.Mission(b.Context(), ordinary)
	b.code(pawl.CodeInvalid, err)
	_, err = b.Mission(b.Context(), "01JD0000000000000000000000")
	b.code(pawl.CodeNotFound, err)
}

func testMissionRefuses(b *testEnv) {
	model := b.script(`{"text":"x"}`)
	for name, change := range map[string]func(*pawl.NewMission){
		"a folder that is not absolute": func(n *pawl.NewMission) { n.Dir = "sub" },
		"an id that is none":            func(n *pawl.NewMission) { n.ID = "x" },
		"an owner that is none":         func(n *pawl.NewMission) { n.Owner = "a\nb" },
		"another agent":                 func(n *pawl.NewMission) { n.Settings.Agent = "build" },
		"a worker as Commander":         func(n *pawl.NewMission) { n.Settings.Agent = missionapi.AgentWorker },
		"no model":                      func(n *pawl.NewMission) { n.Settings.Model = "nobody:x" },
		"no model of the workers":       func(n *pawl.NewMission) { n.Order.Model = "nobody:x" },
		"no model of a reviewer":        func(n *pawl.NewMission) { n.Order.Reviewers = []string{model, "nobody:x"} },
		"no goal":                       func(n *pawl.NewMission) { n.Order.Goal = " \n" },
		"too many workers":              func(n *pawl.NewMission) { n.Order.Workers = pawl.MissionMaxWorkers + 1 },
	} {
		n := pawl.NewMission{Dir: b.dir, Order: pawl.MissionOrder{Goal: "go"}, Settings: pawl.Settings{Model: model}}
		change(&n)
		if _, err := b.StartMission(b.Context(), n); pawl.CodeOf(err) != pawl.CodeInvalid {
			b.Errorf("%s: %v", name, err)
		}
	}
	list, err := b.List(b.Context(), pawl.Filter{})
	b.ok(err)
	check(b, 0, len(list.Sessions))

	s := b.start(pawl.MissionOrder{Goal: "go"}, `{"text":"Done."}`)
	_, err = b.StartMission(b.Context(), pawl.NewMission{ID: s.ID, Dir: b.dir, Order: pawl.MissionOrder{Goal: "go"}, Settings: pawl.Settings{Model: model}})
	b.code(pawl.CodeConflict, err)
	b.idle(s.ID)
}

// testMissionOrders checks that a mission rejects what would undo merged work, and
// otherwise behaves like any session, with the Commander.
func testMissionOrders(b *testEnv) {
	id := b.start(pawl.MissionOrder{Goal: "go"}, `{"text":"Done."}`, `{"agent":"compaction","text":"So far."}`, `{"text":"Again."}`).ID
	b.idle(id)
	head := b.get(id).Head
	_, err := b.Fork(b.Context(), id, 0)
	b.code(pawl.CodeInvalid, err)
	_, err = b.Shell(b.Context(), id, "true")
	b.code(pawl.CodeInvalid, err)
	_, err = b.Preview(b.Context(), id, pawl.Undo{})
	b.code(pawl.CodeInvalid, err)
	_, err = b.Undo(b.Context(), id, pawl.Undo{})
	b.code(pawl.CodeInvalid, err)
	p := prompt("on", "", pawl.DeliverNow)
	p.Agent = "build"
	_, err = b.Send(b.Context(), id, p)
	b.code(pawl.CodeInvalid, err)
	check(b, head, b.get(id).Head)

	_, err = b.Compact(b.Context(), id, "")
	b.ok(err)
	b.until(id, 0, is[pawl.Compacted])
	p.Agent, p.MaxTime = "", time.Hour
	seq := b.send(id, p)
	b.idle(id)
	sent, ok := b.log(id)[seq-1].Body.(pawl.Prompted)
	if !ok || sent.Agent != missionapi.AgentCommander || sent.MaxTime != time.Hour {
		b.Errorf("sent %+v", sent)
	}
	check(b, pawl.MissionStopped, b.get(id).MissionState())
}

// testMissionTeam checks that the agents of a mission are not available to other
// sessions.
func testMissionTeam(b *testEnv) {
	model := b.script(`{"text":"Done."}`)
	id := b.create()
	sub, err := b.Create(b.Context(), pawl.NewSession{Dir: b.dir, Parent: id})
	b.ok(err)
	for agent, inSubagent := range map[string]bool{missionapi.AgentCommander: false, missionapi.AgentPlanner: true, missionapi.AgentWorker: true, missionapi.AgentReviewer: true} {
		p := prompt("go", model, pawl.DeliverQueue)
		p.Agent = agent
		_, err := b.Send(b.Context(), id, p)
		b.code(pawl.CodeInvalid, err)
		if _, err = b.Send(b.Context(), sub.ID, p); (err == nil) != inSubagent {
			b.Errorf("%s in a child: %v", agent, err)
		}
	}
	b.idle(sub.ID)
	check(b, pawl.StateIdle, b.get(id).State())
}

// testMissionBoard checks that the board shows the tasks of the log, none as running after the end, and, of the team,
// only sessions that exist below the mission's session, whatever the log names.
func testMissionBoard(b *testEnv) {
	const id, worker, unrelated, missing = "01JD00000000000000000000M0", "01JD00000000000000000000W1", "01JD00000000000000000000W2", "01JD00000000000000000000W3"
	criteria := pawl.Criteria{Base: "b0", Checks: []pawl.Check{{ID: "test", Kind: pawl.CheckTest, Args: []string{"/bin/true"}}}, Tools: map[string]string{"/bin/true": "sha256:x"}}
	task := func(id string) pawl.Task { return pawl.Task{ID: id, Title: "Do " + id} }
	start := func(task string, sub pawl.SessionID) pawl.Body {
		return pawl.TaskStarted{Task: task, Attempt: 1, Worker: sub, Base: "b0", From: "b0"}
	}
	row := b.storeLog(events(id,
		pawl.SessionCreated{Dir: b.dir}, pawl.MissionStarted{Order: pawl.MissionOrder{Goal: "go", Workers: 3}},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: "m"}}, pawl.TurnStarted{Prompt: 3},
		pawl.CriteriaSet{Criteria: criteria, Hash: criteria.Hash(), Branch: "pawl/x"},
		pawl.Planned{Plan: pawl.Plan{Tasks: []pawl.Task{task("one"), task("two"), task("three")}}, By: "commander"},
		pawl.Delegated{Tasks: []string{"one", "two", "three"}},
		start("one", worker), start("two", unrelated), start("three", missing),
		pawl.TaskMerged{Task: "one", Attempt: 1, Commit: "c1"},
		pawl.Blocked{Reason: "no more", By: "commander"},
		pawl.TurnFinished{Reason: pawl.ReasonEndTurn},
	))
	for sub, parent := range map[pawl.SessionID]pawl.SessionID{worker: id, unrelated: ""} {
		_, err := b.Create(b.Context(), pawl.NewSession{ID: sub, Dir: b.dir, Parent: parent})
		b.ok(err)
	}
	b.send(worker, prompt("go", b.script(`{"text":"Done.","usage":{"output":5}}`), pawl.DeliverNow))
	b.idle(worker)

	got := b.board(id)
	row.Usage = pawl.Usage{Output: 5} // its worker's
	check(b, row, got.Session)
	check(b, pawl.MissionBlocked, got.State)
	check(b, []pawl.Session{b.get(worker)}, got.Team)
	check(b, pawl.Usage{Output: 5}, got.Usage)
	check(b, &pawl.TurnFinished{Reason: pawl.ReasonEndTurn}, got.Ended)
	h, err := pawl.Fold(pawl.SliceLog(b.log(id)))
	b.ok(err)
	want := h.Mission()
	for i := range want.Tasks[1:] {
		want.Tasks[1+i].Phase = pawl.PhaseQueued // no worker is running any more
	}
	want.Tasks[0].Usage = pawl.Usage{Output: 5}
	check(b, *want, got.Mission, cmpopts.IgnoreFields(pawl.Mission{}, "News", "Team"), cmpopts.IgnoreFields(pawl.TaskState{}, "Workers")) // internal to Pawl
	var phases []pawl.TaskPhase
	for _, t := range got.Mission.Tasks {
		phases = append(phases, t.Phase)
	}
	check(b, []pawl.TaskPhase{pawl.PhaseMerged, pawl.PhaseQueued, pawl.PhaseQueued}, phases)
	check(b, "c1", got.Mission.Tip)
	if got.Mission.Blocked == nil || got.Mission.Blocked.Reason != "no more" {
		b.Errorf("blocked by %+v", got.Mission.Blocked)
	}
}

// testMissionApproval checks that the plan of a mission is approved only while the mission is idle and waits for it,
// with the plan that the caller gives, and that the log says who did it.
func testMissionApproval(b *testEnv) {
	const id = "01JD00000000000000000000M1"
	criteria := pawl.Criteria{Base: "b0", Checks: []pawl.Check{{ID: "test", Kind: pawl.CheckTest, Args: []string{"/bin/true"}}}, Tools: map[string]string{"/bin/true": "sha256:x"}}
	plan := pawl.Plan{Tasks: []pawl.Task{{ID: "one", Title: "Do one"}}}
	model := b.script(`{"text":"I start.","delay_ms":100}`, `{"text":"I start."}`)
	b.storeLog(events(id,
		pawl.SessionCreated{Dir: b.dir}, pawl.MissionStarted{Order: pawl.MissionOrder{Goal: "go", Workers: 1, ApprovePlan: true}},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: model}}, pawl.TurnStarted{Prompt: 3},
		pawl.CriteriaSet{Criteria: criteria, Hash: criteria.Hash(), Branch: "pawl/x"},
		pawl.Planned{Plan: plan, By: "commander"},
		pawl.Blocked{Reason: "the plan waits for approval: 1 task", By: "pawl", State: pawl.MissionPlanned},
		pawl.TurnFinished{Reason: pawl.ReasonEndTurn},
	))
	check(b, pawl.MissionPlanned, b.board(id).State)
	approve := func(id pawl.SessionID, d pawl.Delivery, plan pawl.Plan) error {
		p := prompt("The plan is approved.", model, d)
		p.Approve = &plan
		_, err := b.Send(b.Context(), id, p)
		return err
	}
	b.code(pawl.CodeInvalid, approve(id, pawl.DeliverNow, pawl.Plan{}))
	b.code(pawl.CodeBusy, approve(id, pawl.DeliverQueue, plan))
	b.code(pawl.CodeBusy, approve(id, pawl.DeliverSteer, plan))
	b.code(pawl.CodeInvalid, approve(b.create(), pawl.DeliverNow, plan))
	other := b.start(pawl.MissionOrder{Goal: "go"}, `{"text":"Done."}`).ID
	b.idle(other)
	b.code(pawl.CodeInvalid, approve(other, pawl.DeliverNow, plan))
	pause := prompt("Pause.", model, pawl.DeliverSteer)
	pause.Pause = true
	_, err := b.Send(b.Context(), id, pause) // it does not run
	b.code(pawl.CodeInvalid, err)
	check(b, pawl.Seq(8), b.get(id).Head)
	waiting := b.board(id).Mission
	check(b, 1, len(waiting.Unapproved()))

	b.ok(approve(id, pawl.DeliverNow, plan))
	b.idle(id)
	got := b.board(id)
	check(b, plan.Hash(), got.Mission.Approved)
	check(b, 0, len(got.Mission.Unapproved()))
	check(b, pawl.MissionStopped, got.State)
}

// events returns a log of these bodies.
func events(id pawl.SessionID, bodies ...pawl.Body) (log []pawl.Event) {
	for i, body := range bodies {
		log = append(log, pawl.Event{Session: id, Seq: pawl.Seq(i + 1), At: time.Date(2026, 3, 1, 6, 0, i, 0, time.UTC), Body: body})
	}
	return log
}
