package httpapi_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
	"github.com/pawl-dev/pawl/internal/store/storetest"
)

// maxOpened limits what a client receives before it can show the end of a session, in bytes.
const maxOpened = 100_000

// TestLongSession checks that opening a session of 10,000 items transfers little before its last screen is
// complete, over a stream and as a page.
func TestLongSession(t *testing.T) { //nolint:paralleltest // it sets environment variables
	h := servicetest.Local(t)
	b := newTestServer(t, h.Service)
	id := storetest.NewID()
	events := []pawl.Event{{Body: pawl.SessionCreated{Dir: b.dir}}}
	add := func(turn int, body pawl.Body) {
		events = append(events, pawl.Event{Turn: turn, At: time.Unix(int64(turn), 0), Body: body})
	}
	output := strings.Repeat("ok  \texample.com/some/package\t0.123s\n", 60)
	for turn := 1; turn <= 2000; turn++ { // five items each
		add(0, pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: fmt.Sprintf("Please fix number %d.", turn)}}})
		prompt := pawl.Seq(len(events))
		add(turn, pawl.TurnStarted{Prompt: prompt})
		add(turn, pawl.ReplyStarted{Step: 1})
		call := pawl.CallID(fmt.Sprintf("call_%d", turn))
		add(turn, pawl.Replied{Step: 1, Parts: pawl.Parts{
			pawl.Reasoning{Text: "I look for the fault, and run the tests."}, pawl.Text{Text: strings.Repeat("I will run the tests of the package. ", 5)},
			pawl.ToolCall{ID: call, Name: "bash", Input: []byte(`{"command":"go test ./..."}`)},
		}})
		add(turn, pawl.CallStarted{Call: call, Tool: "bash"})
		add(turn, pawl.CallFinished{Call: call, Status: pawl.CallDone, Result: pawl.Result{Content: output}})
		add(turn, pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: 1})
	}
	if _, err := h.Store.Append(t.Context(), id, 0, events...); err != nil {
		t.Fatal(err)
	}
	path := "/v1/sessions/" + string(id) + "/items"
	s := b.stream(path+"/stream", "read", "")
	var first api.ItemChange
	s.message(&first)
	text, err := json.Marshal(first)
	if err != nil || len(first.Items) != 50 || !first.More || len(text) > maxOpened {
		t.Errorf("the stream begins with %d items in %d bytes, %v", len(first.Items), len(text), err)
	}
	resp, err := b.http.Do(b.request(request{method: "GET", path: path, header: map[string]string{"Accept-Encoding": "gzip"}}))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	counted := &counter{Reader: resp.Body}
	unzipped, err := gzip.NewReader(counted)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(unzipped)
	if err != nil || counted.n > maxOpened/10 {
		t.Errorf("a page of %d bytes takes %d on the wire, %v", len(page), counted.n, err)
	}
	t.Logf("first message %d bytes; page %d bytes, compressed %d", len(text), len(page), counted.n)
}

// counter counts what is read.
type counter struct {
	io.Reader
	n int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}
