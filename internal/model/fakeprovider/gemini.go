package fakeprovider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/pawl-dev/pawl"
)

// gemini is Google's generateContent protocol.
type gemini struct{}

func (gemini) key(r *http.Request) string {
	return or(or(r.Header.Get("X-Goog-Api-Key"), r.URL.Query().Get("key")), bearer(r))
}

func (gemini) events(req request, a answer) []event {
	var events []event
	add := func(m mark, parts, more, usage string) {
		content := ""
		if parts != "" {
			content = fmt.Sprintf(`"content":{"parts":[%s],"role":"model"},`, parts)
		}
		events = append(events, event{m, "data: " + geminiBody(req, a, content+more+`"index":0`, usage) + "\r\n\r\n"})
	}
	early := fmt.Sprintf(`{"promptTokenCount":%d,"totalTokenCount":%d}`, a.prompt(), a.prompt())
	for _, p := range a.reasoning {
		add(markReasoning, geminiText(p, `,"thought":true`), "", early)
	}
	for _, p := range a.text {
		add(markText, geminiText(p, ""), "", early)
	}
	for i, c := range a.calls {
		if !json.Valid(c.Input) {
			break // the protocol cannot express a partial call
		}
		add(markCall, geminiCall(c, i == 0 && len(a.reasoning) > 0), "", early)
	}
	last := geminiText("", geminiSignature(a))
	if a.finish == finishRefusal {
		last = ""
	}
	add(markEnd, last, geminiFinish(a), geminiUsage(a))
	return events
}

func geminiText(text, more string) string { return `{"text":` + quote(text) + more + `}` }

// geminiCall returns a call; the first call after reasoning is signed.
func geminiCall(c call, signed bool) string {
	signature := ""
	if signed {
		signature = `,"thoughtSignature":` + quote(sealCall(c.Name, c.Input))
	}
	return fmt.Sprintf(`{"functionCall":{"name":%s,"args":%s,"id":%s}%s}`, quote(c.Name), c.arguments(), quote(string(c.ID)), signature)
}

// geminiSignature returns the signature of a reply with text only.
func geminiSignature(a answer) string {
	if len(a.reasoning) == 0 || len(a.calls) > 0 {
		return ""
	}
	return `,"thoughtSignature":` + quote(seal(strings.Join(a.text, "")))
}

// geminiFinish returns the finish reason. Malformed calls have their own.
func geminiFinish(a answer) string {
	for _, c := range a.calls {
		if !json.Valid(c.Input) && a.finish != pawl.FinishMaxTokens {
			return `"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":` + quote("Malformed function call: "+c.Name+string(c.Input)) + ","
		}
	}
	switch a.finish {
	case pawl.FinishMaxTokens:
		return `"finishReason":"MAX_TOKENS",`
	case finishRefusal:
		return `"finishReason":"SAFETY",`
	default:
		return `"finishReason":"STOP",`
	}
}

func geminiUsage(a answer) string {
	more := ""
	if a.usage.CacheRead > 0 {
		more += fmt.Sprintf(`,"cachedContentTokenCount":%d`, a.usage.CacheRead)
	}
	if a.usage.Reasoning > 0 {
		more += fmt.Sprintf(`,"thoughtsTokenCount":%d`, a.usage.Reasoning)
	}
	return fmt.Sprintf(`{"promptTokenCount":%d,"candidatesTokenCount":%d,"totalTokenCount":%d,"promptTokensDetails":[{"modality":"TEXT","tokenCount":%d}]%s}`,
		a.prompt(), a.usage.Output-a.usage.Reasoning, a.prompt()+a.usage.Output, a.prompt(), more)
}

func geminiBody(req request, a answer, candidate, usage string) string {
	return fmt.Sprintf(`{"candidates":[{%s}],"usageMetadata":%s,"modelVersion":%s,"responseId":"response-%d"}`,
		candidate, usage, quote(req.model), a.position+1)
}

func (gemini) whole(req request, a answer) string {
	var parts []string
	if len(a.reasoning) > 0 {
		parts = append(parts, geminiText(strings.Join(a.reasoning, ""), `,"thought":true`))
	}
	if len(a.text) > 0 {
		parts = append(parts, geminiText(strings.Join(a.text, ""), geminiSignature(a)))
	}
	for i, c := range a.calls {
		parts = append(parts, geminiCall(c, i == 0 && len(a.reasoning) > 0))
	}
	content := fmt.Sprintf(`"content":{"parts":[%s],"role":"model"},%s"index":0`, strings.Join(parts, ","), geminiFinish(a))
	return geminiBody(req, a, content, geminiUsage(a))
}

// geminiErrors are the statuses and messages of Google's errors.
var geminiErrors = map[int][2]string{
	400: {"INVALID_ARGUMENT", "Request contains an invalid argument."},
	401: {"UNAUTHENTICATED", "Request had invalid authentication credentials."},
	403: {"PERMISSION_DENIED", "The caller does not have permission"},
	404: {"NOT_FOUND", "The model is not found for API version v1beta, or is not supported for generateContent."},
	429: {"RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."},
	500: {"INTERNAL", "An internal error has occurred. Please retry."},
	503: {"UNAVAILABLE", "The model is overloaded. Please try again later."},
	504: {"DEADLINE_EXCEEDED", "Deadline expired before operation could complete."},
}

func (gemini) failure(f failure) string {
	e, ok := geminiErrors[f.status]
	if !ok {
		e = [2]string{"UNKNOWN", http.StatusText(f.status)}
	}
	if f.overflow {
		f.status = http.StatusBadRequest
		e = [2]string{"INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}
	}
	return fmt.Sprintf(`{"error":{"code":%d,"message":%s,"status":%s}}`, f.status, quote(or(f.message, e[1])), quote(e[0]))
}

func (d gemini) failureEvents(_ int, f failure) []event {
	if f.status == statusOverloaded {
		f.status = http.StatusServiceUnavailable
	}
	return []event{{markFrame, "data: " + d.failure(f) + "\r\n\r\n"}}
}
