package gemini

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// How freely the model is to choose its words it is set whether it thinks or not.
func TestSampling(t *testing.T) {
	t.Parallel()
	warm, most := 1.5, 0.9
	for name, test := range map[string]struct {
		client Client
		req    model.Request
		want   string // the whole generationConfig
	}{
		"no wish":      {Client{}, model.Request{}, ``},
		"temperature":  {Client{}, model.Request{Temperature: &warm}, `{"temperature":1.5}`},
		"top_p":        {Client{}, model.Request{TopP: &most}, `{"topP":0.9}`},
		"as it thinks": {Client{Levels: true}, model.Request{Temperature: &warm, TopP: &most, Effort: "low"}, `{"temperature":1.5,"topP":0.9,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			test.req.Messages = []pawl.Message{{Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: "Hi."}}}}
			var got struct {
				Config json.RawMessage `json:"generationConfig"`
			}
			if err := json.Unmarshal(bodyOf(t, &test.client, test.req), &got); err != nil {
				t.Fatal(err)
			}
			var tight []byte
			if got.Config != nil {
				var v config
				if err := json.Unmarshal(got.Config, &v); err != nil {
					t.Fatal(err)
				}
				tight, _ = json.Marshal(v)
			}
			if diff := cmp.Diff(test.want, string(tight)); diff != "" {
				t.Errorf("the body says (-want +got):\n%s", diff)
			}
		})
	}
}
