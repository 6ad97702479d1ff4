package config

import (
	"encoding/json"
	"fmt"

	"github.com/pawl-dev/pawl"
)

// SetText sets the value at a path of keys in the text of any JSON file, and leaves
// everything else unchanged.
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

// UnsetText removes a key from the text of a JSON file. If it does not exist, it returns
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
