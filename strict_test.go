package pawl

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/strictjson"
)

// line returns a stored event of a kind with this body.
func line(kind, body string) string {
	return `{"v":1,"session":"01JD0000000000000000000000","seq":1,"at":"2026-11-15T02:03:04Z","type":"` + kind + `","body":` + body + `}`
}

// TestDecodeEventRefuses checks that an event that Pawl did not write is rejected
// with an error that names the reason: Pawl must not act on a log that it understands
// only in part.
func TestDecodeEventRefuses(t *testing.T) {
	t.Parallel()
	titled := line("session.titled", `{"title":"a"}`)
	tests := []struct{ name, data, want string }{
		{"an unknown key", strings.Replace(titled, `"seq"`, `"sequence"`, 1), `decode event: unknown key "sequence"`},
		{"an unknown key in the body", line("session.titled", `{"title":"a","color":"red"}`), `decode session.titled: unknown key "color"`},
		{"a key twice", strings.Replace(titled, `"seq":1`, `"seq":1,"seq":1`, 1), `decode event: duplicate key "seq"`},
		{"a key twice in the body", line("session.titled", `{"title":"a","title":"b"}`), `decode session.titled: duplicate key "title"`},
		{
			"a key twice, deep in the body", line("call.finished", `{"call":"c","status":"done","result":{"content":"","meta":{"a":"1","a":"2"}}}`),
			`decode call.finished: duplicate key "a"`,
		},
		{
			"a key twice, once escaped", line("prompted", `{"parts":[{"type":"text","text":"a","\u0074ext":"b"}]}`),
			`decode prompted: decode text part: duplicate key "text"`,
		},
		{"a key in the wrong case", line("session.titled", `{"Title":"a"}`), `decode session.titled: unknown key "Title"`},
		{"a Go field's name", line("prompted", `{"Settings":{}}`), `decode prompted: unknown key "Settings"`},
		{"a type in the wrong case", strings.Replace(titled, `"type"`, `"Type"`, 1), `decode event: unknown key "Type"`},
		{"an unknown kind", line("retitled", `{}`), `decode event: unknown kind "retitled": it was written by a newer version of Pawl`},
		{"no kind", strings.Replace(titled, `"type":"session.titled",`, ``, 1), `decode event: unknown kind "": it was written by a newer version of Pawl`},
		{
			"a newer version", strings.Replace(titled, `"v":1`, `"v":2`, 1),
			`decode session.titled: version 2 is newer than 1, the newest that this version of Pawl knows`,
		},
		{"version 0", strings.Replace(titled, `"v":1`, `"v":0`, 1), `decode session.titled: invalid version 0`},
		{"no version", strings.Replace(titled, `"v":1,`, ``, 1), `decode session.titled: invalid version 0`},
		{"no body", strings.Replace(titled, `,"body":{"title":"a"}`, ``, 1), `decode session.titled: unexpected end of JSON input`},
		{"trailing data", titled + `{}`, `invalid character '{' after top-level value`},
		{"half of it", titled[:len(titled)/2], `unexpected end of JSON input`},
		{"a list", `[]`, `decode event: json: cannot unmarshal array into Go value of type pawl.eventJSON`},
		{
			"a number for a text", line("session.titled", `{"title":1}`),
			`decode session.titled: json: cannot unmarshal number into Go struct field SessionTitled.title of type string`,
		},
		{
			"a text for a number", line("turn.started", `{"prompt":"1"}`),
			`decode turn.started: json: cannot unmarshal string into Go struct field TurnStarted.prompt of type pawl.Seq`,
		},
		{
			"a fraction for a number", line("turn.started", `{"prompt":1.5}`),
			`decode turn.started: json: cannot unmarshal number 1.5 into Go struct field TurnStarted.prompt of type pawl.Seq`,
		},
		{"parts that are no list", line("prompted", `{"parts":{}}`), `decode prompted: json: cannot unmarshal object into Go struct field Prompted.parts of type []json.RawMessage`},
		{"an unknown part", line("prompted", `{"parts":[{"type":"video","text":"a"}]}`), `decode prompted: decode part: unknown type "video"`},
		{"a part without a type", line("prompted", `{"parts":[{"text":"a"}]}`), `decode prompted: decode part: unknown type ""`},
		{"a part that is nothing", line("prompted", `{"parts":[null]}`), `decode prompted: decode part: unknown type ""`},
		{"a part's type twice", line("prompted", `{"parts":[{"type":"text","type":"text","text":"a"}]}`), `decode prompted: decode text part: duplicate key "type"`},
		{"a part's type in the wrong case", line("prompted", `{"parts":[{"Type":"text","text":"a"}]}`), `decode prompted: decode text part: unknown key "Type"`},
		{"a part with an unknown key", line("replied", `{"step":1,"parts":[{"type":"text","text":"a","bold":true}]}`), `decode replied: decode text part: unknown key "bold"`},
		{
			"a part with a type of another's", line("call.finished", `{"result":{"display":[{"type":"patch","text":"a"}]}}`),
			`decode call.finished: decode patch part: unknown key "text"`,
		},
		{"an unknown key in a list of structs", line("call.started", `{"access":[{"kind":"read","path":"a"}]}`), `decode call.started: unknown key "path"`},
		{"an unknown key behind a pointer", line("call.finished", `{"result":{"full":{"sha":"a"}}}`), `decode call.finished: unknown key "sha"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e Event
			err := json.Unmarshal([]byte(tt.data), &e)
			if err == nil {
				t.Fatalf("decoded to %+v, want an error", e)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	type inner struct {
		B int `json:"b"`
	}
	type value struct {
		inner
		A     string           `json:"a"`
		Any   any              `json:"any"`
		Map   map[string]inner `json:"map"`
		Raw   json.RawMessage  `json:"raw"`
		Parts Parts            `json:"parts"`
		Skip  string           `json:"-"`
		Plain string
	}
	tests := []struct{ name, data, want string }{
		{"everything", ` {"a":"x\"}","b":1,"any":{"k":[1,{"n":null}],"t":true},"map":{"m":{"b":2}},"raw":[{"k":1}],"parts":[],"Plain":"p"} `, ""},
		{"white space", "{\n\t\"a\" : \"x\" ,\r\n\"map\" : { } , \"any\" : [ 1 , 2 ] }\n", ""},
		{"the keys of raw JSON are their reader's", `{"raw":{"k":1,"k":[{"l":1,"l":2}]},"a":"x"}`, ""},
		{"a number at the end of raw JSON", `{"raw":-1.5e3}`, ""},
		{"after raw JSON the checks go on", `{"raw":{"k":"}"},"c":1}`, `unknown key "c"`},
		{"an excluded field", `{"Skip":"x"}`, `unknown key "Skip"`},
		{"an excluded field's tag", `{"-":"x"}`, `unknown key "-"`},
		{"a key twice in any", `{"any":{"k":[{"n":1,"n":2}]}}`, `duplicate key "n"`},
		{"a key twice in a map", `{"map":{"m":{},"m":{}}}`, `duplicate key "m"`},
		{"an unknown key in a map's value", `{"map":{"m":{"c":1}}}`, `unknown key "c"`},
		{"a key that is escaped and unknown", `{"\u0063":1}`, `unknown key "c"`},
		{"a key that is escaped and known", `{"\u0061":"x"}`, ""},
		{"two values", `{} {}`, `invalid character '{' after top-level value`},
		{"nothing", ``, `unexpected end of JSON input`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var v value
			got := ""
			if err := strictjson.Decode([]byte(tt.data), &v); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
