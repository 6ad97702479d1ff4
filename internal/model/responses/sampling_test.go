package responses

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// What a model would refuse of how freely it is to choose its words is left out.
func TestSampling(t *testing.T) {
	t.Parallel()
	warm, most := 1.5, 0.9
	wish := model.Request{Temperature: &warm, TopP: &most}
	for name, test := range map[string]struct {
		client Client
		req    model.Request
		want   string
	}{
		"no wish":                {Client{NoReasoning: true}, model.Request{}, `{}`},
		"both":                   {Client{NoReasoning: true}, wish, `{"temperature":1.5,"top_p":0.9}`},
		"of a model that thinks": {Client{}, wish, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			test.req.Messages = []pawl.Message{user(pawl.Text{Text: "Hi."})}
			var got struct {
				Temperature *float64 `json:"temperature,omitempty"`
				TopP        *float64 `json:"top_p,omitempty"`
			}
			if err := json.Unmarshal(body(t, test.client, test.req), &got); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(got)
			if diff := cmp.Diff(test.want, string(text)); diff != "" || err != nil {
				t.Errorf("the body says (-want +got): %v\n%s", err, diff)
			}
		})
	}
}
