package servicetest

import (
	"context"
	"path/filepath"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
)

func testCreate(b *testEnv) {
	began := time.Now().Add(-time.Second)
	for _, n := range []pawl.NewSession{
		{Dir: b.dir},
		{Dir: b.dir, Title: "A title"},
		{Dir: b.dir, Parent: "01JD0000000000000000000000", ParentCall: "call_1_1"},
	} {
		got, err := b.Create(b.Context(), n)
		if err != nil {
			b.Fatal(err)
		}
		if !got.ID.Valid() || got.Created.Before(began) || got.Updated.Before(got.Created) {
			b.Errorf("%+v", got)
		}
		head := pawl.Seq(1)
		events := []pawl.Body{pawl.SessionCreated{Dir: n.Dir, Parent: n.Parent, ParentCall: n.ParentCall}}
		if n.Title != "" {
			head = 2
			events = append(events, pawl.SessionTitled{Title: n.Title})
		}
		check(b, pawl.Session{ID: got.ID, Parent: n.Parent, Dir: n.Dir, Title: n.Title, Head: head}, got,
			cmpopts.IgnoreFields(pawl.Session{}, "Created", "Updated"))
		check(b, got, b.get(got.ID))
		var bodies []pawl.Body
		for _, e := range b.log(got.ID) {
			bodies = append(bodies, e.Body)
		}
		check(b, events, bodies)
	}
}

func testCreateRefuses(b *testEnv) {
	for _, dir := range []string{"", ".", "some/folder", "../x"} {
		_, err := b.Create(b.Context(), pawl.NewSession{Dir: dir})
		b.code(pawl.CodeInvalid, err)
	}
	list, err := b.List(b.Context(), pawl.Filter{})
	b.ok(err)
	check(b, 0, len(list.Sessions))
}

func testNotFound(b *testEnv) {
	b.create()
	model := b.script(`{"text":"x"}`)
	for _, id := range []pawl.SessionID{"01JD0000000000000000000000", "no-id", "", "../../etc/passwd"} {
		_, err := b.Get(b.Context(), id)
		b.code(pawl.CodeNotFound, err)
		_, err = b.Send(b.Context(), id, prompt("go", model, pawl.DeliverNow))
		b.code(pawl.CodeNotFound, err)
		b.code(pawl.CodeNotFound, b.Resume(b.Context(), id))
		b.code(pawl.CodeNotFound, b.Cancel(b.Context(), id))
		_, err = b.Draft(b.Context(), id)
		b.code(pawl.CodeNotFound, err)
		b.code(pawl.CodeNotFound, b.Delete(b.Context(), id))
		n := 0
		for _, err := range b.Events(b.Context(), id, 0) {
			n++
			b.code(pawl.CodeNotFound, err)
		}
		check(b, 1, n)
	}
}

func testList(b *testEnv) {
	other := filepath.Join(b.dir, "other")
	model := b.script(`{"text":"Done."}`)
	var ids []pawl.SessionID
	for _, n := range []pawl.NewSession{{Dir: b.dir, Title: "Fix the parser"}, {Dir: other}, {Dir: b.dir}} {
		s, err := b.Create(b.Context(), n)
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, s.ID)
	}
	sub, err := b.Create(b.Context(), pawl.NewSession{Dir: b.dir, Parent: ids[0]})
	if err != nil {
		b.Fatal(err)
	}
	b.send(ids[1], prompt("write a parser", model, pawl.DeliverNow))
	b.idle(ids[1])
	b.send(ids[2], prompt("hang", b.script(`{"fault":"hang","text":"x"}`), pawl.DeliverNow))
	b.until(ids[2], 0, is[pawl.ReplyStarted])

	first, second, third := ids[2], ids[1], ids[0] // most recently updated first
	for _, test := range []struct {
		filter pawl.Filter
		want   []pawl.SessionID
	}{
		{pawl.Filter{}, []pawl.SessionID{first, second, third}},
		{pawl.Filter{Limit: 2}, []pawl.SessionID{first, second}},
		{pawl.Filter{Dir: b.dir}, []pawl.SessionID{first, third}},
		{pawl.Filter{Dir: other}, []pawl.SessionID{second}},
		{pawl.Filter{Dir: "/nowhere"}, nil},
		{pawl.Filter{Unfinished: true}, []pawl.SessionID{first}},
		{pawl.Filter{Query: "parser"}, []pawl.SessionID{second, third}},
		{pawl.Filter{Query: "PARS fix"}, []pawl.SessionID{third}},
		{pawl.Filter{Parent: ids[0]}, []pawl.SessionID{sub.ID}},
		{pawl.Filter{Before: b.get(first).Updated}, []pawl.SessionID{second, third}},
	} {
		list, err := b.List(b.Context(), test.filter)
		b.ok(err)
		var got []pawl.SessionID
		for _, s := range list.Sessions {
			got = append(got, s.ID)
			check(b, b.get(s.ID), s)
		}
		check(b, test.want, got)
	}
	b.ok(b.Cancel(b.Context(), ids[2]))
	b.idle(ids[2])
}

// testUsage checks that each reply counts once, for its session, model and agent.
func testUsage(b *testEnv) {
	id, other := b.create(), b.create()
	model := b.script(`{"calls":[{"name":"list"}],"usage":{"input":1,"output":2,"cache_read":3,"cost":4}}`, `{"text":"Done.","usage":{"input":10,"cache_write":5}}`)
	for _, id := range []pawl.SessionID{id, other} {
		b.send(id, prompt("go", model, pawl.DeliverNow))
		b.idle(id)
	}
	rows, err := b.Usage(b.Context(), pawl.UsageFilter{Session: id, Dir: b.dir, Since: time.Now().AddDate(0, 0, -1)})
	b.ok(err)
	sum := pawl.UsageRow{Session: id, Model: model, Agent: "build"} // rows of one day, or two around midnight
	for _, r := range rows {
		sum.Replies, sum.Usage = sum.Replies+r.Replies, sum.Add(r.Usage)
		check(b, sum, r, cmpopts.IgnoreFields(pawl.UsageRow{}, "Day", "Replies", "Usage"))
	}
	check(b, 2, sum.Replies)
	check(b, pawl.Usage{Input: 11, Output: 2, CacheRead: 3, CacheWrite: 5, Cost: 4}, sum.Usage)
	check(b, b.get(id).Usage, sum.Usage)
}

func testDelete(b *testEnv) {
	kept, id := b.create(), b.create()
	b.send(id, prompt("go", b.script(`{"fault":"hang","text":"x"}`), pawl.DeliverNow))
	b.until(id, 0, is[pawl.ReplyStarted])
	b.code(pawl.CodeBusy, b.Delete(b.Context(), id))
	b.ok(b.Cancel(b.Context(), id))
	b.idle(id)
	b.eventually("an idle session can be deleted", func(context.Context) bool { // the runner may not have released it yet
		err := b.Delete(b.Context(), id)
		if err != nil {
			b.code(pawl.CodeBusy, err)
		}
		return err == nil
	})
	_, err := b.Get(b.Context(), id)
	b.code(pawl.CodeNotFound, err)
	list, err := b.List(b.Context(), pawl.Filter{})
	b.ok(err)
	check(b, []pawl.Session{b.get(kept)}, list.Sessions)
}

// eventually retries until holds returns true.
func (b *testEnv) eventually(what string, holds func(context.Context) bool) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds(ctx) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			b.Fatalf("never: %s", what)
		}
	}
}
