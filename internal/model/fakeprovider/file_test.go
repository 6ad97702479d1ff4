package fakeprovider_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
)

// called begins a conversation with one call of the tool a, whose id is 1.
var called = map[fakeprovider.Protocol]string{
	fakeprovider.Messages:  `{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"a","input":{}}]},`,
	fakeprovider.Chat:      `{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"a","arguments":"{}"}}]},`,
	fakeprovider.Responses: `{"role":"user","content":"a"},{"type":"function_call","call_id":"1","name":"a","arguments":"{}"},`,
	fakeprovider.Gemini:    `{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"a"}}]},`,
}

// asFile is a request of one message after the call, and what is said of it.
type asFile struct {
	protocol fakeprovider.Protocol
	model    string // "" means fake
	message  string
	want     string // "" means that it is taken
}

func messagesResult(content, more string) string {
	return `{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":` + content + more + `}]}`
}

func chatResult(then string) string {
	return `{"role":"tool","tool_call_id":"1","content":"a"},{"role":"user","content":[` + then + `]}`
}

func responsesResult(output string) string {
	return `{"type":"function_call_output","call_id":"1","output":` + output + `}`
}

func geminiResult(parts string) string {
	return `{"role":"user","parts":[{"functionResponse":{"name":"a","response":{},"parts":[` + parts + `]}}]}`
}

func TestFiles(t *testing.T) {
	t.Parallel()
	heads := map[fakeprovider.Protocol]string{fakeprovider.Messages: `"max_tokens":9,"messages":[`, fakeprovider.Chat: `"messages":[`, fakeprovider.Responses: `"input":[`, fakeprovider.Gemini: `"contents":[`}
	srv := modeltest.StartFake(t, fakeprovider.Config{}, `{"text":"one"}`, `{"text":"two"}`, `{"text":"three"}`)
	for _, tt := range []asFile{
		{fakeprovider.Messages, "", messagesResult(`[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"cG5n"}}]`, ``), ""},
		{fakeprovider.Messages, "", messagesResult(`[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"cG5n"}}]`, ``), ""},
		{fakeprovider.Messages, "", messagesResult(`[{"type":"text","text":"a"}]`, `,"is_error":true`), ""},
		{fakeprovider.Messages, "", messagesResult(`[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"cG5n"}}]`, `,"is_error":true`), `all content must be type "text"`},
		{fakeprovider.Messages, "", messagesResult(`[{"type":"image"}]`, ``), "image.source: Field required"},
		{fakeprovider.Messages, "", messagesResult(`[{"type":"image","source":{"type":"base64","media_type":"application/pdf","data":"cG5n"}}]`, ``), "unsupported media type"},
		{fakeprovider.Messages, "", messagesResult(`[{"type":"document","source":{"type":"base64","media_type":"image/png","data":"cG5n"}}]`, ``), "unsupported media type"},
		{fakeprovider.Messages, "", messagesResult(`[{"type":"image","source":{"type":"base64","media_type":"image/png","data":""}}]`, ``), "no content"},
		{fakeprovider.Messages, "", messagesResult(`[{"type":"image","source":{"type":"bytes"}}]`, ``), `unknown or incomplete source "bytes"`},
		{fakeprovider.Messages, "", messagesResult(`[{"type":"text","text":" "}]`, ``), "text must not be empty"},
		{fakeprovider.Messages, "", messagesResult(`[{"type":"tool_use"}]`, ``), `no block of type "tool_use"`},
		{fakeprovider.Messages, "", messagesResult(`{}`, ``), "want a string or a list"},
		{fakeprovider.Messages, "", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"},{"type":"image","source":{"type":"url"}}]}`, "incomplete source"},

		{fakeprovider.Chat, "", chatResult(`{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}}`), ""},
		{fakeprovider.Chat, "", chatResult(`{"type":"file","file":{"filename":"a","file_data":"data:application/pdf;base64,cG5n"}}`), ""},
		{fakeprovider.Chat, "", chatResult(`{"type":"image_url","image_url":{"url":"https://example.org/a.png"}}`), ""},
		{fakeprovider.Chat, "", chatResult(`{"type":"image_url","image_url":{"url":"cG5n"}}`), "want a URL"},
		{fakeprovider.Chat, "", chatResult(`{"type":"image_url","image_url":"data:image/png;base64,cG5n"}`), "want an object"},
		{fakeprovider.Chat, "", chatResult(`{"type":"image_url","image_url":{"url":"data:image/bmp;base64,cG5n"}}`), "unsupported media type"},
		{fakeprovider.Chat, "", chatResult(`{"type":"file","file":{"file_data":"data:application/pdf;base64,cG5n"}}`), "filename: field required"},
		{fakeprovider.Chat, "", chatResult(`{"type":"file"}`), "needs its file_data"},
		{fakeprovider.Chat, "", chatResult(`{"type":"input_image","image_url":"data:image/png;base64,cG5n"}`), `unknown type "input_image"`},
		{fakeprovider.Chat, "", `{"role":"tool","tool_call_id":"1","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}}]}`, "parts of type text alone"},
		{fakeprovider.Chat, "mistral-small", chatResult(`{"type":"text","text":"a"}`), "unexpected role 'user' after role 'tool'"},
		{fakeprovider.Chat, "devstral", `{"role":"tool","tool_call_id":"1","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}`, ""},

		{fakeprovider.Responses, "", responsesResult(`[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:image/png;base64,cG5n"}]`), ""},
		{fakeprovider.Responses, "", responsesResult(`[{"type":"input_file","filename":"a","file_data":"data:application/pdf;base64,cG5n"}]`), ""},
		{fakeprovider.Responses, "", responsesResult(`[{"type":"input_image","file_id":"f"}]`), ""},
		{fakeprovider.Responses, "", responsesResult(`[{"type":"input_image","image_url":{"url":"data:image/png;base64,cG5n"}}]`), "want a string"},
		{fakeprovider.Responses, "", responsesResult(`[{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}}]`), `output: content.0: unknown type "image_url"`},
		{fakeprovider.Responses, "", responsesResult(`[{"type":"input_file","file_data":"data:application/pdf;base64,cG5n"}]`), "filename: field required"},
		{fakeprovider.Responses, "", responsesResult(`{"text":"a"}`), "want a string or a list"},

		{fakeprovider.Gemini, "", geminiResult(`{"inlineData":{"mimeType":"image/png","data":"cG5n"}}`), ""},
		{fakeprovider.Gemini, "gemini-3-pro-preview", geminiResult(`{"inlineData":{"mimeType":"application/pdf","data":"cG5n"}}`), ""},
		{fakeprovider.Gemini, "gemini-2.5-pro", geminiResult(`{"inlineData":{"mimeType":"image/png","data":"cG5n"}}`), "takes no files in a function response"},
		{fakeprovider.Gemini, "", geminiResult(`{"text":"a"}`), "want inlineData or fileData"},
		{fakeprovider.Gemini, "", geminiResult(`{"inlineData":{"mimeType":"image/gif","data":"cG5n"}}`), "unsupported media type"},
		{fakeprovider.Gemini, "", geminiResult(`{"inlineData":{"mimeType":"image/png"}}`), "no content"},
		{fakeprovider.Gemini, "gemini-2.5-pro", `{"role":"user","parts":[{"functionResponse":{"name":"a","response":{}}}]},{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"cG5n"}}]}`, ""},
	} {
		path := srv.URL + paths[tt.protocol]
		model := tt.model
		if model == "" {
			model = "fake"
		}
		path = strings.Replace(path, "/fake:", "/"+model+":", 1)
		r := send(t.Context(), path, `{"model":"`+model+`",`+heads[tt.protocol]+called[tt.protocol]+tt.message+`]}`)
		switch {
		case tt.want == "" && r.status != http.StatusOK:
			t.Errorf("%s: %s: got %d %s", tt.protocol, tt.message, r.status, r.body)
		case tt.want != "" && (r.status != http.StatusBadRequest || !strings.Contains(r.message(t), tt.want)):
			t.Errorf("%s: %s: got %d %s, want 400 %s", tt.protocol, tt.message, r.status, r.body, tt.want)
		}
	}
}

// Gemini counts the parts beside the results of several calls.
func TestFilesBesideResults(t *testing.T) {
	t.Parallel()
	body := `{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"a"}},{"functionCall":{"name":"a"}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"name":"a","response":{}}},{"functionResponse":{"name":"a","response":{}}},{"inlineData":{"mimeType":"image/png","data":"cG5n"}}]}]}`
	srv := modeltest.StartFake(t, fakeprovider.Config{}, `{"text":"one"}`, `{"text":"two"}`)
	if r := post(t.Context(), srv.URL, fakeprovider.Gemini, body); r.status != http.StatusBadRequest || !strings.Contains(r.message(t), "number of function response parts") {
		t.Errorf("got %d %s", r.status, r.body)
	}
}
