// Package strictjson decodes JSON strictly: it rejects unknown keys, duplicate keys and
// keys that match a field only if case is ignored, all of which encoding/json accepts.
package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Decode unmarshals one JSON value into v, a non-nil pointer. It rejects unknown
// keys, duplicate keys and keys that differ from the field's name in case. It does
// not look into a json.RawMessage. After an error the content of v is unspecified.
func Decode(data []byte, v any) error { return DecodeTagged(data, v, "") }

// DecodeTagged is Decode for an object that has the additional key tag.
func DecodeTagged(data []byte, v any, tag string) error {
	if err := json.Unmarshal(data, v); err != nil {
		return err // also proves that data is one well-formed value, which the walk below relies on
	}
	w := keyWalk{data: data}
	return w.value(reflect.TypeOf(v), tag)
}

// Encode is json.Marshal without escaping <, > and &, which are frequent in code.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// keyWalk checks the object keys of a well-formed JSON value against a Go type.
type keyWalk struct {
	data []byte
	pos  int
}

func (w *keyWalk) value(t reflect.Type, tag string) error {
	w.space()
	s := shapeOf(t)
	switch c := w.data[w.pos]; {
	case s == ownShape:
		w.skip()
	case c == '{':
		return w.object(s, tag)
	case c == '[':
		return w.array(s)
	default:
		w.skip()
	}
	return nil
}

func (w *keyWalk) object(s *shape, tag string) error {
	seen := make(map[string]bool, 8)
	w.pos++ // {
	for w.space(); w.data[w.pos] != '}'; w.space() {
		key := w.key()
		if seen[key] {
			return fmt.Errorf("duplicate key %q", key)
		}
		seen[key] = true
		elem := s.elem
		if s.fields != nil && key != tag {
			field, ok := s.fields[key]
			if !ok {
				return fmt.Errorf("unknown key %q", key)
			}
			elem = field
		}
		w.space()
		w.pos++ // :
		if err := w.value(elem, ""); err != nil {
			return err
		}
		w.comma()
	}
	w.pos++ // }
	return nil
}

func (w *keyWalk) array(s *shape) error {
	w.pos++ // [
	for w.space(); w.data[w.pos] != ']'; w.space() {
		if err := w.value(s.elem, ""); err != nil {
			return err
		}
		w.comma()
	}
	w.pos++ // ]
	return nil
}

// skip skips a value without checking its keys.
func (w *keyWalk) skip() {
	for depth := 0; ; {
		switch c := w.data[w.pos]; {
		case c == '"':
			w.skipText()
		case c == '{', c == '[':
			depth++
			w.pos++
		case c == '}', c == ']':
			depth--
			w.pos++
		case depth > 0:
			w.pos++
		default: // number, true, false, null
			for w.pos < len(w.data) && !strings.ContainsRune(",]} \t\r\n", rune(w.data[w.pos])) {
				w.pos++
			}
		}
		if depth == 0 {
			return
		}
	}
}

// skipText skips a string and reports whether it contains an escape sequence.
func (w *keyWalk) skipText() (escaped bool) {
	for w.pos++; w.data[w.pos] != '"'; w.pos++ {
		if w.data[w.pos] == '\\' {
			escaped = true
			w.pos++
		}
	}
	w.pos++
	return escaped
}

// key skips a string and returns it unquoted.
func (w *keyWalk) key() string {
	start := w.pos
	escaped := w.skipText()
	raw := w.data[start:w.pos]
	if !escaped {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw) // cannot be, the whole was well-formed; and an odd key is refused as unknown
	}
	return s
}

func (w *keyWalk) space() {
	for w.pos < len(w.data) && (w.data[w.pos] == ' ' || w.data[w.pos] == '\n' || w.data[w.pos] == '\t' || w.data[w.pos] == '\r') {
		w.pos++
	}
}

func (w *keyWalk) comma() {
	w.space()
	if w.data[w.pos] == ',' {
		w.pos++
	}
}

// shape describes a type: the keys that it allows (nil: any) and the types of their
// values or of its elements.
type shape struct {
	fields map[string]reflect.Type
	elem   reflect.Type
}

var (
	shapes      sync.Map   // reflect.Type -> *shape
	openShape   = &shape{} // any keys, each once
	ownShape    = &shape{} // of a type that decodes itself
	unmarshaler = reflect.TypeFor[json.Unmarshaler]()
)

// shapeOf returns the shape of t. A type with its own UnmarshalJSON checks itself.
// The keys of a json.RawMessage are left to whoever decodes it, so that unusual
// input of a model cannot make the log unreadable.
func shapeOf(t reflect.Type) *shape {
	if t == nil {
		return openShape
	}
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := openShape
	switch {
	case t.Kind() == reflect.Pointer:
		s = shapeOf(t.Elem())
	case reflect.PointerTo(t).Implements(unmarshaler):
		s = ownShape
	case t.Kind() == reflect.Struct:
		s = &shape{fields: map[string]reflect.Type{}}
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				name = f.Name
			}
			if f.IsExported() && !f.Anonymous && name != "-" {
				s.fields[name] = f.Type
			}
		}
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Array, t.Kind() == reflect.Map:
		s = &shape{elem: t.Elem()}
	}
	shapes.Store(t, s)
	return s
}

// Keys returns the object keys that Decode accepts for a struct type, in no particular order.
func Keys(t reflect.Type) []string {
	return slices.Collect(maps.Keys(shapeOf(t).fields))
}
