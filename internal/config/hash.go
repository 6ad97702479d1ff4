package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/tailscale/hujson"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// emptyFile is the text of a file that does not exist.
const emptyFile = "{\n}\n"

// UserText returns the text of the user's file, or that of an empty one.
func UserText() ([]byte, error) {
	path, err := UserFile()
	if err != nil {
		return nil, err
	}
	text, err := readText(path)
	if errors.Is(err, fs.ErrNotExist) {
		return []byte(emptyFile), nil
	}
	return text, err
}

// UserHash returns the hash of the user's file, by which SetIf and UnsetIf detect that
// it has changed.
func UserHash() (string, error) {
	text, err := UserText()
	if err != nil {
		return "", err
	}
	if d, err := parseDocument(text); err == nil { // an invalid file cannot be changed
		text = d.root.Pack()
	}
	return hashOf(text), nil
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// expect returns an error unless hash is "" or that of the document.
func (d *document) expect(hash string) error {
	if hash == "" || hash == hashOf(d.root.Pack()) {
		return nil
	}
	return fault.New(pawl.ErrConflict, "the configuration file has changed").Hint("Read it again, and repeat the change.")
}

// ServersIn returns the MCP servers below a key of a configuration file, as they are
// written: variables are not expanded, so an unset variable does not prevent a change.
func ServersIn(text []byte, key string) (map[string]Server, error) {
	file, servers := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	text, err := hujson.Standardize(text)
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err == nil && file[key] != nil {
		err = json.Unmarshal(file[key], &servers)
	}
	all := map[string]Server{}
	for name, raw := range servers {
		var s Server
		_ = json.Unmarshal(raw, &s) // an invalid entry can still be removed or replaced
		all[name] = s
	}
	return all, err
}
