package servicetest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// recordDir is where the logs of the sessions are written that tests make, for internal/transcript/transcripttest.
var recordDir = flag.String("record", "", "write the logs of all sessions to this `directory`")

// tempPath matches the directories of tests, which differ from run to run.
var tempPath = regexp.MustCompile(`/tmp/(Test|pawl-)[^/"\\ ]*(/[0-9]+)?`)

// record writes the logs of all sessions of a store to files, one event per line.
func record(t testing.TB, st store.Store) {
	t.Helper()
	if *recordDir == "" {
		return
	}
	ctx := context.WithoutCancel(t.Context())
	todo := []pawl.SessionID{""}
	for n := 0; len(todo) > 0; todo = todo[1:] {
		rows, err := st.Sessions(ctx, pawl.Filter{Parent: todo[0], Limit: 1000})
		if err != nil {
			return // a test of a store that fails
		}
		for _, row := range rows.Sessions {
			n++
			todo = append(todo, row.ID)
			name := fmt.Sprintf("%s-%d.jsonl", strings.ReplaceAll(t.Name(), "/", "-"), n)
			if err := recordSession(ctx, st, row.ID, filepath.Join(*recordDir, name)); err != nil {
				t.Log(err)
			}
		}
	}
}

func recordSession(ctx context.Context, st store.Store, id pawl.SessionID, path string) error {
	var text bytes.Buffer
	for e, err := range st.Events(ctx, id, 0) {
		if err != nil {
			return err
		}
		line, err := e.MarshalJSON()
		if err != nil {
			return err
		}
		text.Write(append(line, '\n'))
	}
	return os.WriteFile(path, tempPath.ReplaceAll(text.Bytes(), []byte("/work")), 0o600)
}
