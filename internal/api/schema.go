package api

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// schema is a JSON Schema.
type schema map[string]any

func ref(name string) schema { return schema{"$ref": "#/components/schemas/" + name} }

// typeSchemas collects the schemas of Go types. Structs are named components that
// others refer to.
type typeSchemas struct {
	all   map[string]schema
	types map[string]reflect.Type // the Go type behind each name, to detect collisions
}

// names renames types whose name is also that of another type.
var names = map[reflect.Type]string{
	typeOf[Usage]():           "UsageRows",
	typeOf[transcript.Ask]():  "ItemAsk",
	typeOf[transcript.Call](): "ItemCall",
	typeOf[transcript.End]():  "ItemEnd",
}

// known has the schemas of types whose JSON does not follow from their Go type.
var known = map[reflect.Type]schema{
	typeOf[time.Time]():       {"type": "string", "format": "date-time"},
	typeOf[time.Duration]():   {"type": "integer", "description": "nanoseconds"},
	typeOf[json.RawMessage](): {},
	typeOf[[]byte]():          {"type": "string", "contentEncoding": "base64"},
	typeOf[pawl.Money]():      {"type": "integer", "description": "billionths of a US dollar"},
	typeOf[pawl.Event]():      ref("Event"),
	typeOf[pawl.Parts]():      {"type": "array", "items": ref("Part")},
}

// of returns the schema of a type and adds the named schemas that it refers to.
func (t *typeSchemas) of(g reflect.Type) schema {
	if s, ok := known[g]; ok {
		if g == typeOf[pawl.Parts]() {
			t.addParts()
		}
		return s
	}
	switch g.Kind() {
	case reflect.Pointer:
		return t.of(g.Elem())
	case reflect.String:
		return described(schema{"type": "string"}, values(g))
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return schema{"type": "number"}
	case reflect.Slice, reflect.Array:
		return schema{"type": "array", "items": t.of(g.Elem())}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": t.of(g.Elem())}
	case reflect.Struct:
		return t.named(g)
	default:
		if g.Kind() >= reflect.Int && g.Kind() <= reflect.Uint64 {
			return schema{"type": "integer"}
		}
		panic("api: no schema for " + g.String())
	}
}

// named returns a reference to the schema of a struct, and adds that schema if it is
// missing.
func (t *typeSchemas) named(g reflect.Type) schema {
	name := cmp.Or(names[g], g.Name())
	switch other := t.types[name]; other {
	case g:
	case nil:
		t.types[name] = g // before its fields: the type may be recursive
		t.all[name] = t.object(g)
	default:
		panic("api: " + g.String() + " and " + other.String() + " have one name: give one of them another in names")
	}
	return ref(name)
}

// object returns the schema of a struct. It allows no unknown keys, as the decoder
// does.
func (t *typeSchemas) object(g reflect.Type) schema {
	properties, required := schema{}, []string{}
	for _, f := range reflect.VisibleFields(g) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "-" || name == "" {
			continue
		}
		properties[name] = described(t.of(f.Type), schema{"description": fieldWords(g, f)})
		if !strings.Contains(options, "omit") {
			required = append(required, name)
		}
	}
	s := described(schema{"type": "object", "properties": properties, "additionalProperties": false}, schema{"description": typeWords(g)})
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// parts lists the parts of messages with their type in JSON.
var parts = []struct {
	name string
	part pawl.Part
}{
	{"text", pawl.Text{}},
	{"reasoning", pawl.Reasoning{}},
	{"tool_call", pawl.ToolCall{}},
	{"tool_result", pawl.ToolResult{}},
	{"file", pawl.File{}},
	{"patch", pawl.Patch{}},
}

// addParts adds a schema for each part of a message, and Part, which is one of them.
func (t *typeSchemas) addParts() {
	if _, ok := t.all["Part"]; ok {
		return
	}
	t.all["Part"] = nil
	var kinds []schema
	for _, p := range parts {
		g := reflect.TypeOf(p.part)
		s := t.object(g)
		s["properties"].(schema)["type"] = schema{"type": "string", "const": p.name} //nolint:forcetypeassert // object made it
		s["required"] = append([]string{"type"}, requiredOf(s)...)
		t.all[g.Name()+"Part"] = s
		kinds = append(kinds, ref(g.Name()+"Part"))
	}
	t.all["Part"] = schema{"oneOf": kinds, "description": "A part of a message. Prompts have text and files."}
}

func requiredOf(s schema) []string {
	names, _ := s["required"].([]string)
	return names
}

// sortedKinds returns the kinds of events in a stable order.
func sortedKinds() []pawl.Kind {
	kinds := pawl.Kinds()
	slices.Sort(kinds)
	return kinds
}

// eventName names the schema of an event: session.created is SessionCreatedEvent.
func eventName(k pawl.Kind) string { return camel(string(k)) + "Event" }

// camel converts a name with dots or underscores to CamelCase: not_found is NotFound.
func camel(name string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '.' || r == '_' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
