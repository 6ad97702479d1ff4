package anthropic

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// What the model would refuse of how freely it is to choose its words is left out.
func TestSampling(t *testing.T) {
	t.Parallel()
	zero, warm, hot, most := 0.0, 0.5, 1.5, 0.9
	for name, test := range map[string]struct {
		client Client
		req    model.Request
		want   string
	}{
		"no wish":            {Client{}, model.Request{}, `{}`},
		"a temperature":      {Client{}, model.Request{Temperature: &warm}, `{"temperature":0.5}`},
		"none at all":        {Client{}, model.Request{Temperature: &zero}, `{"temperature":0}`},
		"too hot":            {Client{}, model.Request{Temperature: &hot}, `{}`},
		"top_p":              {Client{}, model.Request{TopP: &most}, `{"top_p":0.9}`},
		"one of both":        {Client{}, model.Request{Temperature: &warm, TopP: &most}, `{"temperature":0.5}`},
		"it thinks":          {Client{}, model.Request{Temperature: &warm, TopP: &most, Effort: "high"}, `{}`},
		"it decides itself":  {Client{Adaptive: true}, model.Request{Temperature: &warm, TopP: &most}, `{}`},
		"in another's cloud": {Client{Cloud: &Cloud{Version: "v"}}, model.Request{Temperature: &warm}, `{"temperature":0.5}`},
	} {
		t.Run(name, func(t *testing.T) {
			test.req.Messages = []pawl.Message{{Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: "Hi."}}}}
			var got struct {
				Temperature *float64 `json:"temperature,omitempty"`
				TopP        *float64 `json:"top_p,omitempty"`
			}
			if err := json.Unmarshal(bodyOf(t, &test.client, test.req), &got); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(got)
			if diff := cmp.Diff(test.want, string(text)); diff != "" || err != nil {
				t.Errorf("the body says (-want +got): %v\n%s", err, diff)
			}
		})
	}
}
