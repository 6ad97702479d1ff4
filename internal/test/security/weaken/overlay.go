package weaken

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// switchedOn replaces the file of package defense that says that there are no
// switches.
const switchedOn = "package defense\n\nconst weakened = true\n"

// Overlay writes the edited files and an overlay for the go command to
// bin/test/_weakened below root, the root of the module, and returns the path of
// the overlay. The underscore hides the directory from ./... patterns. Files are
// named by their content, so that several processes can
// do this at the same time and unchanged files keep their names.
func Overlay(root string) (string, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	edited, err := Apply(root)
	if err != nil {
		return "", err
	}
	edited[defensePackage+"/weakened.go"] = switchedOn
	dir := filepath.Join(root, "bin", "test", "_weakened")
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // like the other directories in bin
		return "", err
	}
	var overlay struct{ Replace map[string]string }
	overlay.Replace = map[string]string{}
	for file, text := range edited {
		name := strings.TrimSuffix(filepath.Base(file), ".go")
		path, err := keep(dir, name, ".go", []byte(text))
		if err != nil {
			return "", err
		}
		overlay.Replace[filepath.Join(root, file)] = path
	}
	text, err := json.MarshalIndent(overlay, "", "\t") // the keys are sorted
	if err != nil {
		return "", err
	}
	return keep(dir, "overlay", ".json", text)
}

// keep writes a file under a name that contains the hash of its content, unless
// it already exists.
func keep(dir, name, ext string, text []byte) (string, error) {
	sum := sha256.Sum256(text)
	path := filepath.Join(dir, name+"-"+hex.EncodeToString(sum[:8])+ext)
	if old, err := os.ReadFile(path); err == nil && slices.Equal(old, text) {
		return path, nil
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return "", fmt.Errorf("write %s: %w", path, errors.Join(err, os.Remove(f.Name())))
	}
	return path, nil
}
