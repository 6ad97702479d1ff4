package telemetry

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/pawl-dev/pawl"
)

// maxContent bounds the bytes of a text that is sent.
const maxContent = 16 << 10

// masked is an event without secrets, if its content may be sent. With an error it
// is the event itself, whose content may not.
func (w *watcher) masked(e pawl.Event) (pawl.Event, error) {
	if !w.cfg.Content {
		return e, nil
	}
	masked, err := w.cfg.Redact(e)
	if err != nil {
		return e, err
	}
	return masked, nil
}

// tells reports whether what an event says may be sent.
func (w *watcher) reports() bool { return w.cfg.Content && !w.silent }

// content sets a text of an event, if it may be sent.
func (w *watcher) content(s *Span, key, text string) {
	if w.reports() {
		s.setText(key, short(text))
	}
}

// short is a text that is not too long to be sent.
func short(text string) string {
	if len(text) <= maxContent {
		return text
	}
	return strings.ToValidUTF8(text[:maxContent], "") + "… (cut)"
}

// messages is a message as the conventions have it, in JSON; "" if it says nothing.
func messages(role, text, finish string) string {
	if text == "" {
		return ""
	}
	type part struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	data, err := json.Marshal([]struct {
		Role   string `json:"role"`
		Parts  []part `json:"parts"`
		Finish string `json:"finish_reason,omitempty"`
	}{{role, []part{{"text", short(text)}}, finish}})
	if err != nil {
		return "" // strings have no way to fail
	}
	return string(data)
}

// providers are those whose names are others in the conventions.
var providers = map[string]string{
	"gemini": "gcp.gemini", "vertex": "gcp.vertex_ai", "bedrock": "aws.bedrock", "azure": "azure.ai.openai", "mistral": "mistral_ai", "xai": "x_ai",
}

// splitModel returns who runs a model, and its name there. Of a scripted one the
// name is the file's, without the way to it.
func splitModel(ref string) (provider, model string) {
	if file, ok := strings.CutPrefix(ref, "script:"); ok {
		return "script", path.Base(file)
	}
	provider, model, ok := strings.Cut(ref, "/")
	if !ok {
		return "unknown", ref
	}
	if name, ok := providers[provider]; ok {
		provider = name
	}
	return provider, model
}

// word is a text in the form that values have here.
func word(text string) string { return strings.ReplaceAll(text, " ", "_") }
