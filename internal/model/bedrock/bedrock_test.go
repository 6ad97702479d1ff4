package bedrock

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
)

const claude = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"

// bearer is an account at a server of the test.
func bearer(url string) Account { return Account{Region: "us-east-1", Bearer: "key", BaseURL: url} }

func TestRecordedStreams(t *testing.T) {
	t.Parallel()
	streams, calls := 0, 0
	for _, x := range modeltest.Cassettes(t, "/invoke-with-response-stream") {
		streams++
		got, err := modeltest.Read(t.Context(), bearer(modeltest.Serve(t, x)).Claude(claude), model.Request{})
		if err != nil {
			t.Errorf("%s %d: %v", x.File, x.Index, err)
			continue
		}
		want := readNaively(t, x.ResponseBody)
		var input string
		for _, call := range got.Parts.Calls() {
			calls++
			input += string(call.Input)
		}
		if got.Parts.Text() != want.text || input != want.input || string(got.Finish) != want.reason || got.Usage.Output != want.output {
			t.Errorf("%s %d: got %+v, want %+v", x.File, x.Index, got, want)
		}
		cut := bearer("http://recorded")
		cut.Base = modeltest.Cut{Exchange: x} // byte by byte
		inPieces, err := modeltest.Read(t.Context(), cut.Claude(claude), model.Request{})
		if diff := cmp.Diff(got, inPieces); err != nil || diff != "" {
			t.Errorf("%s %d: byte by byte: %v (-whole +bytes):\n%s", x.File, x.Index, err, diff)
		}
	}
	t.Logf("%d streams: %d calls", streams, calls)
}

// naive is a second, simpler reading of a stream: it looks for the chunks'
// payloads and knows nothing of frames.
type naive struct {
	text, input, reason string
	output              int64
}

func readNaively(t *testing.T, stream []byte) naive {
	t.Helper()
	var n naive
	for _, piece := range bytes.Split(stream, []byte(`{"bytes":"`))[1:] {
		encoded, _, _ := bytes.Cut(piece, []byte(`"`))
		raw, err := base64.StdEncoding.DecodeString(string(encoded))
		if err != nil {
			t.Fatal(err)
		}
		var e struct {
			Delta struct {
				Text   string
				Input  string `json:"partial_json"`
				Reason string `json:"stop_reason"`
			}
			Usage struct {
				Output int64 `json:"output_tokens"`
			}
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		n.text += e.Delta.Text
		n.input += e.Delta.Input
		n.reason += e.Delta.Reason
		n.output = max(n.output, e.Usage.Output)
	}
	return n
}

// frame writes one, with its headers in pairs.
func frame(t *testing.T, payload string, headers ...string) []byte {
	t.Helper()
	m := eventstream.Message{Payload: []byte(payload)}
	for i := 0; i < len(headers); i += 2 {
		m.Headers.Set(headers[i], eventstream.StringValue(headers[i+1]))
	}
	var out bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&out, m); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func chunk(t *testing.T, event string) []byte {
	t.Helper()
	payload := fmt.Sprintf(`{"bytes":%q}`, base64.StdEncoding.EncodeToString([]byte(event)))
	return frame(t, payload, ":message-type", "event", ":event-type", "chunk")
}

func TestStreamFailure(t *testing.T) {
	t.Parallel()
	exception := func(kind string) []byte {
		return frame(t, `{"message":"because"}`, ":message-type", "exception", ":exception-type", kind)
	}
	broken := chunk(t, `{"type":"message_stop"}`)
	broken[len(broken)-6] ^= 1
	whole := chunk(t, `{"type":"message_stop"}`)
	tests := []struct {
		name string
		then []byte
		kind pawl.ErrorKind
		says string
	}{
		{"throttled", exception("throttlingException"), pawl.ErrorRateLimited, "because"},
		{"unavailable", exception("serviceUnavailableException"), pawl.ErrorOverloaded, "because"},
		{"internal", exception("internalServerException"), pawl.ErrorServer, "because"},
		{"model error", exception("modelStreamErrorException"), pawl.ErrorServer, "because"},
		{"invalid", exception("validationException"), pawl.ErrorInvalid, "because"},
		{"an exception that is not JSON", frame(t, "oh", ":message-type", "exception"), pawl.ErrorServer, "oh"},
		{"an error", frame(t, "", ":message-type", "error", ":error-code", "500", ":error-message", "oh"), pawl.ErrorServer, "500: oh"},
		{"a checksum that is wrong", broken, pawl.ErrorConnection, "checksum"},
		{"half a frame", whole[:len(whole)/2], pawl.ErrorConnection, "EOF"},
		{"no end", frame(t, "{}", ":message-type", "event", ":event-type", "new"), pawl.ErrorConnection, "cut off"},
	}
	for _, test := range tests {
		body := append(chunk(t, `{"type":"ping"}`), test.then...)
		url := modeltest.Serve(t, modeltest.Exchange{Status: http.StatusOK, ContentType: contentType, ResponseBody: body})
		_, err := modeltest.Read(t.Context(), bearer(url).Claude(claude), model.Request{})
		var failed *model.ProviderError
		if !errors.As(err, &failed) || failed.Kind != test.kind || !strings.Contains(failed.Message, test.says) {
			t.Errorf("%s: got %v, want %s with %q", test.name, err, test.kind, test.says)
		}
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	tests := []struct {
		status int
		body   string
		kind   pawl.ErrorKind
	}{
		{400, `{"message":"Malformed input request"}`, pawl.ErrorInvalid},
		{400, `{"message":"Input is too long for requested model."}`, pawl.ErrorOverflow},
		{403, `{"message":"The security token included in the request is invalid."}`, pawl.ErrorAuth},
		{404, `{"message":"Could not resolve the foundation model"}`, pawl.ErrorInvalid},
		{424, `{"message":"The model failed"}`, pawl.ErrorServer},
		{429, `{"message":"Too many requests"}`, pawl.ErrorRateLimited},
		{503, `{"message":"Unavailable"}`, pawl.ErrorOverloaded},
	}
	for _, test := range tests {
		url := modeltest.Serve(t, modeltest.Exchange{Status: test.status, ContentType: "application/json", ResponseBody: []byte(test.body)})
		_, err := modeltest.Read(t.Context(), bearer(url).Claude(claude), model.Request{})
		var failed *model.ProviderError
		if !errors.As(err, &failed) || failed.Kind != test.kind || failed.Status != test.status {
			t.Errorf("%d %s: got %v, want %s", test.status, test.body, err, test.kind)
		}
	}
}

// asked is what a request was.
type asked struct{ URL, Authorization, Token, Accept, Body string }

// ask sends a request and returns what the server saw of it.
func ask(t *testing.T, account Account, claude string) (asked, error) {
	t.Helper()
	var saw asked
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		saw = asked{r.RequestURI, r.Header.Get("Authorization"), r.Header.Get("X-Amz-Security-Token"), r.Header.Get("Accept"), string(body)}
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(chunk(t, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`))
		_, _ = w.Write(chunk(t, `{"type":"message_stop"}`))
	}))
	defer server.Close()
	account.BaseURL = server.URL
	_, err := modeltest.Read(t.Context(), account.Claude(claude), model.Request{Messages: []pawl.Message{modeltest.Prompt("Hello.")}})
	return saw, err
}

func TestRequest(t *testing.T) {
	t.Parallel()
	saw, err := ask(t, bearer(""), claude)
	if err != nil {
		t.Fatal(err)
	}
	want := asked{
		URL:           "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream",
		Authorization: "Bearer key",
		Accept:        contentType,
		Body:          `{"anthropic_version":"bedrock-2023-05-31","max_tokens":8192,"messages":[{"role":"user","content":[{"type":"text","text":"Hello.","cache_control":{"type":"ephemeral"}}]}]}`,
	}
	if diff := cmp.Diff(want, saw); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	saw, err = ask(t, bearer(""), "arn:aws:bedrock:us-east-1:1:inference-profile/x")
	if want := "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fx/invoke-with-response-stream"; err != nil || saw.URL != want {
		t.Errorf("got %s, %v, want %s", saw.URL, err, want)
	}
}

func TestSignedRequest(t *testing.T) {
	t.Parallel()
	account, err := Environment(func(key string) string {
		return map[string]string{"AWS_DEFAULT_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "session"}[key]
	})
	if err != nil {
		t.Fatal(err)
	}
	saw, err := ask(t, account, claude)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(saw.Authorization, "AWS4-HMAC-SHA256 Credential=AKID/") ||
		!strings.Contains(saw.Authorization, "/eu-west-1/bedrock/aws4_request, SignedHeaders=") || saw.Token != "session" {
		t.Errorf("got %+v", saw)
	}
}

func TestNoCredentials(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]map[string]string{
		"no region": {"AWS_BEARER_TOKEN_BEDROCK": "key"},
		"no key":    {"AWS_REGION": "eu-west-1"},
		"half":      {"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "AKID"},
	} {
		if _, err := Environment(func(key string) string { return env[key] }); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	expired := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, errors.New("expired") })
	for _, account := range []Account{{Region: "eu-west-1"}, {Region: "eu-west-1", Credentials: expired}} {
		_, err := ask(t, account, claude)
		var failed *model.ProviderError
		if !errors.As(err, &failed) || failed.Kind != pawl.ErrorAuth {
			t.Errorf("got %v, want %s", err, pawl.ErrorAuth)
		}
	}
}
