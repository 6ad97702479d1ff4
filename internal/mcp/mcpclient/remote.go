package mcpclient

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// remote is a tool as its server describes it.
type remote struct {
	raw         string // name at the server
	public      string // name for the model
	target      string // name in permission rules: server/tool
	description string // bounded and sanitized
	schema      json.RawMessage
	print       string // fingerprint of the whole description
}

// newRemote converts a tool, or returns an error that says why it cannot be
// offered. It ignores the server's claims that a tool is harmless.
func newRemote(s Server, t *sdk.Tool) (*remote, error) {
	switch {
	case t.Name == "" || len(t.Name) > nameBytes || !utf8.ValidString(t.Name):
		return nil, fmt.Errorf("the name is empty, longer than %d bytes or not valid text", nameBytes)
	case sanitize.FirstStrange(t.Name) != "":
		return nil, errors.New("the name has invisible characters")
	}
	schema, err := cleanSchema(t.InputSchema)
	if err != nil {
		return nil, err
	}
	r := &remote{raw: t.Name, schema: schema, description: shown(short(strings.TrimSpace(t.Description), descriptionBytes))}
	r.description = short(r.description, descriptionBytes+len("…"))
	tool := identifier(t.Name, maxName-len("mcp__")-len(s.Name)-len("__"))
	r.public, r.target = "mcp__"+s.Name+"__"+tool, s.Name+"/"+tool
	r.print = fingerprint(s, t.Name, t.Title, t.Description, string(schema))
	return r, nil
}

// maxName is the length of the longest name that providers accept.
const maxName = 64

var notName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// identifier converts a name to the characters that providers accept. A name
// that is too long ends in a hash of the whole.
func identifier(name string, limit int) string {
	id := notName.ReplaceAllString(name, "_")
	if len(id) <= limit {
		return id
	}
	sum := sha256.Sum256([]byte(name))
	tail := "_" + hex.EncodeToString(sum[:4])
	return id[:limit-len(tail)] + tail
}

// fingerprint identifies the description of a tool and its server: a saved
// permission covers only that.
func fingerprint(s Server, texts ...string) string { return digest(append(texts, identity(s))...) }

// identity identifies a program or an address.
func identity(s Server) string {
	return digest(append([]string{s.Transport, s.URL, s.Command}, s.Args...)...)
}

// digest hashes a list of texts unambiguously.
func digest(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// cleanSchema returns the schema with sorted keys and sanitized texts.
func cleanSchema(value any) (json.RawMessage, error) {
	if value == nil {
		return json.RawMessage(`{"type":"object"}`), nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("the schema is not valid JSON: %w", err)
	}
	if len(text) > schemaBytes {
		return nil, fmt.Errorf("the schema is too large (%d bytes, the limit is %d)", len(text), schemaBytes)
	}
	var tree any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("the schema is not valid JSON: %w", err)
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return nil, errors.New("the schema is not an object")
	}
	if kind, there := object["type"]; !there {
		object["type"] = "object"
	} else if kind != "object" {
		return nil, errors.New("the schema does not describe an object")
	}
	clean, err := cleanTree(object, schemaDepth)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(clean); err != nil {
		return nil, err
	}
	if out.Len() > 2*schemaBytes {
		return nil, fmt.Errorf("the schema is larger than %d bytes", 2*schemaBytes)
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// cleanTree sanitizes the texts of a value.
func cleanTree(v any, depth int) (any, error) {
	if depth == 0 {
		return nil, fmt.Errorf("the schema is nested more than %d levels deep", schemaDepth)
	}
	var err error
	switch v := v.(type) {
	case string:
		return shown(v), nil
	case []any:
		for i := range v {
			if v[i], err = cleanTree(v[i], depth-1); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key, value := range v {
			if shown(key) != key {
				return nil, errors.New("the schema has a name with invisible characters")
			}
			if v[key], err = cleanTree(value, depth-1); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
