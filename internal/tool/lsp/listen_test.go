package lsp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a server may leave in memory is bounded, however it names things.
func TestListenBounds(t *testing.T) {
	t.Parallel()
	s := &server{dir: "/ws", change: make(chan struct{}), docs: map[string]*document{}, verdicts: map[string]*verdict{}, work: map[string]bool{}}
	notify := func(method, params string) { s.notification(method, json.RawMessage(params)) }
	for _, path := range []string{"/ws/a", "/ws/" + strings.Repeat("x", pathBytes), "/wsx/a", "/etc/passwd", "/ws/../etc/x", "a"} {
		notify("textDocument/publishDiagnostics", fmt.Sprintf(`{"uri":"file://%s","diagnostics":[{"message":"m"}]}`, path))
	}
	notify("textDocument/publishDiagnostics", `{"uri":7}`)
	if _, ok := s.verdicts["/ws/a"]; !ok || len(s.verdicts) != 1 {
		t.Errorf("%d verdicts", len(s.verdicts))
	}
	notify("textDocument/publishDiagnostics", `{"uri":"file:///ws/a","diagnostics":[]}`)
	if len(s.verdicts) != 0 {
		t.Error("a verdict that says nothing is kept")
	}

	notify("$/progress", fmt.Sprintf(`{"token":%q,"value":{"kind":"begin"}}`, strings.Repeat("x", idBytes)))
	for i := range 2 * openWork {
		notify("$/progress", fmt.Sprintf(`{"token":%d,"value":{"kind":"begin"}}`, i))
	}
	if len(s.work) != openWork {
		t.Errorf("%d pieces of work", len(s.work))
	}
	for i := range 2 * openWork {
		notify("$/progress", fmt.Sprintf(`{"token":%d,"value":{"kind":"report"}}`, i))
		notify("$/progress", fmt.Sprintf(`{"token":%d,"value":{"kind":"end"}}`, i))
	}
	if diff := cmp.Diff([]int{0, openWork}, []int{len(s.work), s.revision}); diff != "" {
		t.Error(diff)
	}
}
