package client_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-dev/pawl/internal/api"
)

// description is the published OpenAPI document, prepared for validation.
type description struct {
	Paths      map[string]map[string]operation
	Components struct {
		Schemas   map[string]json.RawMessage
		Responses map[string]message
	}
	mux *http.ServeMux // finds the operation of a request

	mu      sync.Mutex
	schemas map[string]*jsonschema.Resolved // resolved so far, by name
}

type operation struct {
	Name        string `json:"operationId"`
	RequestBody message
	Responses   map[string]message
}

// message is a body, or a reference to one.
type message struct {
	Ref     reference `json:"$ref"`
	Content map[string]struct {
		Schema struct {
			Ref reference `json:"$ref"`
		}
		Item struct {
			Ref reference `json:"$ref"`
		} `json:"x-item"`
	}
}

// reference is the last element of a $ref.
type reference string

func (r *reference) UnmarshalText(text []byte) error {
	*r = reference(path.Base(string(text)))
	return nil
}

func readDescription(t *testing.T) *description {
	t.Helper()
	text, err := os.ReadFile("../docs/schema/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	d := &description{schemas: map[string]*jsonschema.Resolved{}, mux: http.NewServeMux()}
	if err := json.Unmarshal(text, d); err != nil {
		t.Fatal(err)
	}
	for route, methods := range d.Paths {
		for method := range methods {
			d.mux.Handle(strings.ToUpper(method)+" "+route, http.NotFoundHandler())
		}
	}
	return d
}

// schema returns a named schema. It moves what the schema refers to from the OpenAPI
// location to the JSON Schema location.
func (d *description) schema(name string) (*jsonschema.Resolved, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.schemas[name]; s != nil {
		return s, nil
	}
	whole, err := json.Marshal(map[string]any{"$ref": "#/$defs/" + name, "$defs": d.Components.Schemas})
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(bytes.ReplaceAll(whole, []byte("#/components/schemas/"), []byte("#/$defs/")), &s); err != nil {
		return nil, err
	}
	resolved, err := s.Resolve(nil)
	d.schemas[name] = resolved
	return resolved, err
}

// check validates a text against a named schema.
func (d *description) check(name string, text []byte) error {
	s, err := d.schema(name)
	if err != nil {
		return fmt.Errorf("the document has no %q that can be used: %w", name, err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	return s.Validate(v)
}

// operation returns the operation of a request, or nil if the document has none.
func (d *description) operation(r *http.Request) *operation {
	_, pattern := d.mux.Handler(r)
	_, route, found := strings.Cut(pattern, " ")
	if !found {
		return nil
	}
	o := d.Paths[route][strings.ToLower(r.Method)]
	return &o
}

// proof records the traffic with a server and checks that requests and responses
// match the document.
type proof struct {
	*description

	answered map[string]map[int]int // number of responses by route and status
	seen     map[string]bool        // checked lines of streams and logs
	faults   []string
}

func newProof(t *testing.T) *proof {
	t.Helper()
	return &proof{description: readDescription(t), answered: map[string]map[int]int{}, seen: map[string]bool{}}
}

func (p *proof) fault(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, fmt.Sprintf(format, args...))
}

// report fails the test for every mismatch.
func (p *proof) report(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, fault := range p.faults {
		t.Error(fault)
	}
	if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return // only a part of the contract ran
	}
	for _, r := range api.Routes {
		if p.answered[r.Name][r.Status] == 0 {
			t.Errorf("%s was never answered with %d: ask for it in the contract or in askOthers, or its answer may be anything", r.Name, r.Status)
		}
	}
}

// along is a RoundTripper that checks requests and responses.
type along struct {
	*proof
	way http.RoundTripper
}

func (a along) RoundTrip(r *http.Request) (*http.Response, error) {
	o := a.operation(r)
	if o == nil {
		a.fault("%s %s is not in the document", r.Method, r.URL.Path)
		return a.way.RoundTrip(r)
	}
	var sent []byte
	if r.Header.Get("Content-Type") == string(api.FormJSON) {
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	resp, err := a.way.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if sent != nil && resp.StatusCode < 300 {
		if err := a.check(string(o.RequestBody.Content[string(api.FormJSON)].Schema.Ref), sent); err != nil {
			a.fault("%s took %s: %v", o.Name, sent, err)
		}
	}
	return resp, a.answer(o, resp)
}

// answer checks a response, or wraps its body to check it while it is read.
func (p *proof) answer(o *operation, resp *http.Response) error {
	p.mu.Lock()
	if p.answered[o.Name] == nil {
		p.answered[o.Name] = map[int]int{}
	}
	p.answered[o.Name][resp.StatusCode]++
	p.mu.Unlock()
	m, ok := o.Responses[strconv.Itoa(resp.StatusCode)]
	if !ok {
		p.fault("%s answered %d, which is not in the document", o.Name, resp.StatusCode)
	}
	if m.Ref != "" {
		m = p.Components.Responses[string(m.Ref)]
	}
	form, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	media, ok := m.Content[form]
	switch {
	case len(m.Content) == 0 && form == "":
		return nil
	case !ok:
		p.fault("%s answered %d with %q, which is not in the document", o.Name, resp.StatusCode, form)
	case form == string(api.FormJSON):
		return p.whole(o, resp, string(media.Schema.Ref))
	case form == string(api.FormBytes) || media.Item.Ref == "": // any content
	default:
		resp.Body = &lines{ReadCloser: resp.Body, proof: p, name: o.Name, item: string(media.Item.Ref), stream: form == string(api.FormStream)}
	}
	return nil
}

// whole checks a response that is one JSON value.
func (p *proof) whole(o *operation, resp *http.Response, name string) error {
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if err := resp.Body.Close(); err != nil {
		return err
	}
	resp.Body = io.NopCloser(bytes.NewReader(text))
	if name == "" && (o.Name == "getOpenAPI" || o.Name == "getMissionReport") {
		return nil // the document itself has no schema, nor has the report, which is for archives
	}
	if err := p.check(name, text); err != nil {
		p.fault("%s answered %s: %v", o.Name, text, err)
	}
	return nil
}

// lines checks a body of one event per line, or an event stream.
type lines struct {
	io.ReadCloser
	*proof
	name, item string
	stream     bool
	isError    bool   // the next data line is an error
	rest       []byte // an incomplete line
}

func (l *lines) Read(buf []byte) (int, error) {
	n, err := l.ReadCloser.Read(buf)
	l.rest = append(l.rest, buf[:n]...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			return n, err
		}
		l.line(line)
		l.rest = bytes.Clone(rest)
	}
}

func (l *lines) line(line []byte) {
	if l.stream {
		field, value, _ := bytes.Cut(line, []byte(": "))
		switch string(field) {
		case "event":
			l.isError = true
			return
		case "data":
			line = value
		default:
			return
		}
	}
	item := l.item
	switch {
	case l.isError:
		item = "Fault"
	case bytes.Contains(line, []byte(`"outcome":"maybe"`)):
		return // the contract has one log that Pawl did not write
	}
	if !l.first(line) {
		return
	}
	if err := l.check(item, line); err != nil {
		l.fault("%s sent %s: %v", l.name, line, err)
	}
}

// first reports whether a line is new: the same logs are read often.
func (p *proof) first(line []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen[string(line)]
	p.seen[string(line)] = true
	return !seen
}
