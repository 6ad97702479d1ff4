//go:build wire

package provider

import (
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/anthropic"
	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
	"github.com/pawl-dev/pawl/internal/model/gemini"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	"github.com/pawl-dev/pawl/internal/model/openaichat"
	"github.com/pawl-dev/pawl/internal/model/protocol"
	"github.com/pawl-dev/pawl/internal/model/responses"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// faultRow is a fault of a provider and what happens to the call.
type faultRow struct {
	fault    string
	times    int            // how many requests it hits; 0 means all
	requests int            // that the client makes
	kind     pawl.ErrorKind // of the error that it ends with
	finish   pawl.Finish    // or of the reply
	calls    int            // in the reply
	wait     time.Duration  // it takes at least so long
}

var faultRows = []faultRow{
	{"401", 0, 1, pawl.ErrorAuth, "", 0, 0},
	{"403", 0, 1, pawl.ErrorAuth, "", 0, 0},
	{"400", 0, 1, pawl.ErrorInvalid, "", 0, 0},
	{"404", 0, 1, pawl.ErrorInvalid, "", 0, 0},
	{"413", 0, 1, pawl.ErrorOverflow, "", 0, 0},
	{"overflow", 0, 1, pawl.ErrorOverflow, "", 0, 0},
	{"overflow_late", 0, 1, pawl.ErrorOverflow, "", 0, 0},
	{"429:1", 1, 2, "", pawl.FinishToolUse, 1, time.Second},
	{"429", 1, 2, "", pawl.FinishToolUse, 1, 0},
	{"500", 1, 2, "", pawl.FinishToolUse, 1, 0},
	{"502", 1, 2, "", pawl.FinishToolUse, 1, 0},
	{"503", 1, 2, "", pawl.FinishToolUse, 1, 0},
	{"529", 1, 2, "", pawl.FinishToolUse, 1, 0},
	{"500", 0, 1 + maxRetries, pawl.ErrorServer, "", 0, 0},
	{"429", 0, 1 + maxRetries, pawl.ErrorRateLimited, "", 0, 0},
	{"529", 0, 1 + maxRetries, pawl.ErrorOverloaded, "", 0, 0},
	{"overloaded", 1, 2, "", pawl.FinishToolUse, 1, 0},
	{"stream_error", 1, 2, "", pawl.FinishToolUse, 1, 0},
	{"drop_first", 1, 2, "", pawl.FinishToolUse, 1, 0},
	{"drop", 1, 2, "", pawl.FinishToolUse, 1, 0},
	{"drop_in_call", 1, 2, "", pawl.FinishToolUse, 1, 0},
	{"drop", 0, 1 + maxRetries, pawl.ErrorConnection, "", 0, 0},
	{"silence:0", 1, 2, "", pawl.FinishToolUse, 1, faultIdle},
	{"hang", 1, 2, "", pawl.FinishToolUse, 1, faultIdle},
	{"dribble:0", 0, 1, "", pawl.FinishToolUse, 1, 0},
	{"malformed", 1, 2, "", pawl.FinishToolUse, 1, 0},
	{"no_end", 1, 2, "", pawl.FinishToolUse, 1, 0},
	{"empty", 1, 2, "", pawl.FinishToolUse, 1, 0},
	{"empty", 0, 1 + emptyRetries, pawl.ErrorEmpty, "", 0, 0},
	{"refusal", 0, 1, pawl.ErrorRefused, "", 0, 0},
	{"duplicate_ids", 0, 1, "", pawl.FinishToolUse, 2, 0},
	{"unknown_tool", 0, 1, "", pawl.FinishToolUse, 1, 0},
	{"huge:1048576", 0, 1, "", pawl.FinishToolUse, 1, 0},
	{"huge:17000000", 1, 2, "", pawl.FinishToolUse, 1, 0}, // over the limit of a line
}

// ownRows are the faults that the protocols tell in different ways. Arguments
// that are not JSON reach the tool, which refuses them; Gemini has objects and
// says itself that it failed. A call that was cut off is refused by the loop,
// where the protocol shows it at all.
var ownRows = map[string][]faultRow{
	"messages":  {{"garbage", 0, 1, "", pawl.FinishToolUse, 1, 0}, {"cut_arguments", 0, 1, "", pawl.FinishMaxTokens, 1, 0}},
	"chat":      {{"garbage", 0, 1, "", pawl.FinishToolUse, 1, 0}, {"cut_arguments", 0, 1, "", pawl.FinishMaxTokens, 1, 0}},
	"responses": {{"garbage", 0, 1, "", pawl.FinishToolUse, 1, 0}, {"cut_arguments", 0, 1, "", pawl.FinishMaxTokens, 0, 0}},
	"gemini":    {{"garbage", 1, 2, "", pawl.FinishToolUse, 1, 0}, {"cut_arguments", 0, 1, "", pawl.FinishMaxTokens, 0, 0}},
}

const faultIdle = 300 * time.Millisecond

// TestFaults: each fault of the table over each protocol, on a real connection.
func TestFaults(t *testing.T) {
	t.Parallel()
	var passed, all atomic.Int64
	t.Cleanup(func() { t.Logf("faults: %d of %d", passed.Load(), all.Load()) })
	for name, client := range map[string]func(protocol.Endpoint) model.Model{
		"messages": func(e protocol.Endpoint) model.Model {
			e.Header = http.Header{"Anthropic-Version": {anthropic.Version}}
			return &anthropic.Client{Endpoint: e, Model: "m"}
		},
		"chat": func(e protocol.Endpoint) model.Model {
			e.BaseURL += "/v1"
			return &openaichat.Client{Endpoint: e, Model: "m"}
		},
		"responses": func(e protocol.Endpoint) model.Model {
			e.BaseURL += "/v1"
			return &responses.Client{Endpoint: e, Model: "m"}
		},
		"gemini": func(e protocol.Endpoint) model.Model { return &gemini.Client{Endpoint: e, Model: "m"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, row := range append(slices.Clone(faultRows), ownRows[name]...) {
				all.Add(1)
				if t.Run(row.fault, func(t *testing.T) { row.run(t, client) }) {
					passed.Add(1)
				}
			}
		})
	}
}

func (row faultRow) run(t *testing.T, client func(protocol.Endpoint) model.Model) {
	fault, err := fakeprovider.ParseFault(row.fault)
	if err != nil {
		t.Fatal(err)
	}
	line := `{"text":"let me look at it first","deltas":4,"calls":[{"name":"read","input":{"path":"a.txt"}}],"usage":{"input":10,"output":5}}`
	server := modeltest.StartFake(t, fakeprovider.Config{Fault: func(n int, _ *http.Request) fakeprovider.Fault {
		if row.times > 0 && n > row.times {
			return fakeprovider.Fault{}
		}
		return fault
	}}, line)
	idle := time.Minute
	if row.wait == faultIdle {
		idle = faultIdle
	}
	m := client(protocol.Endpoint{BaseURL: server.URL, Idle: idle})
	p := retrying{models: []named{{"m", m}}, first: time.Millisecond}

	began := time.Now()
	got := faultRow{fault: row.fault, times: row.times, wait: row.wait}
	text := ""
	for c, err := range p.Stream(t.Context(), model.Request{
		Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: "go"}}}},
		Tools:    []toolapi.Spec{{Name: "read", Description: "reads", Schema: []byte(`{"type":"object"}`)}},
	}) {
		var failure *model.ProviderError
		switch {
		case errors.As(err, &failure):
			got.kind = failure.Kind
		case err != nil:
			t.Fatal(err)
		case c.Kind == model.ChunkRetry:
			text, got.calls = "", 0
		case c.Kind == model.ChunkText:
			text += c.Text
		case c.Kind == model.ChunkCall:
			got.calls++
		case c.Kind == model.ChunkFinish:
			got.finish = c.Finish
		}
	}
	if got.kind != "" {
		got.calls = 0
	}
	got.requests = len(server.Requests())
	if diff := cmp.Diff(row, got, cmp.AllowUnexported(faultRow{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if took := time.Since(began); took < row.wait {
		t.Errorf("it took %s, want at least %s", took, row.wait)
	}
	if row.kind == "" && fault.Kind != fakeprovider.KindHuge && text != "let me look at it first" {
		t.Errorf("the reply's text is %q", text)
	}
}
