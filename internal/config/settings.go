package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Layer is the source of a setting.
type Layer string

// The layers, from the lowest to the highest precedence. The administrator's policy
// overrides all of them.
const (
	LayerBuiltIn Layer = "built-in"
	LayerManaged Layer = "managed"
	LayerUser    Layer = "user"
	LayerProject Layer = "project"
	LayerEnv     Layer = "env"
)

// Setting is an effective value and its source. It is safe to show: secrets are masked.
type Setting struct {
	Key    string          `json:"key"`
	Value  json.RawMessage `json:"value"`
	Layer  Layer           `json:"layer"`
	Source string          `json:"source,omitempty"` // a file or a variable
}

// NewSetting returns a setting of a value, which must be encodable as JSON.
func NewSetting(key string, value any, layer Layer, source string) (Setting, error) {
	text, err := json.Marshal(value)
	return Setting{key, text, layer, source}, err
}

// Text returns the value for people: strings without quotes.
func (s Setting) Text() string {
	var text string
	if json.Unmarshal(s.Value, &text) == nil {
		return text
	}
	return string(s.Value)
}

// UserSettings returns the settings of the user's file and variables, in the order of
// User. Placeholders are not resolved.
func UserSettings() ([]Setting, error) {
	path, err := UserFile()
	if err != nil {
		return nil, err
	}
	text, err := readText(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = []byte("{}"), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	if _, _, err := decodeUser(text); err != nil {
		return nil, fault.New(pawl.ErrInvalid, "read %s: %w", path, err)
	}
	doc, err := parseDocument(text)
	if err != nil {
		return nil, err
	}
	inspect(&doc, reflect.TypeFor[User]())
	settings := settingsOf(&doc.root, reflect.TypeFor[User](), nil, path)
	if model := os.Getenv("PAWL_MODEL"); model != "" {
		s, err := NewSetting("model", model, LayerEnv, "PAWL_MODEL")
		if err != nil {
			return nil, err
		}
		settings = append([]Setting{s}, slices.DeleteFunc(settings, func(s Setting) bool { return s.Key == "model" })...)
	}
	return settings, nil
}

// settingsOf returns the settings below a value.
func settingsOf(v *hujson.Value, t reflect.Type, path []string, source string) (list []Setting) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	o, ok := v.Value.(*hujson.Object)
	if !ok || t.Kind() != reflect.Struct && t.Kind() != reflect.Map {
		return []Setting{{Key: strings.Join(path, "."), Value: shown(v, path), Layer: LayerUser, Source: source}}
	}
	for _, name := range membersOf(o, t) {
		m := memberOf(o, name)
		if m == nil {
			continue
		}
		elem, _, ok := below(t, name)
		if ok {
			list = append(list, settingsOf(&m.Value, elem, append(slices.Clip(path), name), source)...)
		}
	}
	return list
}

// membersOf returns the keys of an object: in the order of the struct, or sorted for a
// map.
func membersOf(o *hujson.Object, t reflect.Type) (names []string) {
	if t.Kind() == reflect.Struct {
		return fieldNames(t)
	}
	for _, m := range o.Members {
		names = append(names, m.Name.Value.(hujson.Literal).String())
	}
	slices.Sort(names)
	return names
}

// masked replaces secrets.
const masked = "***"

// shown returns a value with secrets masked.
func shown(v *hujson.Value, path []string) json.RawMessage {
	plain := v.Clone()
	plain.Minimize()
	text := plain.Pack()
	k, _ := keyOf(path)
	if !k.secret && !k.replaced {
		return text
	}
	var value string
	if err := json.Unmarshal(text, &value); err != nil {
		return json.RawMessage(`"` + masked + `"`)
	}
	if at := placeholder.FindStringIndex(value); at != nil && at[1]-at[0] == len(value) {
		return text // a placeholder contains no secret
	}
	if value = maskURL(value); k.secret {
		value = masked
	}
	return hujson.Value{Value: hujson.String(value)}.Pack()
}

// maskURL masks the credentials and the query of a URL.
func maskURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return masked
	}
	if u.User != nil {
		u.User = url.User(masked)
	}
	if u.RawQuery != "" {
		u.RawQuery = masked
	}
	return strings.ReplaceAll(u.String(), "%2A%2A%2A", masked) // as a user it is escaped
}

// PathSettings returns the locations of pawl's files.
func PathSettings() ([]Setting, error) {
	var list []Setting
	for _, p := range []struct {
		key      string
		find     func() (string, error)
		variable []string
	}{
		{"config", UserFile, []string{"PAWL_CONFIG", "XDG_CONFIG_HOME"}},
		{"data", Data, []string{"PAWL_DATA", "XDG_DATA_HOME"}},
		{"store", Store, []string{"PAWL_STORE", "PAWL_DATA", "XDG_DATA_HOME"}},
		{"cache", Cache, []string{"PAWL_CACHE", "XDG_CACHE_HOME"}},
	} {
		value, err := p.find()
		if err != nil {
			return nil, err
		}
		layer, source := LayerBuiltIn, ""
		if i := slices.IndexFunc(p.variable, func(name string) bool { return os.Getenv(name) != "" }); i >= 0 {
			layer, source = LayerEnv, p.variable[i]
		}
		if strings.Contains(value, "://") {
			value = maskURL(value)
		}
		s, err := NewSetting(p.key, value, layer, source)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}
