package storetest

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// endless is a title that is too long for an index.
var endless = strings.Repeat("endless", 20_000)

func search(t *testing.T, s store.Store) {
	all := []string{"untitled", "long", "signs", "unicode", "parser"} // newest first
	sessions := map[string]pawl.SessionID{}
	for i, c := range []struct{ name, title, prompt string }{
		{"parser", "Fix the JSON parser", "it fails on 1e5abc and v2.10"},
		{"unicode", "Größe ÄNDERN", "Привет, 世界 naïve ١٢٣"},
		{"signs", "100% of foo_bar", `it's "quoted" \back & a|b !c <d> :* $1`},
		{"long", endless, "short"},
		{"untitled", "", "parse arguments"},
	} {
		sessions[c.name] = createAt(t, s, i, pawl.SessionCreated{Dir: "/w"},
			pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: c.prompt}}}, pawl.SessionTitled{Title: c.title})
	}
	for _, c := range []struct {
		query string
		names []string
	}{
		{"", all},
		{"parse", []string{"untitled", "parser"}},
		{"PARSER", []string{"parser"}},
		{"arser", nil},
		{"fix pars", []string{"parser"}},
		{"pars fix", []string{"parser"}},
		{"fix arguments", nil}, // each word is in one session, but none has both
		{"fix fails", []string{"parser"}},
		{"parser it", []string{"parser"}},
		{"1e5", []string{"parser"}},
		{"1e5abc", []string{"parser"}},
		{"v2.1", []string{"parser"}},
		{"10", []string{"signs", "parser"}},
		{endless[:900], []string{"long"}},
		{"short", []string{"long"}},

		{"größe", []string{"unicode"}},
		{"GRÖ", []string{"unicode"}},
		{"änd", []string{"unicode"}},
		{"прив", []string{"unicode"}},
		{"世", []string{"unicode"}},
		{"界", nil},
		{"naïv", []string{"unicode"}},
		{"nai", nil},
		{"١٢", []string{"unicode"}},
		{"\xff\x00", all},

		// Punctuation is ignored; the words between it count.
		{"%", all},
		{"_ ' \" \\ & | ! :* ( ) <-> $1::text", nil},
		{"f_o", []string{"signs", "parser"}},
		{"fo%", []string{"signs"}},
		{"foo_bar", []string{"signs"}},
		{"it's", []string{"signs"}},
		{`"quoted`, []string{"signs"}},
		{`\back`, []string{"signs"}},
		{"a|b", []string{"signs"}},
		{"a & !c", []string{"signs"}},
		{"c:*", []string{"signs"}},
		{"'; DROP TABLE sessions; --", nil},
	} {
		var want []pawl.SessionID
		for _, name := range c.names {
			want = append(want, sessions[name])
		}
		listed(t, s, pawl.Filter{Query: c.query}, want...)
	}

	// A new title is found instead of the old one; the first prompt stays.
	id := sessions["parser"]
	appended(t, s, id, 3, event(pawl.SessionTitled{Title: "Renamed"}), event(pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "second"}}}))
	listed(t, s, pawl.Filter{Query: "renamed fails"}, id)
	listed(t, s, pawl.Filter{Query: "json"})
	listed(t, s, pawl.Filter{Query: "second"})
}
