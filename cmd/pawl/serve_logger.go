package main

import (
	"fmt"
	"io"
	"log/slog"
)

// logger writes what happens, without secrets.
func (f *serverFlags) logger(w io.Writer) (*slog.Logger, error) {
	options := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Value.Kind() == slog.KindString || a.Value.Kind() == slog.KindAny {
			return slog.String(a.Key, secrets.Redact(a.Value.String()))
		}
		return a
	}}
	switch f.log {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	case "none":
		return slog.New(slog.DiscardHandler), nil
	}
	return nil, fmt.Errorf("--log %q: use text, json or none", f.log)
}
