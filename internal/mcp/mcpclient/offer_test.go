package mcpclient

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// fifty is a set with one server of 50 tools, as large as real ones are, that is
// never called.
func fifty(t *testing.T) (*Servers, string) {
	t.Helper()
	set, dir := New(Config{}), "/work"
	l := newLink(set.config, dir, Server{Name: "hub", Transport: Stdio, Command: "hub"})
	close(l.ended)
	for i := range 50 {
		r := &remote{
			raw: fmt.Sprintf("tool_%02d", i), public: fmt.Sprintf("mcp__hub__tool_%02d", i), target: fmt.Sprintf("hub/tool_%02d", i), print: "0123456789abcdef",
			description: "Lists the issues of a repository. " + strings.Repeat("It takes filters. ", 20) + fmt.Sprintf("The end of %02d.", i),
			schema:      []byte(`{"properties":{"owner":{"description":"The account.","type":"string"},"repo":{"description":"The name.","type":"string"},"state":{"enum":["open","closed","all"],"type":"string"}},"required":["owner","repo"],"type":"object"}`),
		}
		l.tools, l.known[r.raw] = append(l.tools, r), r
	}
	set.links[dir] = []*link{l}
	return set, dir
}

func size(tools []toolapi.Tool) int {
	n := 0
	for _, t := range tools {
		n += SpecSize(t.Spec)
	}
	return n
}

// What 50 tools cost in each request.
func TestSpecBudget(t *testing.T) {
	t.Parallel()
	set, dir := fifty(t)
	whole, brief := 0, size(set.within(dir, orAll(nil), 1<<30))
	for _, o := range set.offered(dir, orAll(nil)) {
		whole += SpecSize(toolapi.Spec{Name: o.spec.public, Description: o.spec.description, Schema: o.spec.schema})
	}
	pair := set.Tools(dir, nil)
	t.Logf("mcp: 50 tools: %d bytes as they are, %d with short descriptions, %d with %s and %s", whole, brief, size(pair), SearchTool, CallTool)
	if diff := cmp.Diff([]string{CallTool, SearchTool}, names(pair)); diff != "" {
		t.Error(diff)
	}
	if size(pair) > 1500 || brief >= whole {
		t.Errorf("%d and %d bytes", size(pair), brief)
	}
	if all := names(set.within(dir, orAll(nil), 1<<30)); len(all) != 51 || !slices.IsSorted(all[:50]) || all[50] != SearchTool {
		t.Errorf("got %v", all)
	}
	if few := names(set.within(dir, orAll(nil), brief)); len(few) != 2 && len(few) != 51 {
		t.Errorf("got %v", few)
	}
}

// Whatever its name, a call is checked by the tool that it is for.
func TestCallAccess(t *testing.T) {
	t.Parallel()
	set, dir := fifty(t)
	pair := set.Tools(dir, nil)
	access := func(tool toolapi.Tool, input string) string {
		own := []byte(input)
		if tool.Means != nil {
			meant, inner, err := tool.Means(t.Context(), own)
			if err != nil {
				return fmt.Sprint([]pawl.Access(nil), err)
			}
			tool, own = meant, inner
		}
		list, err := tool.Access(t.Context(), toolapi.Call{Input: own})
		return fmt.Sprint(list, err)
	}
	for input, want := range map[string]string{
		`{"tool":"mcp__hub__tool_07","input":{"a":1}}`:         "[mcp hub/tool_07@0123456789abcdef] <nil>",
		`{"tool":"mcp__hub__tool_99","input":{}}`:              `[] there is no tool "mcp__hub__tool_99": look for it with mcp_search`,
		`{"tool":"bash","input":{}}`:                           `[] there is no tool "bash": look for it with mcp_search`,
		`{"tool":"mcp__hub__tool_07","input":[]}`:              `[] wrong input for mcp_call: the field "input" is not a JSON object`,
		`{"tool":"mcp__hub__tool_07"}`:                         `[] wrong input for mcp_call: the field "input" is not a JSON object`,
		`{"tool":"mcp__hub__tool_07","input":{},"tool":"x"}`:   "",
		`{"tool":"mcp__hub__tool_07","input":{},"server":"x"}`: "",
	} {
		got := access(pair[0], input)
		if want == "" && !strings.HasPrefix(got, "[] wrong input for mcp_call") || want != "" && got != want {
			t.Errorf("%s: %s", input, got)
		}
	}
	if pair[0].Risk != toolapi.RiskModerate || pair[1].Risk != toolapi.RiskSafe || access(pair[1], `{}`) != "[] <nil>" {
		t.Error("the search is not safe, or the call is")
	}
	own := set.within(dir, orAll(nil), 1<<30)[7]
	if got := access(own, `{}`); got != "[mcp hub/tool_07@0123456789abcdef] <nil>" {
		t.Errorf("by its own name: %s", got)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	set, dir := fifty(t)
	search := set.Tools(dir, nil)[1]
	find := func(input string) string {
		r, err := search.Run(t.Context(), toolapi.Call{Input: []byte(input)})
		if err != nil {
			return "error: " + err.Error()
		}
		return r.Content
	}
	for input, want := range map[string]string{
		`{}`:                                  "mcp__hub__tool_49: Lists the issues of a repository.",
		`{"query":"TOOL_31"}`:                 "mcp__hub__tool_31: Lists the issues of a repository.",
		`{"query":"issues tool_31"}`:          "mcp__hub__tool_31",
		`{"query":"weather"}`:                 `No tool has a word of "weather".`,
		`{"tools":["mcp__hub__tool_31"]}`:     "The end of 31.",
		`{"tools":["x"]}`:                     `error: there is no tool "x"`,
		`{"tools":["a","b","c","d","e","f"]}`: "error: wrong input for mcp_search: ask for at most 5 tools",
	} {
		if got := find(input); !strings.Contains(got, want) || len(got) > searchBytes+1000 {
			t.Errorf("%s: %s", input, got)
		}
	}
	if got := find(`{"query":"issues tool_31"}`); !strings.HasPrefix(got, "mcp__hub__tool_31") {
		t.Errorf("the best is not the first: %.100s", got)
	}
	if got := search.Description; !strings.Contains(got, "hub (50 tools)") {
		t.Error(got)
	}
}

// Who may have some tools is offered those, finds those and can call those.
func TestKeep(t *testing.T) {
	t.Parallel()
	set, dir := fifty(t)
	keep := func(name string) bool { return name == "mcp__hub" || name == "mcp__hub__tool_07" }
	if got := names(set.Tools(dir, keep)); !slices.Equal(got, []string{"mcp__hub__tool_07", SearchTool}) {
		t.Errorf("offered: %v", got)
	}
	pair := set.within(dir, keep, 1)
	if got := pair[1].Description; !strings.Contains(got, "hub (1 tools)") {
		t.Error(got)
	}
	r, err := pair[1].Run(t.Context(), toolapi.Call{Input: []byte(`{}`)})
	if err != nil || strings.Count(r.Content, "mcp__hub__") != 1 || !strings.Contains(r.Content, "Call them with mcp_call.") {
		t.Errorf("%q, %v", r.Content, err)
	}
	for _, name := range []string{"mcp__hub__tool_07", "mcp__hub__tool_08"} {
		kept := name == "mcp__hub__tool_07"
		_, _, err := pair[0].Means(t.Context(), []byte(`{"tool":"`+name+`","input":{}}`))
		_, described := pair[1].Run(t.Context(), toolapi.Call{Input: []byte(`{"tools":["` + name + `"]}`)})
		_, found := set.Tool(t.Context(), dir, name, keep)
		if diff := cmp.Diff([]bool{kept, kept, kept}, []bool{err == nil, described == nil, found}); diff != "" {
			t.Errorf("%s: called, described, found:\n%s", name, diff)
		}
	}
	none := func(string) bool { return false }
	for _, name := range []string{SearchTool, CallTool} {
		_, some := set.Tool(t.Context(), dir, name, keep)
		_, any := set.Tool(t.Context(), dir, name, none)
		if !some || any {
			t.Errorf("%s: %v, for who may have nothing %v", name, some, any)
		}
	}
	if got := set.Tools(dir, none); got != nil {
		t.Errorf("who may have none is offered %v", names(got))
	}
}
