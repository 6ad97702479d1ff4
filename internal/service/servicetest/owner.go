package servicetest

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/service"
)

// ids returns the sessions that a filter selects.
func (b *testEnv) ids(f pawl.Filter) []pawl.SessionID {
	b.Helper()
	list, err := b.List(b.Context(), f)
	b.ok(err)
	var ids []pawl.SessionID
	for _, s := range list.Sessions {
		ids = append(ids, s.ID)
	}
	return ids
}

// testOwners checks that sessions have an owner, and their forks and subagents the
// same one.
func testOwners(b *testEnv) {
	ada, nobody := pawl.User("ada"), pawl.User("")
	mine := b.create()
	adas, err := b.Create(b.Context(), pawl.NewSession{Dir: b.dir, Owner: ada})
	b.ok(err)
	check(b, ada, adas.Owner)
	b.send(adas.ID, prompt("go", b.script(
		`{"calls":[`+task("general", "x", "")+`],"usage":{"cost":400}}`, `{"text":"Ok."}`, `{"agent":"general","text":"Done.","usage":{"cost":300}}`,
	), pawl.DeliverNow))
	b.idle(adas.ID)
	sub := b.subagents(adas.ID)[0]
	check(b, ada, sub.Owner)
	other, err := b.Create(b.Context(), pawl.NewSession{Dir: b.dir, Parent: adas.ID, Owner: "bob"})
	b.ok(err)
	check(b, ada, other.Owner) // a subagent has its parent's owner
	fork := b.fork(adas.ID, 0)
	check(b, ada, fork.Owner)

	check(b, []pawl.SessionID{fork.ID, adas.ID}, b.ids(pawl.Filter{Owner: &ada}))
	check(b, []pawl.SessionID{mine}, b.ids(pawl.Filter{Owner: &nobody}))
	check(b, 3, len(b.ids(pawl.Filter{})))
	var cost pawl.Money
	rows, err := b.Usage(b.Context(), pawl.UsageFilter{Owner: &ada})
	b.ok(err)
	for _, r := range rows {
		cost += r.Cost
	}
	check(b, pawl.Money(700), cost)
	rows, err = b.Usage(b.Context(), pawl.UsageFilter{Owner: &nobody})
	b.ok(err)
	check(b, 0, len(rows))
	for _, name := range []pawl.User{"a b", "a\nb", "a/b", pawl.User(strings.Repeat("x", 101)), "\xff"} {
		_, err := b.Create(b.Context(), pawl.NewSession{Dir: b.dir, Owner: name})
		b.code(pawl.CodeInvalid, err)
	}
}

// testShare checks that each call replaces the users that a session is shared with.
func testShare(b *testEnv) {
	bob := pawl.User("bob")
	session, err := b.Create(b.Context(), pawl.NewSession{Dir: b.dir, Owner: "ada"})
	b.ok(err)
	id := session.ID
	b.ok(b.Share(b.Context(), id, []pawl.User{"eve", "bob", "eve"}))
	check(b, []pawl.User{"bob", "eve"}, b.get(id).Shared)
	check(b, []pawl.SessionID{id}, b.ids(pawl.Filter{Owner: &bob, Shared: true}))
	check(b, nil, b.ids(pawl.Filter{Owner: &bob}))
	check(b, nil, b.fork(id, 0).Shared) // a copy is not shared

	var many []pawl.User
	for i := range service.MaxShared + 1 {
		many = append(many, pawl.User(fmt.Sprint("user", i)))
	}
	for _, with := range [][]pawl.User{{""}, {"a b"}, {"bob", "\x1b[0m"}, many} {
		b.code(pawl.CodeInvalid, b.Share(b.Context(), id, with))
	}
	b.code(pawl.CodeNotFound, b.Share(b.Context(), "01JD0000000000000000000000", nil))
	check(b, []pawl.User{"bob", "eve"}, b.get(id).Shared)
	b.ok(b.Share(b.Context(), id, many[1:]))
	b.ok(b.Share(b.Context(), id, nil))
	check(b, nil, b.get(id).Shared)
	check(b, nil, b.ids(pawl.Filter{Owner: &bob, Shared: true}))
}
