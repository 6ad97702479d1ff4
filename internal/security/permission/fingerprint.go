package permission

import (
	"bytes"
	"encoding/json"

	"github.com/pawl-dev/pawl/internal/strictjson"
)

// Fingerprint returns a hash of what a permission prompt shows of a call: the
// tool, its accesses, and its input regardless of the order of keys and of white
// space. An approval applies to one fingerprint, which is compared again before
// the call runs.
func Fingerprint(c Call) string {
	d := newHash("pawl call 1")
	d.text(c.Tool)
	for _, a := range c.Access {
		d.text("access")
		d.text(string(a.Kind))
		d.text(a.Target)
	}
	if canonical, ok := canonicalJSON(c.Input); ok {
		d.text("input")
		d.text(string(canonical))
	} else {
		d.text("bytes")
		d.text(string(c.Input))
	}
	return d.sum()
}

// canonicalJSON sorts keys and removes white space; numbers stay as written. It
// returns false for JSON with duplicate keys.
func canonicalJSON(text json.RawMessage) ([]byte, bool) {
	var v any
	if strictjson.Decode(text, &v) != nil {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return nil, false
	}
	out, err := json.Marshal(v)
	return out, err == nil
}
