package serve

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/pawl-dev/pawl/internal/app"
)

// NewLogger returns a logger that masks secrets. The format is text, json or none.
func NewLogger(w io.Writer, format string) (*slog.Logger, error) {
	options := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Value.Kind() == slog.KindString || a.Value.Kind() == slog.KindAny {
			return slog.String(a.Key, app.Secrets.Redact(a.Value.String()))
		}
		return a
	}}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	case "none":
		return slog.New(slog.DiscardHandler), nil
	}
	return nil, fmt.Errorf("invalid --log %q: use text, json or none", format)
}
