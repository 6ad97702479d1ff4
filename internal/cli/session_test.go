package cli_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
)

// sessions is a service that has these sessions, the newest first.
type sessions struct {
	pawl.Service
	rows []pawl.Session
}

func (s sessions) Get(_ context.Context, id pawl.SessionID) (pawl.Session, error) {
	if i := slices.IndexFunc(s.rows, func(r pawl.Session) bool { return r.ID == id }); i >= 0 {
		return s.rows[i], nil
	}
	return pawl.Session{}, fault.New(pawl.ErrNotFound, "session %s not found", id)
}

// List uses the ID of the last row as the cursor.
func (s sessions) List(_ context.Context, f pawl.Filter) (page pawl.SessionPage, err error) {
	after := 1 + slices.IndexFunc(s.rows, func(r pawl.Session) bool { return string(r.ID) == f.Cursor })
	for _, r := range s.rows[after:] {
		if (f.Dir != "" && f.Dir != r.Dir) || (f.Missions && r.Mission == "") {
			continue
		}
		if len(page.Sessions) == f.Limit {
			page.Next = string(page.Sessions[f.Limit-1].ID)
			break
		}
		page.Sessions = append(page.Sessions, r)
	}
	return page, nil
}

var svc = sessions{rows: []pawl.Session{
	{ID: "01KA8V3Q4ZSV4RRFFQ69G5FAVX", Title: "the parser", Dir: "/a"},
	{ID: "01KA8V3Q50TSV4RRFFQ698Q4ZK", Title: "the lexer", Dir: "/b", Mission: pawl.MissionWorking},
	{ID: "01KA8V3R00ABCDEFGHJKMN8Q4Z", Title: "the tests", Dir: "/a"},
	{ID: "01JZZZZZZZABCDEFGHJKMNPQRS", Title: "an old one", Dir: "/a"},
}}

func TestFindSession(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, dir, want, err string }{
		{"last", "/a", "the parser", ""},
		{"last", "/b", "the lexer", ""},
		{"last", "/c", "", "no sessions in /c. Run `pawl session list --all` to see those of other directories."},
		{"01KA8V3R00ABCDEFGHJKMN8Q4Z", "/c", "the tests", ""},
		{"01ka8v3r00abcdefghjkmn8q4z", "/c", "the tests", ""},
		{"FAVX", "/c", "the parser", ""},
		{"favx", "/c", "the parser", ""},
		{"01JZ", "/c", "an old one", ""},
		{"01KA8V3R", "/c", "the tests", ""},
		{"98Q4ZK", "/c", "the lexer", ""},
		{"01KA8V3Q", "/c", "", `"01KA8V3Q" matches 2 sessions: G5FAVX (the parser), 98Q4ZK (the lexer). Use more characters of the id.`},
		{"AVX", "/c", "", `session "AVX" not found. Use at least 4 characters of the id, or "last".`},
		{"G5FAVY", "/c", "", `session "G5FAVY" not found. Did you mean "G5FAVX"?`},
		{"lats", "/c", "", `session "lats" not found. Did you mean "last"?`},
		{"01ARZ3NDEKTSV4RRFFQ69G5FAV", "/c", "", "session \"01ARZ3NDEKTSV4RRFFQ69G5FAV\" not found. Run `pawl session list --all` to see all sessions."},
		{"the parser", "/c", "", "session \"the parser\" not found. Run `pawl session list --all` to see all sessions."},
		{"", "/c", "", `session "" not found. Use at least 4 characters of the id, or "last".`},
	} {
		got, err := cli.FindSession(t.Context(), svc, test.name, test.dir)
		text := ""
		if err != nil {
			text = fault.Text(err)
		}
		if got.Title != test.want || text != test.err {
			t.Errorf("%q in %s: %q, %s", test.name, test.dir, got.Title, text)
		}
		if strings.Contains(text, "not found") && !errors.Is(err, pawl.ErrNotFound) {
			t.Errorf("%q: the error has another class", test.name)
		}
	}
}

func TestFindMission(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"last":                       "the lexer",
		"01KA":                       "the lexer", // other sessions do not count
		"8Q4ZK":                      "the lexer",
		"01KA8V3R00ABCDEFGHJKMN8Q4Z": "session MN8Q4Z is not a mission. Run `pawl mission list --all` to see all missions.",
		"MN8Q4Z":                     "mission \"MN8Q4Z\" not found. Run `pawl mission list --all` to see all missions.",
	} {
		s, err := cli.FindMission(t.Context(), svc, name, "/b")
		got := s.Title
		if err != nil {
			got = fault.Text(err)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestFindSessionPages: a short ID is found among many sessions, also if several have the same time.
func TestFindSessionPages(t *testing.T) {
	t.Parallel()
	var many sessions
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 2500 {
		many.rows = append(many.rows, pawl.Session{ID: pawl.SessionID(fmt.Sprintf("01KA8V3Q4ZSV4RRFFQ69%06d", i)), Updated: at.Add(-time.Duration(i/3) * time.Second)})
	}
	for _, name := range []string{"000000", "000999", "001000", "002499"} {
		if s, err := cli.FindSession(t.Context(), many, name, "/"); err != nil || !strings.HasSuffix(string(s.ID), name) {
			t.Errorf("%s: %s, %v", name, s.ID, err)
		}
	}
}

func TestShortIDs(t *testing.T) {
	t.Parallel()
	short := cli.ShortIDs(svc.rows)
	if got := short(svc.rows[0].ID); got != "G5FAVX" {
		t.Errorf("the short id is %s", got)
	}
	same := []pawl.Session{{ID: "01KA8V3Q4ZSV4RRFFQ69G5FAVX"}, {ID: "01KA8V3Q4ZSV4RRFFQ6AG5FAVX"}}
	if got := cli.ShortIDs(same)(same[0].ID); got != "9G5FAVX" {
		t.Errorf("the short id is %s", got)
	}
}
