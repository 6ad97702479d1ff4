package script_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/pawl-dev/pawl/internal/model/script"
)

// The guide's examples are scripts that open.
func TestGuide(t *testing.T) { //nolint:paralleltest // it changes the working directory
	guide, err := os.ReadFile("../../../docs/reference/scripted-model.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(guide, -1)
	if len(examples) == 0 {
		t.Fatal("the guide has no examples")
	}
	for i, example := range examples {
		in(t, map[string]string{"main.jsonl": string(example[1]), "find-parser.jsonl": `{"text":"In parse.go."}`})
		if _, err := script.Open("main.jsonl"); err != nil {
			t.Errorf("example %d: %v", i+1, err)
		}
	}
}
