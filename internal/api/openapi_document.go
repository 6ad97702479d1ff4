package api

// document is an OpenAPI document, with the fields that are used here.
type document struct {
	OpenAPI    string                          `json:"openapi"`
	Info       info                            `json:"info"`
	Servers    []server                        `json:"servers"`
	Security   []map[string][]string           `json:"security"`
	Tags       []tag                           `json:"tags"`
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

type server struct {
	URL         string `json:"url"`
	Description string `json:"description"`
}

type tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type components struct {
	Schemas   map[string]schema   `json:"schemas"`
	Responses map[string]response `json:"responses"`
	Security  map[string]schema   `json:"securitySchemes"`
}

type operation struct {
	ID          string                `json:"operationId"`
	Tags        []string              `json:"tags"`
	Summary     string                `json:"summary"`
	Description string                `json:"description"`
	Security    []map[string][]string `json:"security,omitzero"` // nil means the document's
	Parameters  []parameter           `json:"parameters,omitempty"`
	Body        *body                 `json:"requestBody,omitempty"`
	Responses   map[string]response   `json:"responses"`
}

type parameter struct {
	Name        string `json:"name"`
	In          string `json:"in"`
	Description string `json:"description"`
	Required    bool   `json:"required,omitempty"`
	Schema      schema `json:"schema"`
}

type body struct {
	Required bool           `json:"required"`
	Content  map[Form]media `json:"content"`
}

// response is a response, or a reference to one.
type response struct {
	Ref         string            `json:"$ref,omitempty"`
	Description string            `json:"description,omitempty"`
	Headers     map[string]schema `json:"headers,omitempty"`
	Content     map[Form]media    `json:"content,omitempty"`
}

type media struct {
	Schema  schema `json:"schema"`
	Item    schema `json:"x-item,omitempty"` // the schema of one line or event of a stream
	Example any    `json:"example,omitempty"`
}
