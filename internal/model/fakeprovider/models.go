package fakeprovider

import (
	"fmt"
	"net/http"
	"strings"
)

// names are the listed models. All other names are accepted too.
func (s *server) names() []string { return append([]string{"fake"}, s.script.Agents()...) }

// models lists the models in Anthropic's or OpenAI's format, depending on a header that only Anthropic's
// clients send.
func (s *server) models(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Anthropic-Version") != "" {
		s.list(w, r, messages{}, `{"data":[%s],"has_more":false,"first_id":null,"last_id":null}`,
			`{"type":"model","id":%[1]s,"display_name":%[1]s,"created_at":"2023-11-14T22:13:20Z"}`)
		return
	}
	s.list(w, r, chat{}, `{"object":"list","data":[%s]}`, `{"id":%s,"object":"model","created":1700000000,"owned_by":"pawl"}`)
}

func (s *server) geminiModels(w http.ResponseWriter, r *http.Request) {
	s.list(w, r, gemini{}, `{"models":[%s]}`,
		`{"name":%s,"inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent"]}`)
}

func (s *server) list(w http.ResponseWriter, r *http.Request, d dialect, list, item string) {
	w.Header().Set("Content-Type", "application/json")
	if key := d.key(r); s.Key != "" && key != s.Key {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, d.failure(failure{status: http.StatusUnauthorized, message: keyError(key).Error()}))
		return
	}
	var items []string
	for _, name := range s.names() {
		if _, ok := d.(gemini); ok {
			name = "models/" + name
		}
		items = append(items, fmt.Sprintf(item, quote(name)))
	}
	fmt.Fprintf(w, list, strings.Join(items, ","))
}
