package api

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
)

// document is an OpenAPI document, as far as it is used here.
type document struct {
	OpenAPI    string                          `json:"openapi"`
	Info       info                            `json:"info"`
	Security   []map[string][]string           `json:"security"`
	Paths      map[string]map[string]operation `json:"paths"`
	Components components                      `json:"components"`
}

type info struct {
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Version     string  `json:"version"`
	License     license `json:"license"`
}

type license struct {
	Name       string `json:"name"`
	Identifier string `json:"identifier"`
}

type components struct {
	Schemas  map[string]schema `json:"schemas"`
	Security map[string]schema `json:"securitySchemes"`
}

type operation struct {
	ID          string             `json:"operationId"`
	Summary     string             `json:"summary"`
	Description string             `json:"description"`
	Parameters  []parameter        `json:"parameters,omitempty"`
	Body        *content           `json:"requestBody,omitempty"`
	Responses   map[string]content `json:"responses"`
}

type parameter struct {
	Name        string `json:"name"`
	In          string `json:"in"`
	Description string `json:"description"`
	Required    bool   `json:"required,omitempty"`
	Schema      schema `json:"schema"`
}

type content struct {
	Description string          `json:"description,omitempty"`
	Required    bool            `json:"required,omitempty"`
	Content     map[Form]schema `json:"content,omitempty"`
}

// OpenAPI is the OpenAPI 3.1 document of the interface, made from Routes and the
// types that they name.
func OpenAPI() (any, error) {
	d := document{
		OpenAPI: "3.1.0",
		Info: info{
			Title: "pawl", Version: "1", License: license{"Apache-2.0", "Apache-2.0"},
			Description: "Sessions of pawl over HTTP. An event of a log has a number; an order is accepted when its event is in the log. Times of settings are in nanoseconds, amounts of money in billionths of a US dollar.",
		},
		Security: []map[string][]string{{"token": {}}},
		Paths:    map[string]map[string]operation{},
	}
	types := &typeSchemas{all: map[string]schema{}}
	for _, r := range Routes {
		if d.Paths[r.Path] == nil {
			d.Paths[r.Path] = map[string]operation{}
		}
		d.Paths[r.Path][strings.ToLower(r.Method)] = r.operation(types)
	}
	if err := types.addEvents(); err != nil {
		return nil, err
	}
	d.Components = components{types.all, map[string]schema{"token": {"type": "http", "scheme": "bearer"}}}
	return d, nil
}

// OpenAPIText is the document as it is published.
func OpenAPIText() ([]byte, error) {
	d, err := OpenAPI()
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(d, "", "  ")
	return append(text, '\n'), err
}

var pathParam = regexp.MustCompile(`\{(\w+)\}`)

func (r Route) operation(types *typeSchemas) operation {
	o := operation{ID: r.Name, Summary: r.Summary, Description: "Needs the scope " + string(r.Scope) + ".", Responses: map[string]content{}}
	for _, m := range pathParam.FindAllStringSubmatch(r.Path, -1) {
		p := parameter{Name: m[1], In: "path", Required: true, Description: "the session's id", Schema: schema{"type": "string"}}
		switch m[1] {
		case "seq":
			p.Description, p.Schema = "the event's number", schema{"type": "integer"}
		case "blob":
			p.Description = "the output's id"
		}
		o.Parameters = append(o.Parameters, p)
	}
	for _, q := range r.Query {
		s := schema{"type": q.Kind}
		if q.Kind == "date-time" {
			s = schema{"type": "string", "format": q.Kind}
		}
		o.Parameters = append(o.Parameters, parameter{Name: q.Name, In: "query", Description: q.What, Schema: s})
	}
	if r.InForm != FormNone {
		o.Body = &content{Required: true, Content: r.media(types, r.InForm, r.In)}
	}
	good := content{Description: "it went well"}
	if r.OutForm != FormNone {
		good.Content = r.media(types, r.OutForm, r.Out)
	}
	o.Responses[strconv.Itoa(r.Status)] = good
	o.Responses["default"] = content{Description: "it did not", Content: r.media(types, FormJSON, typeOf[Fault]())}
	return o
}

// media says what is sent in a form. Lines and streams are text to OpenAPI; what
// one of them holds is said beside it.
func (r Route) media(types *typeSchemas, form Form, t reflect.Type) map[Form]schema {
	s := schema{}
	if t != nil {
		s = types.of(t)
	}
	if form == FormJSON || form == FormBytes {
		return map[Form]schema{form: {"schema": s}}
	}
	return map[Form]schema{form: {"schema": schema{"type": "string"}, "x-item": s}}
}

// addEvents adds the shapes of all events, by their types.
func (t *typeSchemas) addEvents() error {
	var kinds []schema
	for _, k := range sortedKinds() {
		body, version, err := zeroBody(k)
		if err != nil {
			return err
		}
		name := eventName(k)
		t.all[name] = schema{
			"type": "object",
			"properties": schema{
				"v":       schema{"type": "integer", "const": version, "description": "the version of the body's shape"},
				"session": schema{"type": "string"},
				"seq":     schema{"type": "integer", "description": "its number in the log; an event that is not kept has none"},
				"turn":    schema{"type": "integer"},
				"at":      schema{"type": "string", "format": "date-time"},
				"type":    schema{"type": "string", "const": string(k)},
				"body":    t.of(reflect.TypeOf(body)),
			},
			"required": []string{"v", "session", "at", "type", "body"},
		}
		kinds = append(kinds, ref(name))
	}
	t.all["Event"] = schema{"oneOf": kinds, "description": "See docs/events.md."}
	return nil
}

// maxVersion bounds the search for the newest version of a body.
const maxVersion = 100

// zeroBody returns an empty body of a kind, and the version of its shape.
func zeroBody(k pawl.Kind) (pawl.Body, int, error) {
	body, err := pawl.DecodeBody(k, 1, []byte("{}"))
	for v := 1; err != nil && v <= maxVersion; v++ { // one whose first shape cannot be empty
		body, err = pawl.DecodeBody(k, v, []byte("{}"))
	}
	if err != nil {
		return nil, 0, err
	}
	_, version, _, err := pawl.EncodeBody(body)
	return body, version, err
}
