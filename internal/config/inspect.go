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

// Finding is an error or a warning about a configuration file.
type Finding struct {
	Level   Level  `json:"level"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"` // 0 means the file as a whole
	Column  int    `json:"column,omitempty"`
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
}

// Level is the severity of a finding.
type Level string

// The levels.
const (
	LevelError   Level = "error"   // the whole file is rejected
	LevelWarning Level = "warning" // the rest takes effect
)

// String returns the finding on one line: file:line:column: level: message.
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

// schemaKey is allowed in every file: it tells editors the JSON schema.
const schemaKey = "$schema"

// safetyKeys are the keys that restrict the model. Unknown keys below them, and keys
// that look like them, are errors: otherwise a typo would lift a restriction.
var safetyKeys = []string{"permissions", "sandbox", "hooks"}

// inspector compares a document with a Go type.
type inspector struct {
	doc      document
	findings []Finding
}

// inspect returns what is wrong with a user's document, and removes harmless unknown
// keys from it.
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
		in.add(LevelError, v, path, "%s is null: remove the key instead", name(path))
		return
	}
	if want := typeName(t); got != want && !raw {
		in.add(LevelError, v, path, "%s is %s, but must be %s", name(path), article(got), article(want))
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

// object checks the members of an object, and removes unknown ones.
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

// unknown reports an unknown key, with a suggestion.
func (in *inspector) unknown(v *hujson.Value, t reflect.Type, at []string) {
	key := at[len(at)-1]
	meant := suggest.Name(key, fieldNames(t))
	unknown, hint := fmt.Sprintf("unknown key %q", strings.Join(at, ".")), ""
	if meant != "" {
		hint = fmt.Sprintf(": did you mean %q?", meant)
	}
	switch {
	case slices.Contains(safetyKeys, at[0]), len(at) == 1 && slices.Contains(safetyKeys, meant):
		in.add(LevelError, v, at, "unknown security setting %q%s", strings.Join(at, "."), hint)
	case strings.EqualFold(key, meant):
		in.add(LevelError, v, at, "%s%s", unknown, hint)
	default:
		in.add(LevelWarning, v, at, "%s is ignored%s", unknown, hint)
	}
}

// fieldOf returns the type of a key of a struct.
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
		return "the file"
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

// typeName returns the JSON type of a Go type.
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
