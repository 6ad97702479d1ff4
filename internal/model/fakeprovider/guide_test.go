package fakeprovider_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
)

// The guide's examples are scripts that open, and it describes every fault.
func TestGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../docs/reference/fake-provider.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(guide, -1)
	if len(examples) == 0 {
		t.Fatal("the guide has no examples")
	}
	for i, example := range examples {
		path := filepath.Join(t.TempDir(), "main.jsonl")
		if err := os.WriteFile(path, example[1], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := fakeprovider.Open(path); err != nil {
			t.Errorf("example %d: %v", i+1, err)
		}
	}
	_, err = fakeprovider.ParseFault("?")
	_, list, _ := strings.Cut(err.Error(), "one of ")
	for name := range strings.SplitSeq(list, ", ") {
		if !regexp.MustCompile("\n\\| `" + name + "(:N)?` \\|").Match(guide) {
			t.Errorf("the guide does not describe the fault %s", name)
		}
	}
}
