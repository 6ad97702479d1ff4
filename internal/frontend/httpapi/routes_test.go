package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/test/wait"
	"github.com/pawl-dev/pawl/internal/transcript"
)

const nobody = "/v1/sessions/01JD0000000000000000000000"

// routes show each route at work, and its main error.
var routes = map[string]func(b *testServer){
	"createSession": func(b *testServer) {
		var s pawl.Session
		b.ask(201, "POST", "/v1/sessions", fmt.Sprintf(`{"id":"01JD0000000000000000000009","dir":%q,"title":"<b> & more"}`, b.dir), &s)
		if s.ID != "01JD0000000000000000000009" || s.Dir != b.dir || s.Title != "<b> & more" {
			b.Errorf("made %+v", s)
		}
		b.refused(409, pawl.CodeConflict, "POST", "/v1/sessions", fmt.Sprintf(`{"id":%q,"dir":%q}`, s.ID, b.dir))
	},
	"listSessions": func(b *testServer) {
		var none, all pawl.SessionPage
		if got := b.send(request{method: "GET", path: "/v1/sessions"}); strings.TrimSpace(got.text) != `{"sessions":[]}` {
			b.Errorf("none are %s", got.text)
		}
		id := b.create()
		b.ask(200, "GET", "/v1/sessions?dir="+b.dir+"&limit=1&unfinished=false&before=2100-01-02T15:04:05Z", "", &all)
		b.ask(200, "GET", "/v1/sessions?dir=/nowhere", "", &none)
		if len(all.Sessions) != 1 || all.Sessions[0].ID != id || len(none.Sessions) != 0 {
			b.Errorf("all are %+v, of nowhere %+v", all, none)
		}
		b.refused(400, pawl.CodeInvalid, "GET", "/v1/sessions?limit=-1", "")
		b.refused(400, pawl.CodeInvalid, "GET", "/v1/sessions?state=busy", "")

		var found pawl.SessionPage
		if err := b.svc.Rename(b.Context(), id, "look for the <needle>"); err != nil {
			b.Fatal(err)
		}
		b.ask(200, "GET", "/v1/sessions?search=%22the+needle%22", "", &found)
		if want := (&pawl.Match{Seq: 2, Snippet: []pawl.Snippet{{Text: "look for "}, {Text: "the <needle", Match: true}, {Text: ">"}}}); len(found.Sessions) != 1 || !reflect.DeepEqual(found.Sessions[0].Match, want) {
			b.Errorf("found %+v", found)
		}
		b.refused(400, pawl.CodeInvalid, "GET", "/v1/sessions?search=%22", "")

		older, first, second := id, pawl.SessionPage{}, pawl.SessionPage{}
		newer := b.create()
		b.ask(200, "GET", "/v1/sessions?state=idle&limit=1", "", &first)
		if err := b.svc.Rename(b.Context(), older, "moved to the top"); err != nil {
			b.Fatal(err)
		}
		b.ask(200, "GET", "/v1/sessions?state=idle&limit=5&cursor="+first.Next, "", &second)
		if len(first.Sessions) != 1 || first.Sessions[0].ID != newer || len(second.Sessions) != 1 || second.Sessions[0].ID != older || second.Next != "" {
			b.Errorf("pages are %+v and %+v", first, second)
		}
		for _, query := range []string{"?state=idle&cursor=" + first.Next[1:], "?cursor=" + first.Next, "?state=queued&cursor=" + first.Next, "?cursor=%00"} {
			b.refused(400, pawl.CodeInvalid, "GET", "/v1/sessions"+query, "")
		}
	},
	"importSession": func(b *testServer) {
		id := b.create()
		log := b.send(request{method: "GET", path: "/v1/sessions/" + string(id) + "/log"}).text
		q := request{method: "POST", path: "/v1/sessions/import?dir=" + b.dir, body: log, header: map[string]string{"Content-Type": "application/x-ndjson"}}
		b.refuses(409, pawl.CodeConflict, q)
		if err := b.svc.Delete(b.Context(), id); err != nil {
			b.Fatal(err)
		}
		if got := b.send(q); got.status != 201 || !strings.Contains(got.text, string(id)) {
			b.Errorf("import: %d %s", got.status, got.text)
		}
		q.body = log + "{\"seq\":2}\n"
		b.refuses(400, pawl.CodeInvalid, q)
		for _, query := range []string{"", "?dir=relative", "?id=x&dir=" + b.dir, "?workspace=x", "?owner=ada&dir=" + b.dir} {
			q.path, q.body = "/v1/sessions/import"+query, log
			b.refuses(400, pawl.CodeInvalid, q)
		}
	},
	"getSession": func(b *testServer) {
		var s pawl.Session
		id := b.create()
		b.ask(200, "GET", "/v1/sessions/"+string(id), "", &s)
		want, err := b.svc.Get(b.Context(), id)
		if diff := cmp.Diff(want, s); diff != "" || err != nil {
			b.Errorf("%v %s", err, diff)
		}
		b.refused(404, pawl.CodeNotFound, "GET", nobody, "")
	},
	"renameSession": func(b *testServer) {
		id := b.create()
		b.ask(204, "PATCH", "/v1/sessions/"+string(id), `{"title":"new"}`, nil)
		if s, err := b.svc.Get(b.Context(), id); err != nil || s.Title != "new" {
			b.Errorf("%+v, %v", s, err)
		}
		b.refused(404, pawl.CodeNotFound, "PATCH", nobody, `{"title":"new"}`)
	},
	"shareSession": func(b *testServer) {
		id := b.create()
		b.ask(204, "PUT", "/v1/sessions/"+string(id)+"/shared", `{"with":["ada"]}`, nil)
		if s, err := b.svc.Get(b.Context(), id); err != nil || !cmp.Equal(s.Shared, []pawl.User{"ada"}) {
			b.Errorf("%+v, %v", s, err)
		}
		b.refused(404, pawl.CodeNotFound, "PUT", nobody+"/shared", `{"with":[]}`)
	},
	"getProject": func(b *testServer) {
		var f pawl.Project
		b.ask(200, "GET", "/v1/project?dir="+b.dir, "", &f)
		if f.Trust.State != "unknown" || len(f.Modes) == 0 {
			b.Errorf("found %+v", f)
		}
		b.refused(400, pawl.CodeInvalid, "GET", "/v1/project?dir=sub", "")
	},
	"trustProject": func(b *testServer) {
		var f pawl.Project
		b.ask(200, "GET", "/v1/project?dir="+b.dir, "", &f)
		b.ask(204, "POST", "/v1/project/trust", fmt.Sprintf(`{"dir":%q,"hash":%q}`, b.dir, f.Trust.Hash), nil)
		b.ask(200, "GET", "/v1/project?dir="+b.dir, "", &f)
		if f.Trust.State != "trusted" {
			b.Errorf("found %+v", f)
		}
		b.refused(409, pawl.CodeConflict, "POST", "/v1/project/trust", fmt.Sprintf(`{"dir":%q,"hash":"another"}`, b.dir))
	},
	"findFiles": func(b *testServer) {
		if err := os.WriteFile(filepath.Join(b.dir, "main.go"), []byte("package main"), 0o600); err != nil {
			b.Fatal(err)
		}
		var f api.Files
		b.ask(200, "GET", "/v1/files?dir="+b.dir+"&query=mgo&limit=5", "", &f)
		if !cmp.Equal(f.Files, []string{"main.go"}) {
			b.Errorf("found %v", f)
		}
		b.refused(400, pawl.CodeInvalid, "GET", "/v1/files?dir="+b.dir+"&limit=x", "")
	},
	"expandPrompt": func(b *testServer) {
		var x api.Expanded
		b.ask(200, "POST", "/v1/expand", fmt.Sprintf(`{"dir":%q,"prompt":{"parts":[{"type":"text","text":"hello"}]}}`, b.dir), &x)
		if x.Prompt.Parts.Text() != "hello" {
			b.Errorf("got %+v", x)
		}
		b.refused(400, pawl.CodeInvalid, "POST", "/v1/expand", fmt.Sprintf(`{"dir":%q,"prompt":{"parts":[{"type":"text","text":"/nothing"}]}}`, b.dir))
	},
	"listModels": func(b *testServer) {
		var m api.Models
		b.ask(200, "GET", "/v1/models", "", &m)
		if len(m.Models) != 1 || m.Models[0].Ref != "p/m" {
			b.Errorf("got %+v", m)
		}
		b.refused(400, pawl.CodeInvalid, "GET", "/v1/models?x=y", "")
	},
	"createLink":           deviceRoutes,
	"createPasskeyOptions": deviceRoutes,
	"createPasskey":        deviceRoutes,
	"listDevices":          deviceRoutes,
	"revokeDevice":         deviceRoutes,
	"getOutput": func(b *testServer) {
		id := b.create()
		blob, err := b.store.PutBlob(b.Context(), id, strings.NewReader("<script>"))
		if err != nil {
			b.Fatal(err)
		}
		got := b.send(request{method: "GET", path: "/v1/sessions/" + string(id) + "/outputs/" + blob.ID})
		if got.status != 200 || got.text != "<script>" || got.header.Get("Content-Type") != "application/octet-stream" {
			b.Errorf("got %+v", got)
		}
		if policy := got.header.Get("Content-Security-Policy"); policy != "default-src 'none'; frame-ancestors 'none'; sandbox" || got.header.Get("Content-Disposition") != "attachment" {
			b.Errorf("a browser may show it: %v", got.header)
		}
		b.refused(404, pawl.CodeNotFound, "GET", "/v1/sessions/"+string(id)+"/outputs/none", "")
	},
	"deleteSession": func(b *testServer) {
		path := "/v1/sessions/" + string(b.create())
		b.ask(204, "DELETE", path, "", nil)
		b.refused(404, pawl.CodeNotFound, "DELETE", path, "")
	},
	"streamEvents": func(b *testServer) {
		if e := b.open(b.create(), "", nil).next(); e.Seq != 1 || !is[pawl.SessionCreated](e) {
			b.Errorf("the first event is %+v", e)
		}
		b.refused(404, pawl.CodeNotFound, "GET", nobody+"/events", "")
	},
	"exportSession": func(b *testServer) {
		id := b.create()
		b.ask(202, "POST", "/v1/sessions/"+string(id)+"/prompts", prompt(b.script(`{"text":"Done."}`), ""), new(api.Accepted))
		b.finished(id)
		head, err := b.svc.Get(b.Context(), id)
		if err != nil {
			b.Fatal(err)
		}
		for after := range head.Head + 2 {
			got := b.send(request{method: "GET", path: fmt.Sprintf("/v1/sessions/%s/log?after=%d", id, after)})
			want := after
			for line := range strings.Lines(got.text) {
				var e pawl.Event
				if err := json.Unmarshal([]byte(line), &e); err != nil {
					b.Fatal(err)
				}
				if want++; e.Seq != want {
					b.Errorf("event %d, want %d", e.Seq, want)
				}
			}
			if got.status != http.StatusOK || want < head.Head || got.header.Get("Content-Type") != "application/x-ndjson" {
				b.Errorf("after %d: %d, up to %d of %d", after, got.status, want, head.Head)
			}
		}
		b.refused(404, pawl.CodeNotFound, "GET", nobody+"/log", "")
	},
	"listItems": func(b *testServer) {
		id := b.create()
		path := "/v1/sessions/" + string(id)
		b.ask(202, "POST", path+"/prompts", prompt(b.script(`{"reasoning":"hm","text":"done"}`), ""), new(api.Accepted))
		b.finished(id)
		var all, last, rest api.Items
		b.ask(200, "GET", path+"/items", "", &all)
		var kinds []transcript.Kind
		for _, it := range all.Items {
			kinds = append(kinds, it.Kind)
		}
		if diff := cmp.Diff([]transcript.Kind{"user", "reasoning", "text", "turn_end"}, kinds); diff != "" || all.More {
			b.Fatalf("more: %v, %s", all.More, diff)
		}
		b.ask(200, "GET", path+"/items?limit=3", "", &last)
		b.ask(200, "GET", path+"/items?before="+last.Items[0].ID, "", &rest)
		if diff := cmp.Diff(all.Items, append(rest.Items, last.Items...)); diff != "" || !last.More || rest.More {
			b.Errorf("more: %v and %v, %s", last.More, rest.More, diff)
		}
		b.refused(404, pawl.CodeNotFound, "GET", path+"/items?before=none", "")
		b.refused(400, pawl.CodeInvalid, "GET", path+"/items?limit=0", "")
		b.refused(404, pawl.CodeNotFound, "GET", nobody+"/items", "")
	},
	"getItem": func(b *testServer) {
		id := b.create()
		path := "/v1/sessions/" + string(id)
		text := strings.Repeat("long ", 10_000)
		b.ask(202, "POST", path+"/prompts", prompt(b.script(`{"text":"`+text+`"}`), ""), new(api.Accepted))
		b.finished(id)
		var last api.Items
		b.ask(200, "GET", path+"/items?limit=2", "", &last)
		var it transcript.Item
		b.ask(200, "GET", path+"/items/"+last.Items[0].ID, "", &it)
		if it.Cut || it.Text != text || !last.Items[0].Cut || len(last.Items[0].Text) >= len(text) {
			b.Errorf("the item has %d bytes, that of the page %d", len(it.Text), len(last.Items[0].Text))
		}
		b.refused(404, pawl.CodeNotFound, "GET", path+"/items/none", "")
		b.refused(404, pawl.CodeNotFound, "GET", nobody+"/items/none", "")
	},
	"streamItems": func(b *testServer) {
		id := b.create()
		path := "/v1/sessions/" + string(id) + "/items/stream"
		b.ask(202, "POST", "/v1/sessions/"+string(id)+"/prompts", prompt(b.script(`{"text":"done"}`), ""), new(api.Accepted))
		b.finished(id)
		var c api.ItemChange
		last, _ := b.stream(path+"?limit=2", "", "").message(&c)
		if len(c.Items) != 2 || !c.Reset || !c.More || c.Items[1].Kind != transcript.KindTurnEnd {
			b.Errorf("it begins with %+v", c)
		}
		c = api.ItemChange{}
		if _, ok := b.stream(path, "", last).message(&c); !ok || !cmp.Equal(c, api.ItemChange{}) {
			b.Errorf("a client that has everything gets %+v", c)
		}
		b.refused(400, pawl.CodeInvalid, "GET", path+"?after=x", "")
		b.refused(404, pawl.CodeNotFound, "GET", nobody+"/items/stream", "")
	},
	"streamFeed": func(b *testServer) {
		id := b.create()
		var c api.FeedChange
		b.stream("/v1/events", "", "").message(&c)
		if !c.Reset || len(c.Sessions) != 1 || c.Sessions[0].ID != id {
			b.Errorf("it begins with %+v", c)
		}
	},
	"listAsks": func(b *testServer) {
		var list api.Asks
		b.ask(200, "GET", "/v1/asks", "", &list)
		if len(list.Asks) != 0 {
			b.Errorf("there are asks: %+v", list)
		}
	},
	"getInfo": func(b *testServer) {
		var got api.Info
		b.ask(200, "GET", "/v1/info", "", &got)
		if got != (api.Info{Version: "1.2.3", Scope: api.ScopeAdmin}) {
			b.Errorf("got %+v", got)
		}
	},
	"getDraft": func(b *testServer) {
		id := b.create()
		b.refused(404, pawl.CodeNotFound, "GET", "/v1/sessions/"+string(id)+"/draft", "")
		b.ask(202, "POST", "/v1/sessions/"+string(id)+"/prompts", prompt(b.script(`{"reasoning":"hm","text":"half and half","delay_ms":300,"fault":"hang"}`), ""), new(api.Accepted))
		wait.Until(b.T, "a draft, which is saved now and then", func() bool {
			return strings.Contains(b.send(request{method: "GET", path: "/v1/sessions/" + string(id) + "/draft"}).text, "half")
		})
		b.ask(204, "POST", "/v1/sessions/"+string(id)+"/cancel", "", nil)
		b.finished(id)
	},
	"sendPrompt": func(b *testServer) {
		path := "/v1/sessions/" + string(b.create()) + "/prompts"
		var a api.Accepted
		b.ask(202, "POST", path, prompt(b.script(waits("go"), `{"text":"Done."}`), ""), &a)
		if a.Seq != 2 {
			b.Errorf("accepted as %d", a.Seq)
		}
		b.refused(423, pawl.CodeBusy, "POST", path, prompt("", ""))
		b.refused(400, pawl.CodeInvalid, "POST", path, `{"parts":[]}`)
		b.refused(404, pawl.CodeNotFound, "POST", nobody+"/prompts", prompt("", ""))
		b.release("go")
	},
	"listPrompts":    waiting,
	"rewordPrompt":   waiting,
	"withdrawPrompt": waiting,
	"answer": func(b *testServer) {
		id := b.create()
		s := "/v1/sessions/" + string(id)
		model := b.script(`{"calls":[{"name":"bash","input":{"command":"touch a"}}]}`, `{"text":"Done."}`)
		b.ask(202, "POST", s+"/prompts", prompt(model, `,"mode":"ask"`), new(api.Accepted))
		ask := b.until(id, is[pawl.Asked]).Seq
		b.refused(404, pawl.CodeNotFound, "POST", s+"/asks/1/answer", `{"outcome":"answered"}`)
		b.refused(400, pawl.CodeInvalid, "POST", s+"/asks/x/answer", `{"outcome":"answered"}`)
		b.refused(400, pawl.CodeInvalid, "POST", fmt.Sprintf("%s/asks/%d/answer", s, ask), `{"outcome":"timeout"}`)
		b.ask(204, "POST", fmt.Sprintf("%s/asks/%d/answer", s, ask), `{"outcome":"answered"}`, nil)
		b.finished(id)
		b.refused(409, pawl.CodeConflict, "POST", fmt.Sprintf("%s/asks/%d/answer", s, ask), `{"outcome":"answered"}`)
		if _, err := os.Stat(filepath.Join(b.dir, "a")); err != nil {
			b.Error(err)
		}
	},
	"cancelSession": func(b *testServer) {
		id := b.create()
		b.ask(202, "POST", "/v1/sessions/"+string(id)+"/prompts", prompt(b.script(waits("never")), ""), new(api.Accepted))
		b.until(id, is[pawl.CallStarted])
		b.ask(204, "POST", "/v1/sessions/"+string(id)+"/cancel", "", nil)
		e := b.until(id, is[pawl.TurnFinished])
		if f, ok := e.Body.(pawl.TurnFinished); !ok || f.Reason != pawl.ReasonCanceled {
			b.Errorf("it ended as %+v", e.Body)
		}
		b.refused(404, pawl.CodeNotFound, "POST", nobody+"/cancel", "")
	},
	"resumeSession": func(b *testServer) {
		b.ask(204, "POST", "/v1/sessions/"+string(b.create())+"/resume", "", nil)
		b.refused(404, pawl.CodeNotFound, "POST", nobody+"/resume", "")
	},
	"compactSession": func(b *testServer) {
		id := b.create()
		s := "/v1/sessions/" + string(id)
		b.ask(202, "POST", s+"/prompts", prompt(b.script(`{"text":"Done."}`, `{"agent":"compaction","text":"It is done."}`), ""), new(api.Accepted))
		b.finished(id)
		var a api.Accepted
		b.ask(202, "POST", s+"/compact", `{"instructions":"be short"}`, &a)
		if e := b.until(id, func(e pawl.Event) bool { return e.Seq == a.Seq }); !is[pawl.CompactionAsked](e) {
			b.Errorf("%d is %+v", a.Seq, e)
		}
		b.refused(404, pawl.CodeNotFound, "POST", nobody+"/compact", `{}`)
	},
	"runCommand": func(b *testServer) {
		id := b.create()
		s := "/v1/sessions/" + string(id)
		var a api.Accepted
		b.ask(202, "POST", s+"/shell", `{"command":"echo hello"}`, &a)
		e := b.until(id, is[pawl.ShellRan])
		if r, ok := e.Body.(pawl.ShellRan); !ok || r.Asked != a.Seq || r.Result.Content != "hello\n" {
			b.Errorf("it ended as %+v", e.Body)
		}
		b.refused(400, pawl.CodeInvalid, "POST", s+"/shell", `{"command":" "}`)
		b.refused(404, pawl.CodeNotFound, "POST", nobody+"/shell", `{"command":"true"}`)
	},
	"getDiff": diffRoute,
	"listDirectory": func(b *testServer) {
		path := b.worked("text")
		var l api.Listing
		b.ask(200, "GET", path+"/files", "", &l)
		if diff := cmp.Diff(api.Listing{Entries: []pawl.FileInfo{{Name: "a", Type: "file", Size: 4}}}, l); diff != "" {
			b.Error(diff)
		}
		b.refused(404, pawl.CodeNotFound, "GET", path+"/files?path=none", "")
		b.refused(400, pawl.CodeInvalid, "GET", path+"/files?path=..", "")
		b.refused(404, pawl.CodeNotFound, "GET", nobody+"/files", "")
	},
	"readFile":    readRoute,
	"previewUndo": undo,
	"undoSession": undo,
	"forkSession": func(b *testServer) {
		id := b.create()
		var s pawl.Session
		b.ask(201, "POST", "/v1/sessions/"+string(id)+"/fork", `{}`, &s)
		if s.ID == id || s.Dir != b.dir {
			b.Errorf("the fork is %+v", s)
		}
		b.refused(404, pawl.CodeNotFound, "POST", nobody+"/fork", `{}`)
	},
	"startMission": func(b *testServer) {
		var s pawl.Session
		order := fmt.Sprintf(`{"id":"01JD0000000000000000000009","dir":%q,"order":{"goal":"Be done."},"settings":{"model":%q}}`, b.dir, b.script(`{"text":"Done."}`))
		b.ask(201, "POST", "/v1/missions", order, &s)
		if s.ID != "01JD0000000000000000000009" || s.Dir != b.dir || s.Mission != pawl.MissionWorking {
			b.Errorf("made %+v", s)
		}
		b.finished(s.ID)
		b.refused(409, pawl.CodeConflict, "POST", "/v1/missions", order)
		b.refused(400, pawl.CodeInvalid, "POST", "/v1/missions", fmt.Sprintf(`{"dir":%q,"order":{"goal":" "},"settings":{}}`, b.dir))
		var list pawl.SessionPage
		b.create()
		b.ask(200, "GET", "/v1/sessions?missions=true", "", &list)
		if len(list.Sessions) != 1 || list.Sessions[0].ID != s.ID {
			b.Errorf("missions are %+v", list)
		}
		b.refused(400, pawl.CodeInvalid, "GET", "/v1/sessions?missions=x", "")
	},
	"getMission": func(b *testServer) {
		var s pawl.Session
		b.ask(201, "POST", "/v1/missions", fmt.Sprintf(`{"dir":%q,"order":{"goal":"Be done."},"settings":{"model":%q}}`, b.dir, b.script(`{"text":"Done."}`)), &s)
		b.finished(s.ID)
		var got pawl.Board
		b.ask(200, "GET", "/v1/sessions/"+string(s.ID)+"/mission", "", &got)
		want, err := b.svc.Mission(b.Context(), s.ID)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			b.Errorf("%v %s", err, diff)
		}
		b.refused(400, pawl.CodeInvalid, "GET", "/v1/sessions/"+string(b.create())+"/mission", "")
		b.refused(404, pawl.CodeNotFound, "GET", nobody+"/mission", "")
	},
	"getUsage": func(b *testServer) {
		id := b.create()
		if got := b.send(request{method: "GET", path: "/v1/usage?session=" + string(id)}); strings.TrimSpace(got.text) != `{"rows":[]}` {
			b.Errorf("nothing used is %s", got.text)
		}
		b.ask(202, "POST", "/v1/sessions/"+string(id)+"/prompts", prompt(b.script(`{"text":"Done.","usage":{"input":7}}`), ""), new(api.Accepted))
		b.finished(id)
		var u api.Usage
		b.ask(200, "GET", "/v1/usage?since=2020-01-02T15:04:05Z&dir="+b.dir, "", &u)
		if len(u.Rows) != 1 || u.Rows[0].Input != 7 {
			b.Errorf("used: %+v", u)
		}
		b.refused(400, pawl.CodeInvalid, "GET", "/v1/usage?since=x", "")
	},
	"getOpenAPI": func(b *testServer) {
		var got map[string]any
		b.ask(200, "GET", "/v1/openapi.json", "", &got)
		if got["openapi"] != "3.1.0" {
			b.Errorf("it is of %v", got["openapi"])
		}
		b.refuses(401, api.CodeUnauthorized, request{method: "GET", path: "/v1/openapi.json", token: "-"})
	},
}

// waiting rewords and withdraws prompts that wait.
func waiting(b *testServer) {
	id := b.create()
	s := "/v1/sessions/" + string(id) + "/prompts"
	b.ask(202, "POST", s, prompt(b.script(waits("go"), `{"text":"Done."}`), ""), new(api.Accepted))
	b.until(id, is[pawl.CallStarted])
	var a api.Accepted
	b.ask(202, "POST", s, `{"parts":[{"type":"text","text":"later"}],"delivery":"queue"}`, &a)
	one := fmt.Sprintf("%s/%d", s, a.Seq)
	b.ask(204, "PUT", one, `{"parts":[{"type":"text","text":"much later"}]}`, nil)
	var list api.WaitingList
	b.ask(200, "GET", s, "", &list)
	want := pawl.Parts{pawl.Text{Text: "much later"}}
	if len(list.Prompts) != 1 || list.Prompts[0].Seq != a.Seq || !cmp.Equal(want, list.Prompts[0].Prompt.Parts) {
		b.Errorf("waiting: %+v", list)
	}
	b.ask(204, "DELETE", one, "", nil)
	b.refused(409, pawl.CodeConflict, "DELETE", one, "")
	b.refused(409, pawl.CodeConflict, "PUT", one, `{"parts":[{"type":"text","text":"x"}]}`)
	b.refused(400, pawl.CodeInvalid, "DELETE", s+"/x", "")
	if got := b.send(request{method: "GET", path: s}); strings.TrimSpace(got.text) != `{"prompts":[]}` {
		b.Errorf("none are %s", got.text)
	}
	b.refused(404, pawl.CodeNotFound, "GET", nobody+"/prompts", "")
	b.release("go")
	b.finished(id)
}

// undo goes back to before a turn that wrote a file.
func undo(b *testServer) {
	id := b.create()
	s := "/v1/sessions/" + string(id)
	b.refused(404, pawl.CodeNotFound, "POST", s+"/undo/preview", `{}`)
	b.refused(404, pawl.CodeNotFound, "POST", nobody+"/undo", `{}`)
	b.ask(202, "POST", s+"/prompts", prompt(b.script(`{"calls":[{"name":"write","input":{"path":"new.txt","content":"x"}}]}`, `{"text":"Done."}`), ""), new(api.Accepted))
	b.finished(id)
	var plan pawl.UndoPlan
	b.ask(200, "POST", s+"/undo/preview", `{}`, &plan)
	order, err := json.Marshal(pawl.Undo{To: plan.To})
	if err != nil {
		b.Fatal(err)
	}
	b.ask(202, "POST", s+"/undo", string(order), new(api.Accepted))
	b.until(id, is[pawl.Undone])
	if _, err := os.Stat(filepath.Join(b.dir, "new.txt")); !os.IsNotExist(err) {
		b.Errorf("the file is still there: %v", err)
	}
}

// Every route has its test.
func TestRoutes(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for _, r := range api.Routes {
		t.Run(r.Name, func(t *testing.T) {
			show, ok := routes[r.Name]
			if !ok {
				t.Fatal("no test shows this route: add one to the table")
			}
			show(newTestServer(t, nil))
		})
	}
	if len(routes) != len(api.Routes) {
		t.Errorf("%d routes are shown and %d are there", len(routes), len(api.Routes))
	}
}
