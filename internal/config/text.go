package config

import (
	"encoding/json"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// SetText sets the value at a path of keys in the text of any JSON file, and leaves
// everything else unchanged.
func SetText(text []byte, path []string, value json.RawMessage) ([]byte, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, fault.New(pawl.ErrInvalid, "invalid JSON: %w", err).Hint("Correct the file first.")
	}
	v, err := parseDocument(value)
	if err != nil {
		return nil, fault.New(pawl.ErrInvalid, "%w", err)
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
		return nil, fault.New(pawl.ErrInvalid, "invalid JSON: %w", err).Hint("Correct the file first.")
	}
	if d.root.Find(pointer(path)) == nil {
		return nil, fault.New(pawl.ErrNotFound, "%s not found", name(path))
	}
	if err := d.remove(path); err != nil {
		return nil, err
	}
	return d.root.Pack(), nil
}
