package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/pawl-dev/pawl/internal/suggest"
)

// Finding is something about a file of configuration that its writer should know.
type Finding struct {
	Level   Level  `json:"level"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"` // 0 means the file as a whole
	Column  int    `json:"column,omitempty"`
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
}

// Level is how much a finding matters.
type Level string

// The levels.
const (
	LevelError   Level = "error"   // nothing of the file counts
	LevelWarning Level = "warning" // the rest counts
)

// String is the finding on one line: file:line:column: level: message.
func (f Finding) String() string {
	var parts []string
	if f.File != "" {
		parts = append(parts, f.File)
	}
	if f.Line > 0 {
		parts = append(parts, fmt.Sprint(f.Line), fmt.Sprint(f.Column))
	}
	text := string(f.Level) + ": " + f.Message
	if parts == nil {
		return text
	}
	return strings.Join(parts, ":") + ": " + text
}

// schemaKey is a key that any file may have: it tells editors which schema it is by.
const schemaKey = "$schema"

// safetyKeys are the keys that keep a model within bounds. What is not understood
// in them, or is nearly one of them, is an error: else a slip would open what
// its writer has closed.
var safetyKeys = []string{"permissions", "sandbox", "hooks"}

// inspector holds a document against a type.
type inspector struct {
	doc      document
	findings []Finding
}

// inspect returns what is wrong with a document of the user's, and takes the
// unknown keys that do no harm out of it.
func inspect(doc *document, t reflect.Type) []Finding {
	in := inspector{doc: *doc}
	in.value(&doc.root, t, nil)
	return in.findings
}

func (in *inspector) add(level Level, v *hujson.Value, path []string, format string, args ...any) {
	line, column := in.doc.position(v.StartOffset)
	in.findings = append(in.findings, Finding{Level: level, Line: line, Column: column, Key: strings.Join(path, "."), Message: fmt.Sprintf(format, args...)})
}

func (in *inspector) value(v *hujson.Value, t reflect.Type, path []string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	got := kindName(v.Value.Kind())
	raw := t == reflect.TypeFor[json.RawMessage]()
	if got == "null" {
		in.add(LevelError, v, path, "%s is null: leave the key out", name(path))
		return
	}
	if want := typeName(t); got != want && !raw {
		in.add(LevelError, v, path, "%s is %s, and must be %s", name(path), article(got), article(want))
		return
	}
	switch x := v.Value.(type) {
	case *hujson.Object:
		if !raw {
			in.object(x, t, path)
		}
	case *hujson.Array:
		for i := range x.Elements {
			if !raw {
				in.value(&x.Elements[i], t.Elem(), append(slices.Clip(path), fmt.Sprint(i)))
			}
		}
	}
}

// object looks at the members of an object, and leaves those out of it that are
// not known.
func (in *inspector) object(o *hujson.Object, t reflect.Type, path []string) {
	seen := map[string]bool{}
	o.Members = slices.DeleteFunc(o.Members, func(m hujson.ObjectMember) bool {
		key := m.Name.Value.(hujson.Literal).String()
		at := append(slices.Clip(path), key)
		if seen[key] {
			in.add(LevelError, &m.Name, at, "duplicate key %q", strings.Join(at, "."))
		}
		seen[key] = true
		if t.Kind() == reflect.Map {
			in.value(&m.Value, t.Elem(), at)
			return false
		}
		if key == schemaKey && len(path) == 0 {
			in.value(&m.Value, reflect.TypeFor[string](), at)
			return true
		}
		field, ok := fieldOf(t, key)
		if ok {
			in.value(&m.Value, field, at)
			return false
		}
		in.unknown(&m.Name, t, at)
		return true
	})
}

// unknown tells of a key that is not known, with the nearest one that is.
func (in *inspector) unknown(v *hujson.Value, t reflect.Type, at []string) {
	key := at[len(at)-1]
	meant := suggest.Name(key, fieldNames(t))
	text := fmt.Sprintf("unknown key %q", strings.Join(at, "."))
	if meant != "" {
		text += fmt.Sprintf(": did you mean %q?", meant)
	}
	switch {
	case slices.Contains(safetyKeys, at[0]), len(at) == 1 && slices.Contains(safetyKeys, meant):
		in.add(LevelError, v, at, "%s It would say what is allowed, so pawl does not go on without it", strings.TrimSuffix(text, "?")+".")
	case strings.EqualFold(key, meant):
		in.add(LevelError, v, at, "%s", text)
	default:
		in.add(LevelWarning, v, at, "%s; it counts for nothing", strings.TrimSuffix(text, "?"))
	}
}

// fieldOf returns the type that a key of a struct has.
func fieldOf(t reflect.Type, key string) (reflect.Type, bool) {
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == key && name != "-" {
			return f.Type, true
		}
	}
	return nil, false
}

func fieldNames(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

func name(path []string) string {
	if len(path) == 0 {
		return "it"
	}
	return strings.Join(path, ".")
}

func kindName(k hujson.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '"':
		return "string"
	case '0':
		return "number"
	case '{':
		return "object"
	default:
		return "list"
	}
}

// typeName is the kind of JSON that a type is read from.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Slice, reflect.Array:
		return "list"
	case reflect.Struct, reflect.Map:
		return "object"
	default:
		return "number"
	}
}

func article(kind string) string {
	if kind == "object" {
		return "an " + kind
	}
	return "a " + kind
}
