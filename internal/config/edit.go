package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config/userfile"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// Set sets a value in the user's file, and leaves everything else unchanged, including
// comments. If the value is invalid, or the changed file would not load or not pass
// check, it returns pawl.ErrInvalid and writes nothing.
func Set(name, value string, check func(User) error) error {
	return SetIf("", name, value, check)
}

// SetIf is Set, if hash is "" or that of the user's file; see UserHash. Otherwise it
// returns pawl.ErrConflict.
func SetIf(hash, name, value string, check func(User) error) error {
	path := splitKey(name)
	t, err := settable(path)
	if err != nil {
		return err
	}
	v, err := literal(t, value)
	if err == nil {
		err = fits(path, v)
	}
	if err != nil {
		return fault.New(pawl.ErrInvalid, "%s: %w", name, err)
	}
	return editUser(check, func(d *document) error {
		if err := d.expect(hash); err != nil {
			return err
		}
		return d.set(path, v.Value)
	})
}

// Unset removes a key and its comment from the user's file. If the key does not exist it
// returns pawl.ErrNotFound.
func Unset(name string, check func(User) error) error { return UnsetIf("", name, check) }

// UnsetIf is Unset, if hash is "" or that of the user's file. Otherwise it returns
// pawl.ErrConflict.
func UnsetIf(hash, name string, check func(User) error) error {
	path := splitKey(name)
	return editUser(check, func(d *document) error {
		if err := d.expect(hash); err != nil {
			return err
		}
		if d.root.Find(pointer(path)) == nil {
			return fault.New(pawl.ErrNotFound, "%s is not set in your configuration file", name)
		}
		return d.remove(path)
	})
}

// Known returns an error for a key that does not exist, with a suggestion.
func Known(name string) error {
	_, err := settable(splitKey(name))
	return err
}

// splitKey splits a.b.c, or /a/b/c for names that contain dots.
func splitKey(name string) []string {
	if rest, ok := strings.CutPrefix(name, "/"); ok {
		return strings.Split(rest, "/")
	}
	return strings.Split(name, ".")
}

func pointer(path []string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	text := ""
	for _, part := range path {
		text += "/" + escape.Replace(part)
	}
	return text
}

func settable(path []string) (reflect.Type, error) {
	t, closest, ok := typeAt(path)
	for _, part := range path {
		ok = ok && part != ""
	}
	switch {
	case ok:
		return t, nil
	case closest != "":
		return nil, fault.New(pawl.ErrInvalid, "unknown key %q", strings.Join(path, ".")).Hint("Did you mean %q?", closest)
	default:
		return nil, fault.New(pawl.ErrInvalid, "unknown key %q", strings.Join(path, ".")).Hint("Run `pawl config schema` to see all keys.")
	}
}

// literal parses a value from the command line: a string as it is, everything else as
// JSON.
func literal(t reflect.Type, value string) (hujson.Value, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.String {
		return hujson.Value{Value: hujson.String(value)}, nil
	}
	d, err := parseDocument([]byte(value))
	if err != nil {
		return hujson.Value{}, fmt.Errorf("the value is not valid JSON: %w", err)
	}
	return d.root, nil
}

// fits validates a value against the schema.
func fits(path []string, value hujson.Value) error {
	if k, ok := keyOf(path); ok && k.values != nil {
		if text, ok := value.Value.(hujson.Literal); ok && !slices.Contains(k.values, text.String()) {
			return fmt.Errorf("invalid value %q: use %s", text.String(), humanize.Join(k.values, "or"))
		}
	}
	s, err := Schema()
	if err != nil {
		return err
	}
	for _, part := range path {
		if next := s.Properties[part]; next != nil {
			s = next
		} else {
			s = s.AdditionalProperties
		}
	}
	s.ID, s.Schema = "", ""
	resolved, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	plain := value.Clone()
	plain.Minimize()
	var v any
	if err := json.Unmarshal(plain.Pack(), &v); err != nil {
		return err
	}
	return resolved.Validate(v)
}

// editUser changes the user's file atomically, and creates it if needed.
func editUser(check func(User) error, change func(*document) error) error {
	path, err := UserFile()
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // change the target of a link, not the link
	}
	unlock, err := userfile.Lock(path)
	if err != nil {
		return fmt.Errorf("change %s: %w", path, err)
	}
	defer unlock()
	text, err := readText(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = []byte(emptyFile), nil
	}
	if err != nil {
		return fmt.Errorf("change %s: %w", path, err)
	}
	d, err := parseDocument(text)
	if err != nil {
		return fault.New(pawl.ErrInvalid, "change %s: %w", path, err).Hint("Run `pawl config edit` to correct the file first.")
	}
	if err := change(&d); err != nil {
		return err
	}
	text = d.root.Pack()
	u, _, err := decodeUser(text)
	if err == nil {
		err = check(u)
	}
	if err != nil {
		return fault.New(pawl.ErrInvalid, "change %s: the file would be invalid: %w", path, err)
	}
	return userfile.ReplaceText(path, text)
}

// set sets the value at a path, and creates missing objects.
func (d *document) set(path []string, value hujson.ValueTrimmed) error {
	at, indent, unit, lines := &d.root, "", d.unit(), true
	for i, part := range path {
		o, ok := at.Value.(*hujson.Object)
		if !ok {
			return fault.New(pawl.ErrInvalid, "%s is not an object", name(path[:i]))
		}
		if len(o.Members) > 0 {
			lines = hasLines(o)
		}
		m := memberOf(o, part)
		if m == nil {
			m = insert(o, part, indent, unit, lines)
			m.Value.Value = &hujson.Object{}
		}
		indent = indentOf(m.Name.BeforeExtra, indent)
		at = &m.Value
	}
	at.Value = value
	return nil
}

// remove removes a member from its object. The last remaining one keeps its comma.
func (d *document) remove(path []string) error {
	patch, err := json.Marshal([]map[string]string{{"op": "remove", "path": pointer(path)}})
	if err != nil {
		return err
	}
	o, ok := d.root.Find(pointer(path[:len(path)-1])).Value.(*hujson.Object)
	comma := ok && o.Members[len(o.Members)-1].Value.AfterExtra != nil
	if err := d.root.Patch(patch); err != nil {
		return err
	}
	if comma && len(o.Members) > 0 && o.Members[len(o.Members)-1].Value.AfterExtra == nil {
		o.Members[len(o.Members)-1].Value.AfterExtra = hujson.Extra{}
	}
	return nil
}

// unit returns the indentation unit of the file.
func (d *document) unit() string {
	if o, ok := d.root.Value.(*hujson.Object); ok && len(o.Members) > 0 {
		if unit := indentOf(o.Members[0].Name.BeforeExtra, ""); unit != "" {
			return unit
		}
	}
	return "  "
}

func memberOf(o *hujson.Object, name string) *hujson.ObjectMember {
	for i := range o.Members {
		if o.Members[i].Name.Value.(hujson.Literal).String() == name {
			return &o.Members[i]
		}
	}
	return nil
}

// insert adds a member at the end of an object, formatted like the others. Comments
// after the last one stay in place.
func insert(o *hujson.Object, name, indent, unit string, lines bool) *hujson.ObjectMember {
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}, Value: hujson.Value{BeforeExtra: hujson.Extra(" ")}}
	before := string(bytes.TrimRight(o.AfterExtra, " \t\r\n"))
	n := len(o.Members)
	switch {
	case lines:
		inner := indent + unit
		if n > 0 {
			inner = indentOf(o.Members[n-1].Name.BeforeExtra, inner)
		}
		before += "\n" + inner
		o.AfterExtra = hujson.Extra("\n" + indent)
	case n > 0:
		before += " "
		o.AfterExtra = nil
	}
	m.Name.BeforeExtra = hujson.Extra(before)
	if n > 0 && o.Members[n-1].Value.AfterExtra != nil {
		m.Value.AfterExtra = hujson.Extra{} // the last one had a comma, so has this one
	}
	o.Members = append(o.Members, m)
	return &o.Members[n]
}

// hasLines reports whether an object spans several lines.
func hasLines(o *hujson.Object) bool {
	for _, m := range o.Members {
		if bytes.ContainsRune(m.Name.BeforeExtra, '\n') {
			return true
		}
	}
	return bytes.ContainsRune(o.AfterExtra, '\n')
}

// indentOf returns the indentation after the last line end in extra, or otherwise.
func indentOf(extra hujson.Extra, otherwise string) string {
	i := bytes.LastIndexByte(extra, '\n')
	if i < 0 || len(bytes.Trim(extra[i+1:], " \t")) > 0 {
		return otherwise
	}
	return string(extra[i+1:])
}
