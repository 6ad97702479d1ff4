package api

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
)

// OpenAPI returns the OpenAPI 3.1 document, generated from [Routes], the types that
// they name and the comments in the code.
func OpenAPI() (any, error) {
	d := document{
		OpenAPI: "3.1.0",
		Info: info{
			Title: "pawl", Version: "1", License: license{"Apache-2.0", "Apache-2.0"},
			Description: about,
		},
		// The address that the guide uses; --listen can set another one.
		Servers:  []server{{"http://127.0.0.1:4747", "pawl serve --listen 127.0.0.1:4747"}},
		Security: []map[string][]string{{"token": {}}},
		Tags:     tags,
		Paths:    map[string]map[string]operation{},
	}
	types := &typeSchemas{all: map[string]schema{}, types: map[string]reflect.Type{}}
	for _, r := range Routes {
		if d.Paths[r.Path] == nil {
			d.Paths[r.Path] = map[string]operation{}
		}
		d.Paths[r.Path][strings.ToLower(r.Method)] = r.operation(types)
	}
	if err := types.addEvents(); err != nil {
		return nil, err
	}
	d.Components = components{
		Schemas: types.all, Responses: faultResponses(types),
		Security: map[string]schema{"token": {"type": "http", "scheme": "bearer", "description": "Not needed on a Unix socket, which the file system protects."}},
	}
	return d, nil
}

// OpenAPIText returns the document as indented JSON, as it is published.
func OpenAPIText() ([]byte, error) {
	d, err := OpenAPI()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(d)
	return text.Bytes(), err
}

var pathParam = regexp.MustCompile(`\{(\w+)\}`)

func (r Route) operation(types *typeSchemas) operation {
	o := operation{
		ID: r.Name, Summary: r.Summary, Tags: []string{r.tag()}, Parameters: r.parameters(),
		Description: strings.TrimSpace(more[r.Name] + " Requires the scope `" + string(r.Scope) + "`."),
		Responses:   map[string]response{},
	}
	if r.Scope == ScopeNone {
		o.Description = strings.TrimSpace(more[r.Name] + " Requires no token.")
		o.Security = []map[string][]string{} // no token needed
	}
	if r.InForm != FormNone {
		o.Body = &body{Required: true, Content: content(types, r.InForm, r.In, examples[r.Name])}
	}
	good := response{Description: "Success."}
	if r.OutForm != FormNone {
		good.Content = content(types, r.OutForm, r.Out, nil)
	}
	for _, form := range r.Others {
		good.Content[form] = media{Schema: schema{"type": "string"}}
	}
	o.Responses[strconv.Itoa(r.Status)] = good
	for _, code := range r.faults() {
		o.Responses[strconv.Itoa(statuses[code])] = response{Ref: "#/components/responses/" + camel(string(code))}
	}
	return o
}

// parameters returns the path and query parameters and, for a stream, the
// Last-Event-ID header.
func (r Route) parameters() []parameter {
	var list []parameter
	for _, m := range pathParam.FindAllStringSubmatch(r.Path, -1) {
		p := parameter{Name: m[1], In: "path", Required: true, Description: "the ID of the session, a ULID", Schema: schema{"type": "string"}}
		switch m[1] {
		case "seq":
			p.Description, p.Schema = "the number of the event", schema{"type": "integer"}
		case "blob":
			p.Description = "the ID of the output"
		case "provider":
			p.Description = "the ID of the provider"
		case "server":
			p.Description = "the name of the MCP server"
		case "answer":
			p.Description = "the ID of the saved answer"
		}
		list = append(list, p)
	}
	for _, q := range r.Query {
		s := schema{"type": q.Kind}
		if q.Kind == "date-time" {
			s = schema{"type": "string", "format": q.Kind}
		}
		list = append(list, parameter{Name: q.Name, In: "query", Description: q.What, Schema: s})
	}
	if r.OutForm == FormStream {
		list = append(list, parameter{
			Name: "Last-Event-ID", In: "header", Schema: schema{"type": "integer"},
			Description: "the number of the last event received; overrides `after`",
		})
	}
	return list
}

// faults returns the error codes that a route can return.
func (r Route) faults() []pawl.Code {
	codes := []pawl.Code{pawl.CodeInvalid, CodeUnauthorized, pawl.CodeDenied, CodeLimited, pawl.CodeInternal, pawl.CodeUnavailable}
	if strings.Contains(r.Path, "{id}") || strings.HasPrefix(r.Path, managed) || r.InForm != FormNone || slices.Contains(r.Query, projectDir) {
		codes = append(codes, pawl.CodeNotFound) // something that the body refers to may not exist either
	}
	if r.InForm != FormNone {
		codes = append(codes, CodeTooLarge)
	}
	if r.Scope.Covers(ScopeRun) {
		codes = append(codes, pawl.CodeConflict, pawl.CodeBusy)
	}
	return codes
}

// faultResponses returns the error responses, by the name of their code.
func faultResponses(types *typeSchemas) map[string]response {
	all := map[string]response{}
	for code := range statuses {
		answer := response{Description: faultWords[code], Content: content(types, FormJSON, typeOf[Fault](), nil)}
		if code == CodeLimited || code == pawl.CodeUnavailable {
			answer.Headers = map[string]schema{"Retry-After": {"description": "seconds to wait before a retry", "schema": schema{"type": "integer"}}}
		}
		all[camel(string(code))] = answer
	}
	return all
}

// content describes a body. For OpenAPI, NDJSON and event streams are plain text; the
// schema of one line or event is in x-item.
func content(types *typeSchemas, form Form, t reflect.Type, example any) map[Form]media {
	s := schema{"type": "object"}
	if t != nil {
		s = types.of(t)
	}
	if form == FormJSON || form == FormBytes {
		return map[Form]media{form: {Schema: s, Example: example}}
	}
	return map[Form]media{form: {Schema: schema{"type": "string"}, Item: s}}
}

// addEvents adds a schema for each kind of event, and Event, which is one of them.
func (t *typeSchemas) addEvents() error {
	var kinds []schema
	for _, k := range sortedKinds() {
		body, version, err := zeroBody(k)
		if err != nil {
			return err
		}
		name := eventName(k)
		t.all[name] = schema{
			"type":        "object",
			"description": typeWords(reflect.TypeOf(body)),
			"properties": schema{
				"v":       schema{"type": "integer", "const": version, "description": "the version of the body's schema"},
				"session": schema{"type": "string", "description": "the ID of the session"},
				"seq":     schema{"type": "integer", "minimum": 1, "description": "the number of the event in the session's log, without gaps"},
				"turn":    schema{"type": "integer", "minimum": 1, "description": "the turn that the event belongs to; omitted outside of turns"},
				"at":      schema{"type": "string", "format": "date-time", "description": "the time of the event"},
				"type":    schema{"type": "string", "const": string(k)},
				"body":    t.of(reflect.TypeOf(body)),
			},
			"required": []string{"v", "session", "at", "type", "body"}, "additionalProperties": false,
		}
		if k.Durable() {
			t.all[name]["required"] = []string{"v", "session", "seq", "at", "type", "body"}
		} else {
			delete(t.all[name]["properties"].(schema), "seq") //nolint:forcetypeassert // it was made so
		}
		kinds = append(kinds, ref(name))
	}
	t.all["Event"] = schema{"oneOf": kinds, "description": "An event of a session. Events without seq are not stored in the log; they are only streamed."}
	return nil
}

// maxVersion limits the search for the newest version of a body.
const maxVersion = 100

// zeroBody returns an empty body of a kind, and the current version of its schema.
func zeroBody(k pawl.Kind) (pawl.Body, int, error) {
	body, err := k.Decode(1, []byte("{}"))
	for v := 1; err != nil && v <= maxVersion; v++ { // version 1 may have required fields
		body, err = k.Decode(v, []byte("{}"))
	}
	if err != nil {
		return nil, 0, err
	}
	_, version, _, err := pawl.Event{Body: body}.EncodeBody()
	return body, version, err
}
