package pawl

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/strictjson"
)

var errNoName = errors.New("no name")

// namesFromName and titleFromNames are sample upcasts: a name became a list of names,
// and then the first of them the title.
func namesFromName(data json.RawMessage) (json.RawMessage, error) {
	var old struct {
		Name string `json:"name"`
	}
	if err := strictjson.Decode(data, &old); err != nil {
		return nil, err
	}
	if old.Name == "" {
		return nil, errNoName
	}
	return json.Marshal(map[string][]string{"names": {old.Name}})
}

func titleFromNames(data json.RawMessage) (json.RawMessage, error) {
	var old struct {
		Names []string `json:"names"`
	}
	if err := strictjson.Decode(data, &old); err != nil {
		return nil, err
	}
	return json.Marshal(SessionTitled{Title: old.Names[0]})
}

// changed sets the upcasts of session.titled for the duration of a test.
func changed(t *testing.T, upcasts ...upcast) {
	now := kinds["session.titled"]
	t.Cleanup(func() { kinds["session.titled"] = now })
	kinds["session.titled"] = durable[SessionTitled](upcasts...)
}

func TestUpcast(t *testing.T) { //nolint:paralleltest // it changes kinds
	changed(t, namesFromName, titleFromNames)
	want := SessionTitled{Title: "a"}
	for version, data := range map[int]string{
		1: `{"name":"a"}`,
		2: `{"names":["a"]}`,
		3: `{"title":"a"}`,
	} {
		got, err := Kind("session.titled").Decode(version, []byte(data))
		if err != nil {
			t.Errorf("version %d: %v", version, err)
		}
		if diff := cmp.Diff(Body(want), got); diff != "" {
			t.Errorf("version %d: %s", version, diff)
		}
	}
	kind, version, data, err := Event{Body: want}.EncodeBody()
	if err != nil {
		t.Fatal(err)
	}
	if kind != "session.titled" || version != 3 || string(data) != `{"title":"a"}` {
		t.Errorf("encoded as %s, version %d, %s; want the newest", kind, version, data)
	}
}

func TestUpcastRefuses(t *testing.T) { //nolint:paralleltest // it changes kinds
	changed(t, namesFromName, titleFromNames)
	tests := []struct {
		name    string
		version int
		data    string
		want    string
	}{
		{"an upcast fails", 1, `{}`, "decode session.titled: upgrade version 1 to 2: no name"},
		{"an old shape with a stray key", 1, `{"name":"a","color":1}`, `decode session.titled: upgrade version 1 to 2: unknown key "color"`},
		{"the new shape under an old version", 1, `{"title":"a"}`, `decode session.titled: upgrade version 1 to 2: unknown key "title"`},
		{"an old shape under the new version", 3, `{"names":["a"]}`, `decode session.titled: unknown key "names"`},
		{"a version from the future", 4, `{}`, "decode session.titled: version 4 is newer than 3, the newest that this version of Pawl knows"},
		{"a version from before the first", 0, `{}`, "decode session.titled: invalid version 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Kind("session.titled").Decode(tt.version, []byte(tt.data))
			if err == nil {
				t.Fatalf("decoded to %+v, want an error", got)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := Kind("session.titled").Decode(1, []byte(`{}`)); !errors.Is(err, errNoName) {
		t.Errorf("got %v, want the upcast's own error in it", err)
	}
}

func TestEncodeUnknownKind(t *testing.T) { //nolint:paralleltest // it changes kinds
	changed(t)
	delete(kinds, "session.titled")
	_, _, _, err := Event{Body: SessionTitled{}}.EncodeBody()
	if want := `encode event: unknown kind "session.titled"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestEncodeRefusesWhatIsNotJSON(t *testing.T) {
	t.Parallel()
	_, err := json.Marshal(Event{Body: Replied{Parts: Parts{ToolCall{ID: "c", Name: "read", Input: json.RawMessage(`{"path": `)}}}})
	if err == nil {
		t.Error("a call with broken input was encoded: nobody could read that log again")
	}
}
