package pawl

import "testing"

func TestSessionState(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		row  Session
		want State
	}{
		{Session{}, StateIdle},
		{Session{Queued: 1}, StateQueued},
		{Session{TurnOpen: true}, StateRunning},
		{Session{TurnOpen: true, Queued: 2}, StateRunning},
	} {
		if got := tt.row.State(); got != tt.want {
			t.Errorf("%+v is %s, want %s", tt.row, got, tt.want)
		}
	}
}

func TestSessionName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		row  Session
		want string
	}{
		{Session{}, ""},
		{Session{Prompt: "\n  fix it  \nplease"}, "fix it  "},
		{Session{Title: "a title", Prompt: "fix it"}, "a title"},
	} {
		if got := tt.row.Name(); got != tt.want {
			t.Errorf("%+v is called %q, want %q", tt.row, got, tt.want)
		}
	}
}

func TestSessionIDValid(t *testing.T) {
	t.Parallel()
	for id, want := range map[SessionID]bool{
		"01JD0000000000000000000000":  true,
		"7ZZZZZZZZZZZZZZZZZZZZZZZZZ":  true,
		"":                            false,
		"01JD000000000000000000000":   false, // short
		"01JD00000000000000000000000": false, // long
		"01jd0000000000000000000000":  false, // lower case
		"01JD000000000000000000000I":  false, // not of the alphabet
		"01JD000000000000000000000/":  false,
		"../../../../../etc/passwd.":  false,
		"01JD00000000000000000000é":   false,
		"01JD000000000000000000000\n": false,
	} {
		if got := id.Valid(); got != want {
			t.Errorf("%q: valid is %v, want %v", id, got, want)
		}
	}
}
