package config

import (
	"encoding/json"
	"fmt"

	"github.com/pawl-dev/pawl"
)

// SetText puts a value into the text of a JSON file, at a path of keys, and leaves
// all else in it as it is. What the file means is not known here.
func SetText(text []byte, path []string, value json.RawMessage) ([]byte, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, fmt.Errorf("%w: correct it first: %w", err, pawl.ErrInvalid)
	}
	v, err := parseDocument(value)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, pawl.ErrInvalid)
	}
	if err := d.set(path, v.root.Value); err != nil {
		return nil, err
	}
	return d.root.Pack(), nil
}

// UnsetText takes a key out of the text of a JSON file. A key that is not there is
// pawl.ErrNotFound.
func UnsetText(text []byte, path []string) ([]byte, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, fmt.Errorf("%w: correct it first: %w", err, pawl.ErrInvalid)
	}
	if d.root.Find(pointer(path)) == nil {
		return nil, fmt.Errorf("%s is not there: %w", name(path), pawl.ErrNotFound)
	}
	if err := d.remove(path); err != nil {
		return nil, err
	}
	return d.root.Pack(), nil
}
