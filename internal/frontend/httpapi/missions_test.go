package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

func init() {
	for name, show := range missionRoutes {
		routes[name] = show
	}
}

// missionRoutes show the routes of missions at work.
var missionRoutes = map[string]func(b *testServer){
	"streamMission": func(b *testServer) {
		id := b.planned("")
		s := b.openPath(missionPath(id, "stream"), nil)
		if first := s.board(); first.State != pawl.MissionPlanned || len(first.Mission.Tasks) != 1 {
			b.Errorf("it begins with %+v", first)
		}
		b.ask(202, "POST", missionPath(id, "approve"), fmt.Sprintf(`{"hash":%q}`, b.plan(id).Hash), new(api.Accepted))
		for s.board().Mission.Approved == "" { // the stream ends the test if it does not come
		}
		b.refused(404, pawl.CodeNotFound, "GET", nobody+"/mission/stream", "")
		b.refused(400, pawl.CodeInvalid, "GET", "/v1/sessions/"+string(b.create())+"/mission/stream", "")
	},
	"getMissionReport": func(b *testServer) {
		id := b.planned("")
		board, err := b.svc.Mission(b.Context(), id)
		if err != nil {
			b.Fatal(err)
		}
		report, err := mission.ReportOf(b.Context(), b.svc, board)
		if err != nil {
			b.Fatal(err)
		}
		for format, form := range api.ReportFormats {
			want, err := report.Format(format)
			if err != nil {
				b.Fatal(err)
			}
			got := b.send(request{method: "GET", path: missionPath(id, "report?format="+format)})
			if diff := cmp.Diff(string(want), got.text); got.status != 200 || diff != "" {
				b.Errorf("%s: %d %s", format, got.status, diff)
			}
			if kind := got.header.Get("Content-Type"); !strings.HasPrefix(kind, string(form)) {
				b.Errorf("%s is %s", format, kind)
			}
		}
		if got := b.send(request{method: "GET", path: missionPath(id, "report")}); got.header.Get("Content-Type") != "application/json" {
			b.Errorf("the default is %s", got.header.Get("Content-Type"))
		}
		b.refused(400, pawl.CodeInvalid, "GET", missionPath(id, "report?format=pdf"), "")
		b.refused(404, pawl.CodeNotFound, "GET", nobody+"/mission/report", "")
	},
	"getMissionGate": func(b *testServer) {
		var g api.MissionGate
		b.ask(200, "GET", missionPath(b.planned(""), "gate"), "", &g)
		if len(g.Base) != 1 || len(g.Rounds) != 1 || len(g.Rounds[0].Checks) != 1 || len(g.Rounds[0].Reviews) != 1 || g.Rounds[0].Result == nil {
			b.Errorf("got %+v", g)
		}
		if g.Chain.Links != 2 || g.Chain.Fault != "" {
			b.Errorf("the chain is %+v", g.Chain)
		}
		b.refused(404, pawl.CodeNotFound, "GET", nobody+"/mission/gate", "")
	},
	"getMissionPlan": func(b *testServer) {
		p := b.plan(b.planned(""))
		if len(p.Tasks) != 1 || p.Approved || p.Edited || len(p.Checks) != 1 || p.State != pawl.MissionPlanned {
			b.Errorf("got %+v", p)
		}
		b.refused(404, pawl.CodeNotFound, "GET", nobody+"/mission/plan", "")
	},
	"setMissionPlan": func(b *testServer) {
		id := b.planned("")
		p, path := b.plan(id), missionPath(id, "plan")
		edit := func(hash, tasks string) string { return fmt.Sprintf(`{"hash":%q,"tasks":[%s]}`, hash, tasks) }
		b.refused(409, pawl.CodeConflict, "PUT", path, edit("sha256:x", `{"id":"T1","title":"Other"}`))
		for _, tasks := range []string{``, `{"id":"T1","title":""}`, `{"id":"T1","title":"a\nb"}`, `{"id":"T1","title":"a","accept":["a\n- [ ] **T9**: b"]}`} {
			b.refused(400, pawl.CodeInvalid, "PUT", path, edit(p.Hash, tasks))
		}
		var got api.MissionPlan
		b.ask(200, "PUT", path, edit(p.Hash, `{"id":"T1","title":"Do it well"},{"id":"T2","title":"And more","after":["T1"]}`), &got)
		if !got.Edited || got.Approved || len(got.Tasks) != 2 || got.Hash == p.Hash {
			b.Errorf("got %+v", got)
		}
		if edited, err := mission.EditedPlan(b.dir, id); err != nil || edited.Hash() != got.Hash {
			b.Errorf("the file has %+v: %v", edited, err)
		}
		b.refused(409, pawl.CodeConflict, "PUT", path, edit(p.Hash, `{"id":"T1","title":"Lost update"}`))
		b.refused(404, pawl.CodeNotFound, "PUT", nobody+"/mission/plan", edit("x", ""))
	},
	"approveMission": func(b *testServer) {
		id := b.planned("")
		path := missionPath(id, "approve")
		b.refused(400, pawl.CodeInvalid, "POST", path, `{"hash":""}`)
		b.refused(409, pawl.CodeConflict, "POST", path, `{"hash":"sha256:x"}`)
		var a api.Accepted
		hash := b.plan(id).Hash
		b.ask(202, "POST", path, fmt.Sprintf(`{"hash":%q}`, hash), &a)
		e := b.until(id, func(e pawl.Event) bool { return e.Seq == a.Seq })
		if p, ok := e.Body.(pawl.Prompted); !ok || p.Approve == nil || p.Approve.Hash() != hash || p.Mode != "guard" {
			b.Errorf("the log has %+v", e.Body)
		}
		b.until(id, func(e pawl.Event) bool { return e.Seq > a.Seq && is[pawl.TurnFinished](e) })
		b.refused(400, pawl.CodeInvalid, "POST", path, fmt.Sprintf(`{"hash":%q}`, hash))
		b.refused(404, pawl.CodeNotFound, "POST", nobody+"/mission/approve", `{"hash":"x"}`)
	},
	"pauseMission": func(b *testServer) {
		id := b.mission()
		b.ask(204, "POST", missionPath(id, "pause"), "", nil)
		b.ask(204, "POST", missionPath(id, "pause"), "", nil) // it is already pausing
		paused := 0
		for _, e := range b.events(id) {
			if p, ok := e.Body.(pawl.Prompted); ok && p.Pause {
				paused++
			}
		}
		if paused != 1 {
			b.Errorf("%d prompts pause it", paused)
		}
		b.ask(204, "POST", missionPath(id, "stop"), "", nil)
		wait.Until(b.T, "the end of the canceled prompts", func() bool {
			s, err := b.svc.Get(b.Context(), id)
			return err == nil && s.State() == pawl.StateIdle
		})
		b.refused(409, pawl.CodeConflict, "POST", missionPath(id, "pause"), "")
		b.refused(404, pawl.CodeNotFound, "POST", nobody+"/mission/pause", "")
	},
	"stopMission": func(b *testServer) {
		id := b.mission()
		b.ask(204, "POST", missionPath(id, "stop"), "", nil)
		e := b.until(id, is[pawl.TurnFinished])
		if f, ok := e.Body.(pawl.TurnFinished); !ok || f.Reason != pawl.ReasonCanceled {
			b.Errorf("it ended as %+v", e.Body)
		}
		b.ask(204, "POST", missionPath(id, "stop"), "", nil)
		b.refused(404, pawl.CodeNotFound, "POST", nobody+"/mission/stop", "")
	},
	"resumeMission": func(b *testServer) {
		id := b.planned("")
		before := len(b.events(id))
		b.ask(204, "POST", missionPath(id, "resume"), `{"text":"the key is there"}`, nil)
		e := b.until(id, func(e pawl.Event) bool { return int(e.Seq) == before+1 })
		if p, ok := e.Body.(pawl.Prompted); !ok || p.Parts.Text() != "the key is there" || p.Mode != "guard" || p.Approve != nil {
			b.Errorf("the log has %+v", e.Body)
		}
		b.refused(404, pawl.CodeNotFound, "POST", nobody+"/mission/resume", `{}`)
	},
}

func missionPath(id pawl.SessionID, rest string) string {
	return "/v1/sessions/" + string(id) + "/mission/" + rest
}

// planned makes a mission whose plan waits for approval.
func (b *testServer) planned(hostile string) pawl.SessionID {
	b.Helper()
	return servicetest.PlannedMission(b.T, b.store, b.dir, b.script(`{"text":"Done."}`), hostile)
}

// mission starts one whose Commander does not end its reply.
func (b *testServer) mission() pawl.SessionID {
	b.Helper()
	var s pawl.Session
	b.ask(201, "POST", "/v1/missions", fmt.Sprintf(`{"dir":%q,"order":{"goal":"Be done."},"settings":{"model":%q}}`, b.dir, b.script(`{"fault":"hang","text":"x"}`)), &s)
	b.until(s.ID, is[pawl.ReplyStarted])
	return s.ID
}

func (b *testServer) plan(id pawl.SessionID) (p api.MissionPlan) {
	b.Helper()
	b.ask(200, "GET", missionPath(id, "plan"), "", &p)
	return p
}

// events returns the log of a session.
func (b *testServer) events(id pawl.SessionID) (events []pawl.Event) {
	b.Helper()
	for line := range strings.Lines(b.send(request{method: "GET", path: "/v1/sessions/" + string(id) + "/log"}).text) {
		var e pawl.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			b.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// board returns the next board of a stream.
func (s *eventStream) board() (board pawl.Board) {
	s.b.Helper()
	for {
		fields, ok := s.block()
		if !ok {
			s.b.Fatal("the stream ended")
		}
		if text := fields["data"]; text != "" {
			if err := json.Unmarshal([]byte(text), &board); err != nil {
				s.b.Fatal(err)
			}
			return board
		}
	}
}

// TestOnlyApproversApprove checks that a token that may run and edit a mission cannot approve its plan by any route.
func TestOnlyApproversApprove(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	id := servicetest.PlannedMission(t, b.store, b.dir, strings.Replace(b.script(`{"text":"Done."}`), "script:", servicetest.TestModel, 1), "")
	p := b.plan(id)
	body := fmt.Sprintf(`{"hash":%q}`, p.Hash)
	tasks, err := json.Marshal(pawl.Plan{Tasks: p.Tasks})
	if err != nil {
		t.Fatal(err)
	}
	b.refuses(403, pawl.CodeDenied, request{method: "POST", path: missionPath(id, "approve"), token: "run", body: body})
	b.refuses(403, pawl.CodeDenied, request{method: "POST", path: "/v1/sessions/" + string(id) + "/prompts", token: "run", body: fmt.Sprintf(`{"parts":[{"type":"text","text":"x"}],"approve":%s}`, tasks)})
	q := request{method: "PUT", path: missionPath(id, "plan"), token: "run", body: fmt.Sprintf(`{"hash":%q,"tasks":[{"id":"T1","title":"Other"}]}`, p.Hash)}
	if got := b.send(q); got.status != 200 {
		t.Errorf("an edit: %+v", got)
	}
	if p = b.plan(id); p.Approved || !p.Edited {
		t.Errorf("after the edit the plan is %+v", p)
	}
	b.refuses(409, pawl.CodeConflict, request{method: "POST", path: missionPath(id, "approve"), token: "approve", body: body}) // not the plan that was seen
	if got := b.send(request{method: "POST", path: missionPath(id, "approve"), token: "approve", body: fmt.Sprintf(`{"hash":%q}`, p.Hash)}); got.status != 202 {
		t.Errorf("the approval: %+v", got)
	}
	b.until(id, func(e pawl.Event) bool { return e.Seq > 14 && is[pawl.TurnFinished](e) })
}

// TestReadersDoNotEditPlans checks that a user with whom a mission is shared can read its plan and not change it.
func TestReadersDoNotEditPlans(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil, func(c *httpapi.Config) {
		c.Auth = func(r *http.Request) (api.Principal, error) {
			user, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			return api.Principal{User: pawl.User(strings.TrimPrefix(user, "admin")), Token: "t", Scope: api.ScopeRun}, nil
		}
	})
	id := b.planned("")
	if err := b.svc.Share(t.Context(), id, []pawl.User{"eve"}); err != nil {
		t.Fatal(err)
	}
	var p api.MissionPlan
	got := b.send(request{method: "GET", path: missionPath(id, "plan"), token: "eve"})
	if err := json.Unmarshal([]byte(got.text), &p); err != nil || got.status != 200 {
		t.Fatalf("%+v: %v", got, err)
	}
	b.refuses(403, pawl.CodeDenied, request{method: "PUT", path: missionPath(id, "plan"), token: "eve", body: fmt.Sprintf(`{"hash":%q,"tasks":[{"id":"T1","title":"Mine"}]}`, p.Hash)})
	for _, action := range []string{"pause", "stop"} {
		if got := b.send(request{method: "POST", path: missionPath(id, action), token: "mallory"}); got.status != 404 {
			t.Errorf("%s by a stranger: %+v", action, got)
		}
	}
	if _, err := os.Stat(filepath.Join(b.dir, ".pawl")); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
}

// TestReportsRunNothing checks that a report has a policy under which a browser runs nothing, and no markup of its texts.
func TestReportsRunNothing(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	id := b.planned(`<script>alert(1)</script><img src=x onerror=alert(1)>`)
	got := b.send(request{method: "GET", path: missionPath(id, "report?format=html")})
	if got.status != 200 || strings.Contains(got.text, "<script") || strings.Contains(got.text, "<img") || !strings.Contains(got.text, "&lt;script&gt;") {
		t.Errorf("the page is %d %s", got.status, got.text)
	}
	policy := got.header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "sandbox", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q lacks %s", policy, want)
		}
	}
	for _, never := range []string{"script-src", "allow-"} {
		if strings.Contains(policy, never) {
			t.Errorf("the policy %q has %s", policy, never)
		}
	}
	if got.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Error("a browser may guess the type")
	}
}
