package inventory

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
)

// NodeReporter is a reporter for 'node --test' that writes one JSON object for each test. The built-in ones do not tell
// the files of tests.
var NodeReporter = "data:text/javascript;base64," + base64.StdEncoding.EncodeToString([]byte(`export default async function* (events) {
  for await (const { type, data } of events) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    const error = data.details?.error;
    yield JSON.stringify({
      name: data.name, file: data.file, suite: data.details?.type === "suite", skip: data.skip !== undefined || data.todo !== undefined,
      passed: type === "test:pass", error: error === undefined ? "" : String(error.cause ?? error),
    }) + "\n";
  }
}
`))

// nodeEvent is a line that NodeReporter writes.
type nodeEvent struct {
	Name, File, Error   string
	Suite, Skip, Passed bool
}

func readNode(text []byte, root string) (*Inventory, error) {
	v := empty()
	for line := range lines(text) {
		var e nodeEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, err
		}
		file := strings.TrimPrefix(e.File, root)
		switch {
		case e.Suite:
		case !e.Passed && filepath.Base(e.Name) == filepath.Base(e.File): // the file itself failed
			v.Broken = append(v.Broken, file)
		case filepath.IsAbs(e.Name) && strings.HasPrefix(e.Name, root): // a file without tests
		case e.Skip:
			v.add(file, e.Name, Skipped)
		case e.Passed:
			v.add(file, e.Name, Passed)
		default:
			v.Messages[v.add(file, e.Name, Failed)] = e.Error
		}
	}
	return v, nil
}
