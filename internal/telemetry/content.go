package telemetry

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/pawl-dev/pawl"
)

// maxContent bounds a text that is sent, in bytes.
const maxContent = 16 << 10

// masked returns the event without secrets if content is sent, and the event itself
// otherwise. After an error it also returns the event itself, whose content must
// not be sent.
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

// reports reports whether the content of the current event may be sent.
func (w *watcher) reports() bool { return w.cfg.Content && !w.silent }

// content sets an attribute to a text of the event, if content may be sent.
func (w *watcher) content(s *Span, key, text string) {
	if w.reports() {
		s.setText(key, short(text))
	}
}

// short cuts a text to maxContent bytes.
func short(text string) string {
	if len(text) <= maxContent {
		return text
	}
	return strings.ToValidUTF8(text[:maxContent], "") + "… (truncated)"
}

// messages returns a message in the JSON form of the OpenTelemetry conventions, or
// "" if text is empty.
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
		return "" // marshaling strings cannot fail
	}
	return string(data)
}

// providers maps provider names of pawl to those of the OpenTelemetry conventions,
// where they differ.
var providers = map[string]string{
	"gemini": "gcp.gemini", "vertex": "gcp.vertex_ai", "bedrock": "aws.bedrock", "azure": "azure.ai.openai", "mistral": "mistral_ai", "xai": "x_ai",
}

// splitModel returns the provider and the name of a model. The name of a scripted
// model is the base name of its file.
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

// word returns text in the form of label values, with underscores for spaces.
func word(text string) string { return strings.ReplaceAll(text, " ", "_") }
