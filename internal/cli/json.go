package cli

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// WriteJSON writes v as one line of JSON. Control characters in strings are escaped, so that they
// have no effect on a terminal.
func WriteJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(sanitize.JSON(b.Bytes()))
	return err
}
