package mcp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// fifty is a set with one server of 50 tools, as large as real ones are, that is
// never called.
func fifty(t *testing.T) (*Servers, string) {
	t.Helper()
	set, dir := New(Config{}), "/work"
	l := newLink(set.config, dir, Server{Name: "hub", Transport: Stdio, Command: "hub"})
	close(l.gone)
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

func size(tools []pawl.Tool) int {
	n := 0
	for _, t := range tools {
		n += SpecSize(t.ToolSpec)
	}
	return n
}

// What 50 tools cost in each request.
func TestSpecBudget(t *testing.T) {
	set, dir := fifty(t)
	whole, brief := 0, size(set.Tools(dir, 1<<30))
	for _, o := range set.offered(dir) {
		whole += SpecSize(pawl.ToolSpec{Name: o.spec.public, Description: o.spec.description, Schema: o.spec.schema})
	}
	pair := set.Tools(dir, 0)
	t.Logf("mcp: 50 tools: %d bytes as they are, %d with short descriptions, %d with %s and %s", whole, brief, size(pair), SearchTool, CallTool)
	if diff := cmp.Diff([]string{CallTool, SearchTool}, names(pair)); diff != "" {
		t.Error(diff)
	}
	if size(pair) > 1500 || brief >= whole {
		t.Errorf("%d and %d bytes", size(pair), brief)
	}
	if all := names(set.Tools(dir, 1<<30)); len(all) != 51 || !slices.IsSorted(all[:50]) || all[50] != SearchTool {
		t.Errorf("got %v", all)
	}
	if few := names(set.Tools(dir, brief)); len(few) != 2 && len(few) != 51 {
		t.Errorf("got %v", few)
	}
}

// Whatever its name, a call is judged by the tool that it is for.
func TestCallAccess(t *testing.T) {
	set, dir := fifty(t)
	pair := set.Tools(dir, 0)
	access := func(tool pawl.Tool, input string) string {
		list, err := tool.Access(t.Context(), pawl.Call{Input: []byte(input)})
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
	if pair[0].Risk != pawl.RiskModerate || pair[1].Risk != pawl.RiskSafe || access(pair[1], `{}`) != "[] <nil>" {
		t.Error("the search is not safe, or the call is")
	}
	own := set.Tools(dir, 1<<30)[7]
	if got := access(own, `{}`); got != "[mcp hub/tool_07@0123456789abcdef] <nil>" {
		t.Errorf("by its own name: %s", got)
	}
}

func TestSearch(t *testing.T) {
	set, dir := fifty(t)
	search := set.Tools(dir, 0)[1]
	find := func(input string) string {
		r, err := search.Run(t.Context(), pawl.Call{Input: []byte(input)})
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
