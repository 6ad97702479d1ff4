package transcripttest

import (
	"bytes"
	"embed"
	"encoding/json"
	"io/fs"
	"testing"

	"github.com/pawl-dev/pawl"
)

//go:embed testdata/sessions/*.jsonl
var sessions embed.FS

// Recorded returns the logs of sessions that were recorded, by their names: subagents, missions, undos,
// forks, crashes and cancellations. The tests of internal/service record them with -record DIR.
func Recorded(t testing.TB) map[string][]pawl.Event {
	t.Helper()
	logs := map[string][]pawl.Event{}
	err := fs.WalkDir(sessions, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := sessions.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(text) {
			var e pawl.Event
			if err := json.Unmarshal(line, &e); err != nil {
				return err
			}
			logs[entry.Name()] = append(logs[entry.Name()], e)
		}
		return nil
	})
	if err != nil || len(logs) < 60 {
		t.Fatalf("%d recorded sessions, %v; want at least 60", len(logs), err)
	}
	return logs
}
