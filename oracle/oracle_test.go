// Package oracle holds the model clients against the vendors' own SDKs: each
// recorded stream must decode to the same reply in both. It is a module of its
// own, so that the SDKs are no part of pawl.
package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
)

// reply is what a stream said, in terms that both sides have.
type reply struct {
	Text       string
	Reasoning  string
	Signatures []string // in order; what is in one depends on the protocol
	Calls      []call
	Usage      usage
	Finish     pawl.Finish
	Err        string // why the stream could not be read
}

type call struct {
	ID, Name string
	Args     string // keys sorted; a call without arguments has {}
}

type usage struct {
	Input     int64 // the whole prompt, the cache's part included
	Cached    int64 // the part of it that came from the cache
	Written   int64 // the part of it that went to the cache
	Output    int64 // reasoning included
	Reasoning int64
}

// fields returns the reply's, by the names that the tables of differences use.
func (r reply) fields() map[string]any {
	return map[string]any{
		"text": r.Text, "reasoning": r.Reasoning, "signatures": r.Signatures, "calls": r.Calls, "finish": r.Finish, "error": r.Err,
		"usage.input": r.Usage.Input, "usage.cached": r.Usage.Cached, "usage.written": r.Usage.Written,
		"usage.output": r.Usage.Output, "usage.reasoning": r.Usage.Reasoning,
	}
}

// difference is one that is the SDK's own, and why.
type difference struct {
	folder string // a pattern for the recording's directory
	field  string
	reason string
}

// protocol is what is compared.
type protocol struct {
	name    string
	streams []modeltest.Exchange
	// model returns our client of a server that answers with the stream, and what to ask it.
	model func(x modeltest.Exchange, url string) (model.Model, model.Request)
	// signature returns what our part's signature seals, in the SDK's terms.
	signature func(p pawl.Part) []string
	// theirs reads the stream by the SDK.
	theirs func(ctx context.Context, x modeltest.Exchange, url string) (reply, error)
	known  []difference
}

// recorded returns the streams whose URL contains one of the parts.
func recorded(t *testing.T, parts ...string) []modeltest.Exchange {
	t.Helper()
	if os.Getenv("PAWL_WIRE") == "" {
		t.Setenv("PAWL_WIRE", "../../shared/wire") // beside the repository, not beside this module
	}
	var streams []modeltest.Exchange
	for _, part := range parts {
		for _, x := range modeltest.Cassettes(t, part) {
			if strings.HasPrefix(x.ContentType, "text/event-stream") || strings.HasPrefix(x.ContentType, "application/vnd.amazon.eventstream") {
				streams = append(streams, x)
			}
		}
	}
	if len(streams) == 0 {
		t.Fatalf("no recorded stream of %v", parts)
	}
	return streams
}

// compare reads each stream on both sides. A difference that is not in the
// table fails the test, and so does a row of the table that no stream needs.
func (p protocol) compare(t *testing.T) {
	t.Helper()
	agree, seen := 0, make([]int, len(p.known))
	var calls, thoughts, signatures int
	for _, x := range p.streams {
		theirs, same := p.compareOne(t, x, seen)
		if same {
			agree++
		}
		if theirs.Reasoning != "" {
			thoughts++
		}
		calls += len(theirs.Calls)
		signatures += len(theirs.Signatures)
	}
	t.Logf("the SDK read %d calls, %d signatures, and thoughts in %d streams", calls, signatures, thoughts)
	for i, d := range p.known {
		t.Logf("known: %s of %s, %d streams: %s", d.field, d.folder, seen[i], d.reason)
		if seen[i] == 0 {
			t.Errorf("no stream of %s differs in %s any more: take the row out of the table", d.folder, d.field)
		}
	}
	t.Logf("oracle: %d of %d streams agree (%s)", agree, len(p.streams), p.name)
}

// compareOne returns the SDK's reply and whether ours agrees, known differences
// aside, which it counts in seen.
func (p protocol) compareOne(t *testing.T, x modeltest.Exchange, seen []int) (reply, bool) {
	t.Helper()
	url := modeltest.Serve(t, x)
	m, req := p.model(x, url)
	ours := p.ours(t.Context(), m, req)
	theirs, err := p.theirs(t.Context(), x, url)
	if err != nil {
		theirs.Err = err.Error()
	}
	agree, want := true, theirs.fields()
	for field, got := range ours.fields() {
		diff := cmp.Diff(want[field], got)
		if diff == "" {
			continue
		}
		if i := p.find(x, field); i >= 0 {
			seen[i]++
			continue
		}
		agree = false
		t.Errorf("%s %d: %s (-sdk +ours):\n%s", x.File, x.Index, field, diff)
	}
	return theirs, agree
}

// find returns the row of a known difference, -1 for none.
func (p protocol) find(x modeltest.Exchange, field string) int {
	for i, d := range p.known {
		if ok, err := path.Match(d.folder, path.Dir(x.File)); err == nil && ok && d.field == field {
			return i
		}
	}
	return -1
}

// ours reads a stream by our client.
func (p protocol) ours(ctx context.Context, m model.Model, req model.Request) reply {
	read, err := modeltest.Read(ctx, m, req)
	if err != nil {
		return reply{Err: err.Error()}
	}
	u := read.Usage
	r := reply{
		Text: read.Parts.Text(), Reasoning: read.Reasoning(), Finish: read.Finish,
		Usage: usage{
			Input: u.Input + u.CacheRead + u.CacheWrite, Cached: u.CacheRead, Written: u.CacheWrite,
			Output: u.Output, Reasoning: u.Reasoning,
		},
	}
	for _, part := range read.Parts {
		r.Signatures = append(r.Signatures, p.signature(part)...)
	}
	for _, c := range read.Parts.Calls() {
		r.Calls = append(r.Calls, call{string(c.ID), c.Name, canonical(c.Input)})
	}
	return r
}

// canonical writes JSON with its keys sorted and its numbers as they are. What
// is not JSON it returns as it is.
func canonical(raw []byte) string {
	if len(raw) == 0 {
		return "{}"
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return fmt.Sprintf("not JSON (%v): %s", err, raw)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("not JSON (%v): %s", err, raw)
	}
	return string(out)
}
