package storetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

func said(text string) pawl.Prompted { return pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: text}}} }

func wrote(text string) pawl.Replied {
	return pawl.Replied{Parts: pawl.Parts{pawl.Reasoning{Text: "pondering"}, pawl.Text{Text: text}}}
}

// finds fails the test unless a search finds these sessions in this order.
func finds(t *testing.T, s store.Store, query string, want ...pawl.SessionID) {
	t.Helper()
	page, err := s.Sessions(t.Context(), pawl.Filter{Search: query})
	if err != nil {
		t.Fatalf("search %q: %v", query, err)
	}
	var got []pawl.SessionID
	for _, r := range page.Sessions {
		got = append(got, r.ID)
		if r.Match == nil || len(r.Match.Snippet) == 0 {
			t.Errorf("search %q: no snippet", query)
		}
	}
	equal(t, fmt.Sprintf("search %q", query), got, want)
}

// OldEvents returns the values of rows of events that an earlier version wrote, as SQL: a
// prompt, one that was undone, and the undo.
func OldEvents(t *testing.T, id pawl.SessionID, at string) string {
	t.Helper()
	var rows []string
	for i, b := range []pawl.Body{
		pawl.SessionCreated{Dir: "/w"}, said("an old needle"), said("a mistake"), pawl.UndoAsked{Undo: pawl.Undo{To: 3}}, pawl.Undone{Asked: 4},
	} {
		kind, version, data, err := event(b).EncodeBody()
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, fmt.Sprintf("('%s', %d, 0, %s, '%s', %d, '%s')", id, i+1, at, kind, version, data))
	}
	return strings.Join(rows, ", ")
}

// FindsOld checks that searches find [OldEvents] in a migrated store.
func FindsOld(t *testing.T, s store.Store, id pawl.SessionID) {
	t.Helper()
	finds(t, s, "needle", id)
	finds(t, s, "mistake")
}

func conversations(t *testing.T, s store.Store) {
	sessions := map[string]pawl.SessionID{}
	for i, c := range []struct {
		name   string
		bodies []pawl.Body
	}{
		{"parser", []pawl.Body{said("fix the parser"), wrote("I fixed internal/parse/lexer.go: foo.Bar() now fails."), said("thanks"), wrote("You are welcome")}},
		{"unicode", []pawl.Body{said("Größe ÄNDERN"), wrote("Naïve Привет 世界へ ١٢٣ e\u0301cole ﬁne")}},
		{"signs", []pawl.Body{said("NEAR AND OR NOT foo"), wrote(`it's "quoted" 100% a|b (c) <d> :* $1 x^2`)}},
		{"titled", []pawl.Body{pawl.SessionTitled{Title: "Old name"}, pawl.SessionTitled{Title: "Deploy the parser"}, said("go")}},
		{"long", []pawl.Body{said(strings.Repeat("endless", 20_000) + " behind"), wrote("before " + strings.Repeat("the ", 20_000) + "very end " + strings.Repeat("x ", 20_000) + "unreachable")}},
	} {
		sessions[c.name] = createAt(t, s, i, pawl.SessionCreated{Dir: "/w"}, c.bodies...)
	}
	for _, c := range []struct{ query, names string }{
		{"parser", "titled parser"},
		{"PARSER", "titled parser"},
		{"parse", "titled parser"}, // the beginning of the last word
		{"parse ", "parser"},       // a word of the path
		{"arser", ""},
		{"pars fix", ""}, // only the last word may be a beginning
		{"fix parser", "parser"},
		{"parser fix", "parser"},
		{"parser fixed", ""}, // in two messages
		{`"fix the parser"`, "parser"},
		{`"the fix"`, ""},
		{`"fix the pars"`, ""},
		{`"fix the pars`, "parser"},
		{`deploy "the parser"`, "titled"},
		{"foo.Bar()", "parser"},
		{"foo.Ba", "parser"},
		{"bar.foo", ""},
		{"internal/parse/lexer.go", "parser"},
		{"parse/lexer", "parser"},
		{"lexer/parse", ""},
		{"welcome", "parser"},
		{"pondering", ""}, // reasoning
		{"deploy", "titled"},
		{"old", ""}, // an older title
		{"name ", ""},

		{"größe", "unicode"},
		{"GROSSE", ""},
		{"grosse", ""},
		{"GROßE", "unicode"},
		{"ändern", "unicode"},
		{"andern", "unicode"},
		{"naive", "unicode"},
		{"NAÏVE", "unicode"},
		{"прив", "unicode"},
		{"世界", "unicode"},
		{"界へ", "unicode"},
		{"界世", ""},
		{"١٢٣", "unicode"},
		{"école", "unicode"},
		{"ecole", "unicode"},
		{"fine", "unicode"},

		{"NEAR AND OR NOT", "signs"},
		{"foo OR welcome", ""},
		{"foo NOT welcome", ""},
		{"near(foo, 2)", ""},
		{"words:foo", ""},
		{"foo*", "signs parser"},
		{"^foo", "signs parser"},
		{"-foo", "signs parser"},
		{"it's", "signs"},
		{`quoted"`, "signs"},
		{`""" quoted`, "signs"},
		{"a|b", "signs"},
		{"a & b", "signs"},
		{"x^2", "signs"},
		{"$1", "signs"},
		{"foo\x00", "signs parser"},
		{"foo\xff", "signs parser"},
		{"'; DROP TABLE search_texts; --", ""},
		{"foo' | 't:", ""},
		{"foo:*", "signs parser"},

		{strings.Repeat("endless", 100), "long"}, // long words are cut
		{"behind", ""},                           // more than is indexed
		{`"very end"`, "long"},
		{"before end", "long"},
		{"unreachable", ""},
	} {
		var want []pawl.SessionID
		for _, name := range strings.Fields(c.names) {
			want = append(want, sessions[name])
		}
		finds(t, s, c.query, want...)
	}
	for _, query := range []string{" ", `"`, `""`, "*", "()", "\x00", "\xff\xfe", "'", "--", "🙂", strings.Repeat("a", 1001), strings.Repeat("a ", 51), strings.Repeat(`"`, 900)} {
		_, err := s.Sessions(t.Context(), pawl.Filter{Search: query})
		fails(t, fmt.Sprintf("search %.20q", query), err, pawl.ErrInvalid)
	}
}

func conversationFilters(t *testing.T, s store.Store) {
	a := createAt(t, s, 1, pawl.SessionCreated{Dir: "/a", Owner: "ada"}, said("needle"))
	b := createAt(t, s, 2, pawl.SessionCreated{Dir: "/b", Owner: "bob"}, said("needle"), pawl.TurnStarted{Prompt: 2}, pawl.SessionShared{With: []pawl.User{"ada"}})
	c := createAt(t, s, 3, pawl.SessionCreated{Dir: "/b", Owner: "bob"}, said("needle in haystack"))
	sub := createAt(t, s, 4, pawl.SessionCreated{Dir: "/a", Parent: a, Owner: "ada"}, said("needle"))
	for _, test := range []struct {
		f    pawl.Filter
		want []pawl.SessionID
	}{
		{pawl.Filter{}, []pawl.SessionID{c, b, a}},
		{pawl.Filter{Dir: "/b"}, []pawl.SessionID{c, b}},
		{pawl.Filter{State: pawl.StateRunning}, []pawl.SessionID{b}},
		{pawl.Filter{Owner: named("ada")}, []pawl.SessionID{a}},
		{pawl.Filter{Owner: named("ada"), Shared: true}, []pawl.SessionID{b, a}},
		{pawl.Filter{Owner: named("eve"), Shared: true}, nil},
		{pawl.Filter{Parent: a}, []pawl.SessionID{sub}},
		{pawl.Filter{Query: "hay"}, []pawl.SessionID{c}},
	} {
		test.f.Search = "needle"
		var got []pawl.SessionID
		for f := test.f; ; {
			f.Limit = 1
			page, err := s.Sessions(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page.Sessions {
				got = append(got, r.ID)
			}
			if f.Cursor = page.Next; f.Cursor == "" {
				break
			}
		}
		equal(t, fmt.Sprintf("%+v", test.f), got, test.want)
	}
	if err := s.Delete(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	finds(t, s, "needle", c, b)
}

// conversationChanges checks that searches find what the conversation contains now.
func conversationChanges(t *testing.T, s store.Store) {
	id := createAt(t, s, 1, pawl.SessionCreated{Dir: "/w"}, said("first"), wrote("answer one"), said("second"), wrote("answer two"))
	add := func(bodies ...pawl.Body) pawl.Seq {
		var events []pawl.Event
		for _, b := range bodies {
			events = append(events, event(b))
		}
		head := row(t, s, id).Head
		appended(t, s, id, head, events...)
		return head + pawl.Seq(len(bodies))
	}
	seen := func(query string, want bool) {
		t.Helper()
		if want {
			finds(t, s, query, id)
		} else {
			finds(t, s, query)
		}
	}
	asked := add(pawl.UndoAsked{Undo: pawl.Undo{To: 4}})
	seen("second", true)
	undone := add(pawl.Undone{Asked: asked})
	seen("second", false)
	seen("two", false)
	seen("first", true)
	add(pawl.Undone{Asked: add(pawl.UndoAsked{Undo: pawl.Undo{To: 2}}), Refused: "no"})
	seen("first", true)
	add(pawl.Undone{Asked: add(pawl.UndoAsked{Undo: pawl.Undo{To: 2, Scope: pawl.ScopeFiles}})})
	seen("first", true)
	all := add(pawl.UndoAsked{Undo: pawl.Undo{To: 2}}, said("third"))
	all = add(pawl.Undone{Asked: all - 1})
	seen("first", false)
	seen("third", true)
	add(pawl.Undone{Asked: add(pawl.UndoAsked{Undo: pawl.Undo{Redo: all}})})
	seen("first", true)
	seen("second", false) // by the first undo
	add(pawl.Undone{Asked: add(pawl.UndoAsked{Undo: pawl.Undo{Redo: undone}})})
	seen("second", true)

	waiting := add(said("typo"))
	add(pawl.Reworded{Prompt: waiting, Parts: pawl.Parts{pawl.Text{Text: "worse"}}})
	add(pawl.Reworded{Prompt: waiting, Parts: pawl.Parts{pawl.Text{Text: "better"}}})
	seen("typo", false)
	seen("worse", false)
	seen("better", true)
	page, err := s.Sessions(t.Context(), pawl.Filter{Search: "better"})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "the message", page.Sessions[0].Match.Seq, waiting)
	add(pawl.Withdrawn{Prompt: waiting})
	seen("better", false)

	if _, err := s.Append(t.Context(), id, 1, event(said("conflict"))); err == nil {
		t.Fatal("appended at an old head")
	}
	seen("conflict", false)
}

func snippets(t *testing.T, s store.Store) {
	id := createAt(t, s, 1, pawl.SessionCreated{Dir: "/w"}, said("an older needle"),
		wrote(strings.Repeat("hay ", 100)+"<b>\x1b[31mthe\u202e  needle\n\tis</b> hére, Needles too "+strings.Repeat("straw ", 100)))
	page, err := s.Sessions(t.Context(), pawl.Filter{Search: "here needle"})
	if err != nil {
		t.Fatal(err)
	}
	m := page.Sessions[0].Match
	equal(t, "seq", m.Seq, 3)
	var found []string
	var text strings.Builder
	for _, p := range m.Snippet {
		text.WriteString(p.Text)
		if p.Match {
			found = append(found, p.Text)
		}
	}
	equal(t, "parts", found, []string{"needle", "hére", "Needles"})
	if got := text.String(); !strings.HasPrefix(got, "…hay hay") || !strings.Contains(got, "<b>[31mthe needle is</b> hére, Needles too straw") || !strings.HasSuffix(got, "…") || len(got) > 260 {
		t.Errorf("snippet %q", got)
	}
	finds(t, s, "older", id)
}
