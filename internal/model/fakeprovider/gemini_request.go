package fakeprovider

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

type geminiRequest struct {
	Contents []geminiContent `json:"contents"`
	Tools    []struct {
		Functions []struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
			Schema     json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text      *string `json:"text"`
	Thought   bool    `json:"thought"`
	Signature string  `json:"thoughtSignature"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
		Parts    []geminiPart    `json:"parts"`
	} `json:"functionResponse"`
	Inline *geminiData     `json:"inlineData"`
	File   json.RawMessage `json:"fileData"`
}

func (gemini) read(r *http.Request, body []byte) (request, error) {
	model, method, _ := strings.Cut(r.PathValue("call"), ":")
	req := request{model: model, field: "contents", stream: method == "streamGenerateContent", signed: true}
	switch {
	case method != "streamGenerateContent" && method != "generateContent":
		return req, fmt.Errorf("method %q is not found: want generateContent or streamGenerateContent", method)
	case req.stream && r.URL.Query().Get("alt") != "sse":
		return req, errors.New("streamGenerateContent: this server streams events only: ask for ?alt=sse")
	}
	var in geminiRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return req, err
	}
	for _, t := range in.Tools {
		for _, f := range t.Functions {
			schema := f.Parameters
			if schema == nil {
				schema = f.Schema
			}
			if schema == nil {
				schema = json.RawMessage(`{"type":"object"}`) // a function without parameters has no schema
			}
			req.tools = append(req.tools, tool{f.Name, schema})
		}
	}
	for i, c := range in.Contents {
		if err := req.addContent(i, c); err != nil {
			return req, fmt.Errorf("contents.%d: %w", i, err)
		}
	}
	return req, nil
}

func (r *request) addContent(i int, c geminiContent) error {
	role := pawl.RoleUser
	if c.Role == "model" {
		role = pawl.RoleAssistant
	} else if c.Role != "user" && c.Role != "function" && c.Role != "" {
		return fmt.Errorf("role: please use a valid role: user, model; got %q", c.Role)
	}
	m := pawl.Message{Seq: pawl.Seq(i), Role: role}
	for j, p := range c.Parts {
		part, err := r.geminiPart(p, role, len(m.Parts.Calls()), results(m.Parts))
		if err != nil {
			return fmt.Errorf("parts.%d: %w", j, err)
		}
		if part != nil {
			m.Parts = append(m.Parts, part)
		}
	}
	if n := results(m.Parts); n > 1 && slices.ContainsFunc(m.Parts, isFile) {
		return fmt.Errorf("please ensure that the number of function response parts is equal to the number of function call parts of the function call turn: there are %d, and files beside them", n)
	}
	if err := checkTextSignature(c, m); err != nil {
		return err
	}
	r.messages = append(r.messages, m)
	return nil
}

func isFile(p pawl.Part) bool {
	_, ok := p.(pawl.File)
	return ok
}

func results(parts pawl.Parts) int {
	n := 0
	for _, p := range parts {
		if _, ok := p.(pawl.ToolResult); ok {
			n++
		}
	}
	return n
}

// geminiPart parses a part. Ids are optional: calls and results are otherwise matched by order and name.
func (r *request) geminiPart(p geminiPart, role pawl.Role, calls, results int) (pawl.Part, error) {
	switch {
	case p.Call != nil && role != pawl.RoleAssistant:
		return nil, errors.New("functionCall can only be in a content of role model")
	case p.Call != nil:
		id, args := p.Call.ID, p.Call.Args
		if id == "" {
			id = fmt.Sprintf("%d.%d %s", len(r.messages), calls, p.Call.Name)
		}
		if args == nil {
			args = json.RawMessage("{}")
		}
		return pawl.ToolCall{ID: pawl.CallID(id), Name: p.Call.Name, Input: args, Signature: p.Signature}, nil
	case p.Response != nil && role == pawl.RoleAssistant:
		return nil, errors.New("functionResponse can only be in a content of role user")
	case p.Response != nil:
		if p.Response.Name == "" {
			return nil, errors.New("functionResponse.name: cannot be empty")
		}
		id := p.Response.ID
		if id == "" {
			id = fmt.Sprintf("%d.%d %s", len(r.messages)-1, results, p.Response.Name)
		}
		return pawl.ToolResult{Call: pawl.CallID(id), Content: resultText(p.Response.Response)}, r.checkResponseParts(p.Response.Parts)
	case p.Inline != nil:
		return pawl.File{}, p.Inline.check()
	case p.File != nil:
		return pawl.File{}, nil
	case p.Text == nil:
		return nil, errors.New("data: required oneof field 'data' must have one initialized field")
	case p.Thought:
		return pawl.Reasoning{Text: *p.Text}, nil
	case *p.Text == "" && p.Signature != "":
		return nil, nil // an empty text that carries the signature
	default:
		return pawl.Text{Text: *p.Text}, nil
	}
}

// early matches models whose results can only be JSON.
var early = regexp.MustCompile(`^gemini-[12]\b`)

// checkResponseParts validates the files in a result.
func (r *request) checkResponseParts(parts []geminiPart) error {
	for i, p := range parts {
		switch {
		case early.MatchString(r.model):
			return fmt.Errorf("functionResponse.parts: %s takes no files in a function response", r.model)
		case p.Inline != nil:
			if err := p.Inline.check(); err != nil {
				return fmt.Errorf("functionResponse.parts.%d: %w", i, err)
			}
		case p.File == nil:
			return fmt.Errorf("functionResponse.parts.%d: want inlineData or fileData", i)
		}
	}
	return nil
}

// checkTextSignature verifies the signature of a text.
func checkTextSignature(c geminiContent, m pawl.Message) error {
	for j, p := range c.Parts {
		if p.Call == nil && p.Signature != "" && p.Signature != seal(m.Text()) {
			return fmt.Errorf("parts.%d: invalid thoughtSignature: it must come back with the text that it came with", j)
		}
	}
	return nil
}

// resultText returns the text that Expect is matched against: the texts in the response object, or all of it.
func resultText(response json.RawMessage) string {
	var object map[string]json.RawMessage
	if json.Unmarshal(response, &object) != nil {
		return string(response)
	}
	for _, key := range []string{"output", "result", "error", "content"} {
		var text string
		if json.Unmarshal(object[key], &text) == nil && text != "" {
			return text
		}
	}
	return string(response)
}
