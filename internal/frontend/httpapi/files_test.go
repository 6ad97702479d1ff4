package httpapi_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
)

// worked returns the path of a session whose first turn has written the file a.
func (b *testServer) worked(text string) string {
	b.Helper()
	id := b.create()
	path := "/v1/sessions/" + string(id)
	b.ask(202, "POST", path+"/prompts", prompt(b.script(`{"calls":[{"name":"write","input":{"path":"a","content":"`+text+`"}}]}`, `{"text":"Done."}`), ""), new(api.Accepted))
	b.finished(id)
	return path
}

func diffRoute(b *testServer) {
	path := b.worked("<b>\\n")
	for _, query := range []string{"", "?turn=1", "?turn=1&path=a", "?working_tree=false"} {
		var d pawl.Diff
		b.ask(200, "GET", path+"/diff"+query, "", &d)
		if len(d.Files) != 1 || d.Files[0].Path != "a" || d.Added != 1 || !strings.HasSuffix(d.Files[0].Patch, "@@ -0,0 +1 @@\n+<b>\n") {
			b.Errorf("%s: %+v", query, d)
		}
	}
	b.refused(404, pawl.CodeNotFound, "GET", path+"/diff?turn=2", "")
	b.refused(404, pawl.CodeNotFound, "GET", path+"/diff?working_tree=true", "")
	for _, query := range []string{"turn=0", "turn=x", "working_tree=x", "turn=1&working_tree=1", "path=..%2Fb"} {
		b.refused(400, pawl.CodeInvalid, "GET", path+"/diff?"+query, "")
	}
	b.refused(404, pawl.CodeNotFound, "GET", nobody+"/diff", "")
}

// TestComments: the comments of a prompt are text that the model reads.
func TestComments(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	id := b.create()
	path := "/v1/sessions/" + string(id) + "/prompts"
	send := func(line string) string {
		return `{"parts":[{"type":"text","text":"go"}],"model":"` + b.script(`{"expect":"main.go:7\\n> x\\nWhy\\\\?","text":"Done."}`) + `","comments":[{"path":"main.go","line":` + line + `,"quote":"x","text":"Why?"}]}`
	}
	b.refused(400, pawl.CodeInvalid, "POST", path, send("0"))
	b.ask(202, "POST", path, send("7"), new(api.Accepted))
	b.finished(id)
	events := b.send(request{method: "GET", path: "/v1/sessions/" + string(id) + "/log"}).text
	if !strings.Contains(events, `main.go:7\n> x\nWhy?`) || !strings.Contains(events, "Done.") {
		b.Errorf("the log is %s", events)
	}
}

func readRoute(b *testServer) {
	path := b.worked("<script>")
	got := b.send(request{method: "GET", path: path + "/file?path=a&offset=1&length=6"})
	if got.status != 200 || got.text != "script" || got.header.Get("Content-Type") != "text/plain; charset=utf-8" || got.header.Get("X-File-Size") != "8" {
		b.Errorf("got %+v", got)
	}
	if policy := got.header.Get("Content-Security-Policy"); !strings.HasSuffix(policy, "sandbox") || got.header.Get("Content-Disposition") != "attachment" {
		b.Errorf("a browser may show it: %v", got.header)
	}
	b.refused(404, pawl.CodeNotFound, "GET", path+"/file?path=none", "")
	for _, query := range []string{"path=a&offset=-1", "path=a&length=x", "path=..%2Fa", "path="} {
		b.refused(400, pawl.CodeInvalid, "GET", path+"/file?"+query, "")
	}
	b.refused(404, pawl.CodeNotFound, "GET", nobody+"/file?path=a", "")
}
