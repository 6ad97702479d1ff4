package pawl

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/strictjson"
)

// TestEventsAreDocumented checks that docs/events.md, by which people write their
// readers, names every kind and every key, and that its examples are events that Pawl
// can read.
func TestEventsAreDocumented(t *testing.T) {
	t.Parallel()
	sections := readSections(t, "docs/events.md")
	for k, kind := range kinds {
		text, ok := sections[string(k)]
		if !ok {
			t.Errorf("docs/events.md has no section %q: nobody could know what the event means", "## "+k)
			continue
		}
		checkExample(t, k, text)
		zero, err := kind.decode([]byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		checkKeys(t, string(k), reflect.TypeOf(zero), text)
	}
	for title := range sections {
		if _, ok := kinds[Kind(title)]; !ok && title == strings.ToLower(title) {
			t.Errorf("docs/events.md describes %q, which is no kind of event", title)
		}
	}
	for name, decode := range partTypes {
		zero, err := decode([]byte(`{"type":"` + name + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		checkKeys(t, "Parts: "+name, reflect.TypeOf(zero), rowOf(sections["Parts"], name))
	}
	checkKeys(t, "Usage", reflect.TypeFor[Usage](), sections["Usage"])
}

// readSections returns the page's second-level sections by their titles.
func readSections(t *testing.T, path string) map[string]string {
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for i, section := range strings.Split("\n"+string(page), "\n## ") {
		if title, text, _ := strings.Cut(section, "\n"); i > 0 {
			sections[title] = text
		}
	}
	return sections
}

var example = regexp.MustCompile("(?s)```json\n(.*?)\n```")

// checkExample fails unless the section's one example decodes to this kind and encodes to itself.
func checkExample(t *testing.T, k Kind, text string) {
	t.Helper()
	found := example.FindAllStringSubmatch(text, -1)
	if len(found) != 1 {
		t.Errorf("%s: docs/events.md has %d examples, want one", k, len(found))
		return
	}
	var e Event
	if err := json.Unmarshal([]byte(found[0][1]), &e); err != nil {
		t.Errorf("%s: the example in docs/events.md is none: %v", k, err)
		return
	}
	if got := KindOf(e.Body); got != k {
		t.Errorf("%s: the example in docs/events.md is of kind %s", k, got)
	}
	if k.Durable() != (e.Seq > 0) {
		t.Errorf("%s: the example in docs/events.md has seq %d: durable events have a number, unsaved ones have none", k, e.Seq)
	}
	if data, err := strictjson.Encode(e); err != nil || string(data) != found[0][1] {
		t.Errorf("%s: the example in docs/events.md is not as pawl writes it: %s, %v", k, data, err)
	}
}

// checkKeys fails for each key of the type that the text does not name.
func checkKeys(t *testing.T, what string, typ reflect.Type, text string) {
	t.Helper()
	for _, key := range strictjson.Keys(typ) {
		if !strings.Contains(text, "`"+key+"`") {
			t.Errorf("%s: docs/events.md does not explain the key %q", what, key)
		}
	}
}

// rowOf returns the line of a table that begins with this name.
func rowOf(text, name string) string {
	_, rest, _ := strings.Cut(text, "\n| `"+name+"` |")
	row, _, _ := strings.Cut(rest, "\n")
	return row
}
