package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// maxText bounds a file, in bytes, and maxBrackets its nesting, because parsing is
// recursive.
const (
	maxText     = 1 << 20
	maxBrackets = 20_000
)

// document is a configuration file: JSON with comments and trailing commas.
type document struct {
	text []byte
	root hujson.Value
}

func parseDocument(text []byte) (document, error) {
	if len(text) > maxText {
		return document{}, fmt.Errorf("the file has more than %d bytes", maxText)
	}
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxBrackets {
		return document{}, fmt.Errorf("the file has more than %d brackets", maxBrackets)
	}
	root, err := hujson.Parse(bytes.Clone(text))
	if err != nil {
		return document{}, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	return document{text, root}, nil
}

// standard returns a file as standard JSON, with unchanged offsets.
func standard(text []byte) ([]byte, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, err
	}
	d.root.Standardize()
	return d.root.Pack(), nil
}

// position returns the line and column of an offset, counted from one.
func (d document) position(offset int) (line, column int) {
	before := d.text[:min(max(offset, 0), len(d.text))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}
