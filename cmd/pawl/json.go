package main

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/weak"
)

// writeJSON prints a value whose strings cannot act on a terminal, and mean the
// same to who reads them.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	text := b.Bytes()
	if !weak.On("plain") {
		text = sanitize.JSON(text)
	}
	_, err := w.Write(text)
	return err
}
