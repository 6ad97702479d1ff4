package auth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// TestSecret: there is no way to print a key by accident.
func TestSecret(t *testing.T) {
	t.Parallel()
	const key = Secret("sk-very-secret")
	type holder struct {
		Key    Secret
		List   []Secret
		Map    map[string]Secret
		Nested struct{ Any any }
	}
	h := holder{Key: key, List: []Secret{key}, Map: map[string]Secret{"a": key}}
	h.Nested.Any = key

	var texts []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T %[1]v", "%10.3s", "%-20v"} {
		texts = append(texts, fmt.Sprintf(verb, key), fmt.Sprintf(verb, h), fmt.Sprintf(verb, &h), fmt.Sprintf(verb, []any{key}))
	}
	texts = append(texts, key.String(), key.GoString(), fmt.Sprint(key), fmt.Errorf("bad: %w, %v", errors.New("x"), key).Error())
	for _, v := range []any{key, h, &h} {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(data))
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", key, "in", h)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "key", key, "in", h)
	texts = append(texts, log.String())
	for _, text := range texts {
		for _, bad := range []string{"secret", "sk-", fmt.Sprintf("%x", "secret"), fmt.Sprintf("%X", "secret")} {
			if strings.Contains(text, bad) {
				t.Errorf("it shows: %s", text)
			}
		}
		if !strings.Contains(text, "[redacted]") {
			t.Errorf("it does not say [redacted]: %s", text)
		}
	}
	if key.Reveal() != "sk-very-secret" {
		t.Error("Reveal does not")
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"sk-1":               "sk-1",
		" \tsk-1\r\n":        "sk-1",
		"a:b/c+d=_~!":        "a:b/c+d=_~!",
		"":                   "",
		" \n":                "",
		"two words":          "",
		"sk-1\nsk-2":         "",
		"sk-\x00":            "",
		"schlüssel":          "",
		"sk-1\u200b":         "",
		longText(maxKey):     longText(maxKey),
		longText(1 + maxKey): "",
	} {
		got, err := Parse(text)
		if got.Reveal() != want || (err == nil) != (want != "") {
			t.Errorf("%.20q: got %.20q, %v", text, got.Reveal(), err)
		}
		if err != nil && len(strings.TrimSpace(text)) > 0 && strings.Contains(err.Error(), strings.TrimSpace(text)) {
			t.Errorf("%v repeats the key", err)
		}
	}
}

func longText(n int) string { return strings.Repeat("k", n) }
